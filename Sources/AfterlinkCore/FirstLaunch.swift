#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The result of an app's first launch.
public enum FirstLaunch: Hashable, Sendable {
    /// A click led to this installation. Open the link; no other call returns it again.
    case match(Link)
    /// The campaign that led to this installation, without a link to open.
    ///
    /// Either no single click is probable enough, or the app was opened by the click's own link, which
    /// ``Afterlink/links`` returns.
    case campaign(String)
    /// The server found no click that led to this installation.
    case none
    /// There is no result yet. The library continues to ask, and ``Afterlink/links`` returns a late link.
    case pending
    /// There is nothing to do: an earlier call returned the result, or the person opted out, or the app was installed
    /// before it had this library, or no server responded for too long.
    case settled
}

/// A link to open in the app: the link of the click before the installation, or one that opened the app.
public struct Link: Hashable, Sendable, Codable {
    /// How a link came to the app.
    public enum Origin: String, Sendable, Codable {
        /// The click before the installation had the link.
        case deferred
        /// The system opened the app with the link.
        case opened
    }

    /// The address to open, without Afterlink's token.
    public var url: URL
    public var origin: Origin
    /// The campaign key, if the click has one.
    public var campaign: String?
    /// The identifier of the click's journey, if it has one.
    public var journey: String?
    /// The identifier of the click, which the server's `explain` command takes.
    public var clickID: String?
    /// How the server found the click, such as `signed_token` or `probabilistic`.
    public var method: String?
    /// The probability that this installation came from the click; 1 for a link that opened the app.
    public var confidence: Double
    /// Whether the match is certain, because a signed token named the click.
    public var isGuaranteed: Bool
    /// When the person clicked; nil if the server does not know.
    public var clickedAt: Date?
    /// The metadata of the click, as the operator or the page stored it.
    public var metadata: [String: JSONValue]

    public init(
        url: URL,
        origin: Origin = .deferred,
        campaign: String? = nil,
        confidence: Double = 1,
        isGuaranteed: Bool = true,
        metadata: [String: JSONValue] = [:]
    ) {
        (self.url, self.origin, self.campaign) = (url, origin, campaign)
        (self.confidence, self.isGuaranteed, self.metadata) = (confidence, isGuaranteed, metadata)
    }
}

/// A value of JSON.
///
/// A number that is too large or too small for a `Double` is read as ``null``.
public enum JSONValue: Hashable, Sendable, Codable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .array(value)
        } else {
            // The decoder refuses numbers such as 1e400. They must not make the response with a match unreadable.
            self = (try? container.decode([String: JSONValue].self)).map(JSONValue.object) ?? .null
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }

    /// The text, if the value is a text.
    public var string: String? { if case .string(let text) = self { text } else { nil } }
}

extension JSONValue: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) { self = .string(value) }
}

/// A length of time.
///
/// `Duration` would need iOS 16.
public struct TimeLimit: Hashable, Sendable {
    public let seconds: Double

    public static func seconds(_ count: Double) -> TimeLimit { TimeLimit(seconds: count > 0 ? count : 0) }

    public static func milliseconds(_ count: Double) -> TimeLimit { .seconds(count / 1000) }
}
