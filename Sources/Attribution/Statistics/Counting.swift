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
    /// How many different values an app may have in one span of time with counts of their own: free text from outside
    /// must not fill a store.
    ///
    /// The span is a day, or six hours for groups that are watched. Nil where the values are our own.
    public var nameLimit: Int? {
        switch self {
        case .total, .platform, .method, .timeToInstall, .calibration: nil
        case .campaign: 10_000
        case .source: 1_000
        case .osVersion: 500
        case .launch, .click: 200
        }
    }

    /// The value under which everything above ``nameLimit`` is counted.
    public var overflowValue: String {
        switch self {
        case .source: SourceToken.unknown.rawValue
        case .launch, .click: DriftGroup(.launch, platform: .others, osVersion: .others, client: .others).name
        default: "other"
        }
    }
}

extension DriftSide {
    /// The dimension that its groups are counted in.
    public var dimension: Dimension {
        switch self {
        case .launch: .launch
        case .click: .click
        }
    }
}

/// What a click is counted by.
public struct CountedTraits: Hashable, Sendable {
    public let campaign: String?
    /// The token, or what the caller called the source where no token fits.
    public let source: String
    public let sourceToken: SourceToken
    public let platform: Platform
    public let osVersion: String?

    public init(_ facts: Click.Facts) {
        self.init(
            campaign: facts.campaignKey?.text,
            sourceToken: facts.source,
            rawSource: facts.rawSource,
            platform: facts.platform,
            osVersion: facts.osVersion
        )
    }

    /// From the facts of a click that counting looks at.
    public init(
        campaign: String?,
        sourceToken: SourceToken,
        rawSource: String?,
        platform: Platform,
        osVersion: String?
    ) {
        self.campaign = campaign
        self.sourceToken = sourceToken
        if sourceToken == .unknown, let rawSource, !rawSource.isEmpty {
            source = rawSource.lowercased()
        } else {
            source = sourceToken.rawValue
        }
        self.platform = platform
        self.osVersion = osVersion
    }

    /// Everything that an event of the click is counted under.
    ///
    /// Within a campaign, sources are told apart by their token alone: seven values, whatever strangers invent.
    ///
    /// `admit` gives a value back, or ``Dimension/overflowValue`` when the app has had ``Dimension/nameLimit``
    /// others on that day.
    public func labels<Failure: Error>(
        admit: (Dimension, String) throws(Failure) -> String
    ) throws(Failure) -> [CounterLabel] {
        let isToken = source == sourceToken.rawValue
        var labels = [
            CounterLabel(.total),
            CounterLabel(.source, isToken ? source : try admit(.source, source)),
            CounterLabel(.platform, platform.rawValue),
        ]
        if let osVersion { labels.append(CounterLabel(.osVersion, try admit(.osVersion, osVersion))) }
        if let campaign {
            let campaign = try admit(.campaign, campaign)
            labels.append(CounterLabel(campaign: campaign, .total))
            labels.append(CounterLabel(campaign: campaign, .source, sourceToken.rawValue))
            labels.append(CounterLabel(campaign: campaign, .platform, platform.rawValue))
        }
        return labels
    }
}

extension Platform {
    /// Everything that a check from this platform is counted under: it belongs to no campaign before it matches.
    public var checkLabels: [CounterLabel] {
        [CounterLabel(.total), CounterLabel(.platform, rawValue)]
    }
}
