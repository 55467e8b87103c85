/// The kind of thing that an ``Identifier`` names, with the prefix of its text form.
public protocol IdentifiedSubject: Sendable {
    /// Lower-case letters without the underscore, as in `clk`.
    static var prefix: String { get }
}

public enum ClickSubject: IdentifiedSubject { public static let prefix = "clk" }
public enum AppSubject: IdentifiedSubject { public static let prefix = "app" }
public enum KeySubject: IdentifiedSubject { public static let prefix = "key" }
public enum CheckSubject: IdentifiedSubject { public static let prefix = "chk" }
public enum JourneySubject: IdentifiedSubject { public static let prefix = "j" }

public typealias ClickID = Identifier<ClickSubject>
public typealias AppID = Identifier<AppSubject>
public typealias KeyID = Identifier<KeySubject>
public typealias CheckID = Identifier<CheckSubject>

/// A time-ordered 128-bit identifier: 48 bits of milliseconds since 1970, then 80 bits that make it unique.
///
/// The text form is the subject's prefix, `_`, and 26 digits of lower-case Crockford base32, as in
/// `clk_01jz8w6t7n3k5m9q2r4v6x8y0z`. Texts of one subject sort as their identifiers do.
public struct Identifier<Subject: IdentifiedSubject>: Hashable, Comparable, Sendable {
    /// The first 64 bits: time, then the 16 bits that order identifiers of one millisecond.
    public let high: UInt64
    /// The last 64 bits, random.
    public let low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The time that the identifier contains.
    public var time: Timestamp { Timestamp(milliseconds: Int64(high >> 16)) }

    public static func < (left: Identifier, right: Identifier) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }
}

extension Identifier {
    /// The number of digits of the text form, after the prefix and `_`.
    static var digitCount: Int { 26 }

    /// Creates a new identifier of this time.
    ///
    /// Identifiers of one millisecond differ in 80 random bits. A time before 1970, or after the largest
    /// number of 48 bits (the year 10889), is clamped.
    public init(at time: Timestamp, random: RandomSource) {
        let bytes = random.exactly(10)
        let sequence = UInt16(bytes[0]) << 8 | UInt16(bytes[1])
        self.init(at: time, sequence: sequence, unique: bytes[2...])
    }

    /// Creates a new identifier of this time; `sequence` orders the identifiers of one millisecond.
    public init(at time: Timestamp, sequence: UInt16, random: RandomSource) {
        self.init(at: time, sequence: sequence, unique: random.exactly(8)[...])
    }

    private init(at time: Timestamp, sequence: UInt16, unique: ArraySlice<UInt8>) {
        let milliseconds = UInt64(min(max(time.milliseconds, 0), 1 << 48 - 1))
        self.init(high: milliseconds << 16 | UInt64(sequence), low: unique.reduce(0) { $0 << 8 | UInt64($1) })
    }

    /// The subject's prefix, `_`, and 26 digits of lower-case Crockford base32.
    public var text: String {
        var bytes = Array(Subject.prefix.utf8) + [UInt8(ascii: "_")]
        let (start, digits) = (bytes.count, CrockfordBase32.digits)
        bytes += repeatElement(0, count: Self.digitCount)
        var (high, low) = (high, low)
        // 26 digits have 130 bits; the first one contains only 3.
        for index in (start..<bytes.count).reversed() {
            bytes[index] = digits[Int(low & 31)]
            low = low >> 5 | high << 59
            high >>= 5
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Reads exactly the texts that ``text`` returns; nil for any other text, including capitals.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        let prefix = Array(Subject.prefix.utf8) + [UInt8(ascii: "_")]
        guard bytes.count == prefix.count + Self.digitCount, bytes.starts(with: prefix) else { return nil }
        var high: UInt64 = 0
        var low: UInt64 = 0
        for (position, byte) in bytes[prefix.count...].enumerated() {
            guard let value = CrockfordBase32.value(of: byte), position > 0 || value < 8 else { return nil }
            high = high << 5 | low >> 59
            low = low << 5 | value
        }
        self.init(high: high, low: low)
    }
}

/// Crockford's base32 (crockford.com/base32.html) in lower case, without its leniency: `I`, `L`, `O`, `U` and
/// capitals are no digits, so that an identifier has one spelling.
enum CrockfordBase32 {
    static let digits = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)

    static func value(of digit: UInt8) -> UInt64? { digits.firstIndex(of: digit).map(UInt64.init) }
}

/// The source of unpredictable bytes; functions take it as a parameter, so that tests can choose the bytes.
public struct RandomSource: Sendable {
    /// Returns the given number of bytes.
    public let bytes: @Sendable (_ count: Int) -> [UInt8]

    public init(bytes: @escaping @Sendable (_ count: Int) -> [UInt8]) { self.bytes = bytes }

    package func exactly(_ count: Int) -> [UInt8] {
        let bytes = bytes(count)
        precondition(bytes.count == count, "a random source returns the requested number of bytes")
        return bytes
    }
}
