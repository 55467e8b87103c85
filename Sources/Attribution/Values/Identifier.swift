/// What an ``Identifier`` names, and the prefix of its text form.
public protocol IdentifiedSubject: Sendable {
    /// Lower-case letters without the underscore, as in `clk`.
    static var prefix: String { get }
}

public enum ClickSubject: IdentifiedSubject { public static let prefix = "clk" }
public enum AppSubject: IdentifiedSubject { public static let prefix = "app" }
public enum KeySubject: IdentifiedSubject { public static let prefix = "key" }
public enum CheckSubject: IdentifiedSubject { public static let prefix = "chk" }

public typealias ClickID = Identifier<ClickSubject>
public typealias AppID = Identifier<AppSubject>
public typealias KeyID = Identifier<KeySubject>
public typealias CheckID = Identifier<CheckSubject>

/// A time-ordered 128-bit identifier: 48 bits of milliseconds since 1970, then 80 bits that make it unique.
///
/// Text form: the subject's prefix, `_`, and 26 digits of lower-case Crockford base32, as in
/// `clk_01jz8w6t7n3k5m9q2r4v6x8y0z`. Texts of one kind sort as the identifiers do.
public struct Identifier<Subject: IdentifiedSubject>: Hashable, Comparable, Sendable {
    /// The first 64 bits: time, then the 16 bits that order identifiers of one millisecond.
    public let high: UInt64
    /// The last 64 bits, random.
    public let low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    public static func < (left: Identifier, right: Identifier) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }
}
