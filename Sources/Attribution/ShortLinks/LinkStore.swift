/// A link with what was counted of it.
public struct LinkListing: Equatable, Sendable {
    public var link: Link
    /// Clicks of people with live traffic, all variants together.
    public var clicks: Int
    /// Clicks of robots and previews.
    public var robots: Int
    public var matches: Int
    /// By variant, where the link has any.
    public var variants: [VariantCounts]

    public struct VariantCounts: Equatable, Sendable {
        public let name: String
        public let clicks: Int
        public let matches: Int

        public init(name: String, clicks: Int, matches: Int) {
            self.name = name
            self.clicks = clicks
            self.matches = matches
        }
    }

    public init(
        link: Link,
        clicks: Int = 0,
        robots: Int = 0,
        matches: Int = 0,
        variants: [VariantCounts] = []
    ) {
        self.link = link
        self.clicks = clicks
        self.robots = robots
        self.matches = matches
        self.variants = variants
    }
}

/// Which links are asked for.
public struct LinkQuery: Equatable, Sendable {
    /// Nil asks for those of all apps.
    public var app: AppID?
    /// Occurs in the slug, the title, the campaign key or a destination, whatever the case of ASCII letters.
    public var search: String?
    public var tag: String?
    public var campaignKey: CampaignKey?
    /// Nil asks for both.
    public var isArchived: Bool?
    /// Newest first; those before this one.
    public var before: LinkID?
    public var limit: Int

    /// How many links a page may hold.
    public static let limits = 1...1000
    public static let standardLimit = 100

    public init(
        app: AppID? = nil,
        search: String? = nil,
        tag: String? = nil,
        campaignKey: CampaignKey? = nil,
        isArchived: Bool? = false,
        before: LinkID? = nil,
        limit: Int = LinkQuery.standardLimit
    ) {
        self.app = app
        self.search = search
        self.tag = tag
        self.campaignKey = campaignKey
        self.isArchived = isArchived
        self.before = before
        self.limit = min(max(limit, Self.limits.lowerBound), Self.limits.upperBound)
    }
}

/// Some of the links that were asked for.
public struct LinkPage: Equatable, Sendable {
    /// The newest first.
    public var links: [LinkListing]
    /// Where the next page begins; nil when this is the last one.
    ///
    /// A page may hold fewer links than asked for, or none, and not be the last: one call looks at so many only.
    public var next: LinkID?

    public init(links: [LinkListing] = [], next: LinkID? = nil) {
        self.links = links
        self.next = next
    }
}

/// A link on its way into a store.
public struct NewLink: Equatable, Sendable {
    public var link: Link
    /// The apps among whose links its slug must be new: those that share a link host with its own, itself included.
    public var neighbours: [AppID]

    public init(_ link: Link, neighbours: [AppID]) {
        self.link = link
        self.neighbours = neighbours
    }
}

/// Why links were not stored.
public enum LinkStoreError: Error, Equatable, Sendable {
    /// The slug is taken; nothing was stored.
    case slugTaken(LinkSlug)
    /// There is no such link, or no such app.
    case notFound
    /// Somebody else has changed the link since it was read.
    case changed
    /// It was clicked, and so is archived and not deleted, that what it brought stays told.
    case clicked
    case store(StoreError)
}

/// Where links are kept.
public protocol LinkStore {
    /// The link of a slug among those of `apps`: the ones that answer on the host that was asked.
    ///
    /// On the way of every tap: one look by index. The oldest one where apps share a host that have the same slug, which
    /// is refused as far as it can be.
    func link(_ slug: LinkSlug, of apps: [AppID]) async throws(StoreError) -> LinkListing?
    func link(_ id: LinkID) async throws(StoreError) -> LinkListing?
    /// A slug that links of both apps have, whichever; nil where there is none.
    ///
    /// Takes as long as the first app has links, and never holds up the loop that asks.
    func sharedSlug(of app: AppID, and other: AppID) async throws(StoreError) -> LinkSlug?
    /// Newest first.
    ///
    /// Takes as long as one bounded look, and never holds up the loop that asks.
    func links(_ query: LinkQuery) async throws(StoreError) -> LinkPage

    /// The newest link of these apps with this campaign key that leads somewhere now.
    func liveLink(
        ofCampaign key: CampaignKey,
        of apps: [AppID],
        at now: Timestamp
    ) async throws(StoreError) -> LinkListing?

    /// Makes links, all of them or none.
    ///
    /// - Throws: `slugTaken`, `notFound` for an app that does not exist.
    func create(_ links: [NewLink]) async throws(LinkStoreError)
    /// Replaces a link's settings and its archiving.
    ///
    /// - Parameters:
    ///   - link: as it is to be.
    ///   - earlier: its `updatedAt` as it was read, where a change by somebody else meanwhile must not be undone.
    /// - Throws: `notFound`, `changed`.
    func update(_ link: Link, ifUpdatedAt earlier: Timestamp?) async throws(LinkStoreError)
    /// Deletes a link that was never clicked.
    ///
    /// - Throws: `notFound`, `clicked`.
    func delete(_ link: LinkID) async throws(LinkStoreError)
}

extension Link {
    /// What a search looks through: slug, title, campaign key and destinations, a line each, in small letters.
    public var searchText: String {
        let targets =
            [settings.target, settings.iosTarget, settings.androidTarget] + settings.variants.map(\.target)
        let texts = [slug.text, settings.title, settings.campaignKey?.text] + targets.map { $0?.text }
        return texts.compactMap(\.self).joined(separator: "\n").asciiLowercased
    }
}

extension LinkQuery {
    /// What occurs in ``Link/searchText`` of the links that are searched for; nil where nothing is.
    public var searchedText: String? {
        guard let text = search?.trimmed.asciiLowercased, !text.isEmpty else { return nil }
        return text
    }
}
