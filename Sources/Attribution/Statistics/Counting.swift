/// What a count is kept for, apart from whose it is and when.
public struct CounterLabel: Hashable, Sendable {
    /// Nil: all campaigns together.
    public let campaign: String?
    /// ``Dimension/campaign`` never stands here: a campaign's own count is the total of its label.
    public let dimension: Dimension
    /// Empty for ``Dimension/total``.
    public let value: String

    public init(campaign: String? = nil, _ dimension: Dimension, _ value: String = "") {
        self.campaign = campaign
        self.dimension = dimension
        self.value = value
    }
}

extension Dimension {
    /// How many different values an app may have on one day with counters of their own: free text from outside
    /// must not fill a store. Nil where the values are our own.
    public var dailyLimit: Int? {
        switch self {
        case .total, .platform: nil
        case .campaign: 10_000
        case .source: 1_000
        case .osVersion: 500
        }
    }

    /// The value under which everything above ``dailyLimit`` is counted.
    public var overflowValue: String {
        self == .source ? SourceToken.unknown.rawValue : "other"
    }
}

/// Under which names a click is counted.
public struct CountedTraits: Equatable, Sendable {
    public let campaign: String?
    /// The token, or what the caller called the source where no token fits.
    public let source: String
    public let sourceToken: SourceToken
    public let platform: Platform
    public let osVersion: String?

    /// - Parameter admit: gives a value back, or the overflow value when the day has had too many others.
    public init(_ facts: Click.Facts, admit: (Dimension, String) -> String) {
        campaign = facts.campaignKey.map { admit(.campaign, $0.text) }
        sourceToken = facts.source
        if facts.source == .unknown, let raw = facts.rawSource, !raw.isEmpty {
            source = admit(.source, raw.lowercased())
        } else {
            source = facts.source.rawValue
        }
        platform = facts.platform
        osVersion = facts.osVersion.map { admit(.osVersion, $0) }
    }

    /// Everything that an event of this click is counted under.
    ///
    /// Within a campaign, sources are told apart by their token alone: seven values, whatever strangers invent.
    public var labels: [CounterLabel] {
        var labels = [
            CounterLabel(.total),
            CounterLabel(.source, source),
            CounterLabel(.platform, platform.rawValue),
        ]
        if let osVersion { labels.append(CounterLabel(.osVersion, osVersion)) }
        if let campaign {
            labels.append(CounterLabel(campaign: campaign, .total))
            labels.append(CounterLabel(campaign: campaign, .source, sourceToken.rawValue))
            labels.append(CounterLabel(campaign: campaign, .platform, platform.rawValue))
        }
        return labels
    }
}

extension Check {
    /// Everything that this check is counted under: it belongs to no campaign before it matches.
    public var labels: [CounterLabel] {
        [CounterLabel(.total), CounterLabel(.platform, platform.rawValue)]
    }
}
