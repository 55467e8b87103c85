internal import Synchronization

/// The text of one statement, or of a part of a statement, composed only of constants.
///
/// Interpolations may be literals, the numbers of an enumeration's cases, and other texts of this type. Text from run
/// time cannot be interpolated, so a value can enter a statement only as a parameter.
///
/// Safe to use, because the bytes are constant and never freed: they belong to literals of the program or to
/// ``Composed``.
@safe public struct SQL: Hashable, Sendable {
    /// The address of the text, the key under which statements are cached.
    ///
    /// Equal composed texts have the same address, and the address of a literal never changes.
    let address: UInt
    private let byteCount: Int

    private init(address: UInt, byteCount: Int) { (self.address, self.byteCount) = (address, byteCount) }

    var bytes: UnsafeBufferPointer<UInt8> {
        // The address has `byteCount` bytes until the process ends.
        unsafe UnsafeBufferPointer(start: UnsafePointer(bitPattern: address), count: byteCount)
    }
}

extension SQL: ExpressibleByStringInterpolation {
    public init(stringLiteral text: StaticString) {
        precondition(text.hasPointerRepresentation, "SQL is longer than one character")
        // Only the address is read here; the bytes of a literal are valid until the process ends.
        self.init(address: UInt(bitPattern: unsafe text.utf8Start), byteCount: text.utf8CodeUnitCount)
    }

    public init(stringInterpolation: StringInterpolation) {
        self = Composed.text(of: stringInterpolation.bytes)
    }

    /// Composes texts from literals.
    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var bytes: [UInt8] = []

        public init(literalCapacity: Int, interpolationCount: Int) {
            bytes.reserveCapacity(literalCapacity + 256 * interpolationCount)
        }

        public mutating func appendLiteral(_ literal: StaticString) {
            // The bytes of a literal are valid during the call.
            literal.withUTF8Buffer { literal in unsafe bytes.append(contentsOf: literal) }
        }

        public mutating func appendInterpolation(_ literal: StaticString) { appendLiteral(literal) }

        /// Appends the number that the database stores for a case.
        public mutating func appendInterpolation(_ code: some RawRepresentable<Int64> & CaseIterable) {
            bytes.append(contentsOf: String(code.rawValue).utf8)
        }

        public mutating func appendInterpolation(_ text: SQL) {
            // The bytes are valid until the process ends.
            unsafe bytes.append(contentsOf: text.bytes)
        }
    }

    /// The composed texts of the process.
    ///
    /// Each is stored once and never freed, like a literal, so that an equal text that is composed later has the same
    /// address.
    private enum Composed {
        private static let texts = Mutex<[[UInt8]: SQL]>([:])

        static func text(of bytes: [UInt8]) -> SQL {
            texts.withLock { texts in
                if let known = texts[bytes] { return known }
                let start = UnsafeMutablePointer<UInt8>.allocate(capacity: bytes.count)
                // The memory has room for all bytes, and is initialised before it is read.
                unsafe start.initialize(from: bytes, count: bytes.count)
                let text = SQL(address: UInt(bitPattern: start), byteCount: bytes.count)
                texts[bytes] = text
                return text
            }
        }
    }
}

extension SQL: CustomStringConvertible {
    public var description: String {
        // The bytes are valid until the process ends.
        unsafe String(decoding: bytes, as: UTF8.self)
    }
}
