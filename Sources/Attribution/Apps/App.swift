/// A mobile app whose clicks and first launches are kept apart from those of all others.
public struct App: Equatable, Sendable {
    /// What an operator may change about an app.
    public struct Settings: Equatable, Sendable {
        /// 1 to 100 characters, unique on the server.
        public var name: String
        /// Whether clicks without a key are accepted.
        public var openClicks: Bool
        /// Origins (`https://shop.example`) whose pages may post clicks; empty allows any.
        public var allowedOrigins: [String]
        /// Where clicks of strangers may lead: texts of a ``Destination`` each; empty allows any.
        public var destinations: [String]
        /// Nil takes the server's window.
        public var window: AttributionWindow?
        /// The languages that the app comes in, as Xcode names them (`tr`, `pt-BR`); empty when that is not known.
        public var localizations: [String]
        /// The one of them that the app falls back to.
        public var developmentLanguage: String?
        /// What is done with a probability.
        public var policy: MatchPolicy
        /// What is answered where the campaign is credited and the personal link left out; ``MatchPolicy/Ambiguity``
        /// `campaignOnly` needs it.
        public var defaultLink: DeepLinkURL?
        /// What its links, landing pages and domain files need.
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

        /// ``policy`` as far as it can be followed: without a link to answer, a campaign is not credited alone.
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
