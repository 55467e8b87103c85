/// A mobile app whose clicks and first launches are separate from those of all others.
public struct App: Equatable, Sendable {
    /// What an operator may change about an app.
    public struct Settings: Equatable, Sendable {
        /// 1 to 100 characters, unique on the server.
        public var name: String
        /// Whether clicks without a key are accepted.
        public var openClicks: Bool
        /// Origins (`https://shop.example`) whose pages may post clicks; empty allows any.
        public var allowedOrigins: [String]
        /// The destinations that visitors' clicks may lead to, each the text of a ``Destination``; empty
        /// allows any.
        public var destinations: [String]
        /// Nil for the server's window.
        public var window: AttributionWindow?
        /// The languages that the app comes in, as Xcode names them (`tr`, `pt-BR`); empty if unknown.
        public var localizations: [String]
        /// The language of ``localizations`` that the app uses if it has none of the device's languages.
        public var developmentLanguage: String?
        /// How probabilities are used.
        public var policy: MatchPolicy
        /// The link of answers that credit the campaign without the personal link; ``MatchPolicy/Ambiguity``
        /// `campaignOnly` needs it.
        public var defaultLink: DeepLinkURL?
        /// The settings of its links, landing pages and domain files.
        public var links: AppLinks

        public init(
            name: String,
            openClicks: Bool = true,
            allowedOrigins: [String] = [],
            destinations: [String] = [],
            window: AttributionWindow? = nil,
            localizations: [String] = [],
            developmentLanguage: String? = nil,
            policy: MatchPolicy = MatchPolicy(),
            defaultLink: DeepLinkURL? = nil,
            links: AppLinks = AppLinks()
        ) {
            self.name = name
            self.openClicks = openClicks
            self.allowedOrigins = allowedOrigins
            self.destinations = destinations
            self.window = window
            self.localizations = localizations
            self.developmentLanguage = developmentLanguage
            self.policy = policy
            self.defaultLink = defaultLink
            self.links = links
        }

        /// The ``policy`` that can be followed: without a default link, no answer credits a campaign alone.
        public var followedPolicy: MatchPolicy {
            guard policy.onAmbiguity == .campaignOnly, defaultLink == nil else { return policy }
            var followed = policy
            followed.onAmbiguity = .noMatch
            return followed
        }
    }

    public let id: AppID
    public var settings: Settings
    public let createdAt: Timestamp

    public init(id: AppID, settings: Settings, createdAt: Timestamp) {
        self.id = id
        self.settings = settings
        self.createdAt = createdAt
    }
}

/// The names of an app in stores and systems.
package enum AppIdentifiers {
    /// Returns whether a text can be Apple's prefix of an app id.
    static func isTeam(_ text: String) -> Bool {
        text.utf8.count == 10
            && text.utf8.allSatisfy { $0.isASCIIDigit || ($0.isASCIILetter && $0 != $0.asciiLowercased) }
    }

    /// Returns the text if it is a bundle id: letters, digits, hyphens and dots.
    static func bundle(_ text: String) -> String? {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let isBundle =
            text.utf8.count <= 155 && parts.count > 1
            && parts.allSatisfy { part in
                !part.isEmpty && part.allSatisfy { $0.isASCIIAlphanumeric || $0 == UInt8(ascii: "-") }
            }
        return isBundle ? text : nil
    }

    /// Returns whether a text is a prefix and a bundle id with a dot between them, as Apple's files name an
    /// app.
    package static func isAppID(_ text: String) -> Bool {
        guard let dot = text.firstIndex(of: ".") else { return false }
        return isTeam(String(text[..<dot])) && bundle(String(text[text.index(after: dot)...])) != nil
    }

    /// Returns the number of a page in Apple's store from a text with or without the prefix `id`.
    static func storeID(_ text: String) -> UInt64? {
        let digits = text.hasPrefix("id") ? text.dropFirst(2) : text[...]
        guard (5...12).contains(digits.utf8.count), digits.utf8.allSatisfy(\.isASCIIDigit) else { return nil }
        return UInt64(digits)
    }

    /// Returns a certificate's fingerprint as Google's files spell it: capital digits in pairs, separated by
    /// colons.
    static func certificate(_ text: String) -> String? {
        let digits = text.utf8.filter { $0 != UInt8(ascii: ":") }
        let hasColons = text.utf8.count == 95
        guard digits.count == 64, hasColons || text.utf8.count == 64,
            digits.allSatisfy({ Hexadecimal.value(of: $0) != nil })
        else { return nil }
        let capitals = digits.map { $0.isASCIILetter ? $0 & ~0x20 : $0 }
        let pairs = stride(from: 0, to: 64, by: 2).map {
            String(decoding: capitals[$0..<$0 + 2], as: UTF8.self)
        }
        let canonical = pairs.joined(separator: ":")
        // Either all pairs are separated by colons, or none.
        guard hasColons else { return canonical }
        return canonical.asciiLowercased == text.asciiLowercased ? canonical : nil
    }

    /// Returns a scheme in lower case, as systems compare it; reads it with or without `://`.
    static func scheme(_ text: String) -> String? {
        let name = text.hasSuffix("://") ? String(text.dropLast(3)) : text
        guard let parts = try? URLParts(Array("\(name)://host".utf8)), !parts.isWeb, name.utf8.count <= 64,
            parts.scheme == name.asciiLowercased, (try? parts.checkScheme()) != nil
        else { return nil }
        return parts.scheme
    }
}
