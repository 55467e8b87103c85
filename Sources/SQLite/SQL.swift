internal import Synchronization

/// The text of one statement, made of constants alone.
///
/// Literals can be put into it, and other texts of this type; nothing that is only known at run time can, so that a value
/// has no way into a statement but a parameter.
///
/// Safe to use, because the bytes are constant and never freed: they belong to the program's literals or to ``Composed``.
@safe public struct SQL: Hashable, Sendable {
    /// Equal for equal texts that were composed, and for one literal; what statements are remembered by.
    let address: UInt
    private let byteCount: Int

    private init(address: UInt, byteCount: Int) {
        self.address = address
        self.byteCount = byteCount
    }

    var bytes: UnsafeBufferPointer<UInt8> {
        // `byteCount` bytes lie at the address for as long as the process runs.
        unsafe UnsafeBufferPointer(start: UnsafePointer(bitPattern: address), count: byteCount)
    }
}

extension SQL: ExpressibleByStringInterpolation {
    public init(stringLiteral text: StaticString) {
        precondition(text.hasPointerRepresentation, "SQL is longer than one character")
        // Only the number is used; a literal's bytes are valid for ever.
        self.init(address: UInt(bitPattern: unsafe text.utf8Start), byteCount: text.utf8CodeUnitCount)
    }

    public init(stringInterpolation: StringInterpolation) {
        self = Composed.text(of: stringInterpolation.bytes)
    }

    /// Texts that were put together from literals.
    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var bytes: [UInt8] = []

        public init(literalCapacity: Int, interpolationCount: Int) {
            bytes.reserveCapacity(literalCapacity + 256 * interpolationCount)
        }

        public mutating func appendLiteral(_ literal: StaticString) {
            // The bytes of a literal are valid for the length of the call.
            literal.withUTF8Buffer { literal in unsafe bytes.append(contentsOf: literal) }
        }

        public mutating func appendInterpolation(_ literal: StaticString) {
            appendLiteral(literal)
        }

        public mutating func appendInterpolation(_ text: SQL) {
            // The bytes are valid for ever.
            unsafe bytes.append(contentsOf: text.bytes)
        }
    }

    /// The composed texts of the process.
    ///
    /// Each is stored once and for good, as if it were a literal: a statement that is composed anew has its former address.
    private enum Composed {
        private static let texts = Mutex<[[UInt8]: SQL]>([:])

        static func text(of bytes: [UInt8]) -> SQL {
            texts.withLock { texts in
                if let known = texts[bytes] { return known }
                let start = UnsafeMutablePointer<UInt8>.allocate(capacity: bytes.count)
                // There is room for all of them, and they are initialised before anything reads them.
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
        // The bytes are valid for ever.
        unsafe String(decoding: bytes, as: UTF8.self)
    }
}
