/// The name under which an operator counts a campaign: free text, 1 to 255 characters.
public struct CampaignKey: Hashable, Sendable {
    public let text: String

    public static let maximumLength = 255

    /// Returns nil for a text that is empty or longer than ``maximumLength`` characters.
    ///
    /// U+001A replaces U+0000, which PostgreSQL cannot store, so that a key is the same in every database.
    public init?(_ text: String) {
        guard !text.isEmpty, text.unicodeScalars.count <= Self.maximumLength else { return nil }
        self.text = text.replacingASCII("\0", with: "\u{1A}")
    }

    /// Compares bytes, as a database does: two spellings of one text in Unicode are two keys.
    ///
    /// If the keys were equal, one read for two visitors with different spellings would return the links of only one
    /// spelling.
    public static func == (left: CampaignKey, right: CampaignKey) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }
}

/// The journey id (`jid`) that connects a click with other events of the person: 1 to 255 characters.
public struct JourneyID: Hashable, Sendable {
    public let text: String

    public static let maximumLength = 255

    /// Returns nil for a text that is empty or longer than ``maximumLength`` characters.
    public init?(_ text: String) {
        guard !text.isEmpty, text.unicodeScalars.count <= Self.maximumLength else { return nil }
        self.text = text
    }

    /// Creates an id for a click that has none: `j_` and a time-ordered identifier.
    public init(at time: Timestamp, random: RandomSource) {
        text = Identifier<JourneySubject>(at: time, random: random).text
    }
}

/// A client's name for its own installation: 1 to 64 of `[A-Za-z0-9_-]`.
public struct InstallID: Hashable, Sendable {
    public let text: String

    /// Returns nil for another length or other characters.
    public init?(_ text: String) {
        guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy(\.isASCIIWordByte) else { return nil }
        self.text = text
    }
}

/// The operating system family of a click or a check.
///
/// The raw value is the word on the wire.
public enum Platform: String, CaseIterable, Sendable {
    case ios
    case android
    /// A known platform other than iOS and Android, such as a desktop.
    case other
    case unknown
}
