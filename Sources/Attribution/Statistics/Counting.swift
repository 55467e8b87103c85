/// The label of a count: the campaign, the dimension and the value that it is for.
public struct CounterLabel: Hashable, Sendable {
    /// Nil for all campaigns together.
    public let campaign: String?
    /// The dimension; never ``Dimension/campaign``, because a campaign's count is its ``Dimension/total``.
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
    /// The largest number of values of an app that get counts of their own in one span of time, so that free
    /// text from outside cannot fill a store.
    ///
    /// The span is a day, or six hours for groups whose match rate is watched. Nil if the number of values is
    /// fixed.
    public var nameLimit: Int? {
        switch self {
        case .total, .platform, .method, .timeToInstall, .calibration: nil
        case .campaign: 10_000
        case .source: 1_000
        case .osVersion: 500
        case .launch, .click: 200
        }
    }

    /// The value under which all values beyond ``nameLimit`` are counted.
    public var overflowValue: String {
        switch self {
        case .source: SourceToken.unknown.rawValue
        case .launch, .click: DriftGroup(.launch, platform: .others, osVersion: .others, client: .others).name
        default: "other"
        }
    }
}

extension DriftSide {
    /// The dimension of the counts of its groups.
    public var dimension: Dimension {
        switch self {
        case .launch: .launch
        case .click: .click
        }
    }
}

/// The properties by which a click is counted.
public struct CountedTraits: Hashable, Sendable {
    public let campaign: String?
    /// The token, or the caller's own text for the source if no token fits.
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

    /// Creates the traits from the facts of a click that counting reads.
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

    /// Returns all labels that an event of the click is counted under.
    ///
    /// Within a campaign, sources are counted by their token alone, because strangers can invent other texts.
    ///
    /// `admit` returns its value, or ``Dimension/overflowValue`` if the app has had ``Dimension/nameLimit``
    /// other values on that day.
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
    /// All labels that a check from this platform is counted under; a check belongs to no campaign before it
    /// matches.
    public var checkLabels: [CounterLabel] { [CounterLabel(.total), CounterLabel(.platform, rawValue)] }
}
