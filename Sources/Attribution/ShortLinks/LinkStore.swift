/// A link with what was counted of it.
public struct LinkListing: Equatable, Sendable {
    public var link: Link
    /// Clicks of people, all variants together.
    public var clicks: Int
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

    public init(link: Link, clicks: Int = 0, matches: Int = 0, variants: [VariantCounts] = []) {
        self.link = link
        self.clicks = clicks
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
    /// 1 to 1,000.
    public var limit: Int

    public init(
        app: AppID? = nil,
        search: String? = nil,
        tag: String? = nil,
        campaignKey: CampaignKey? = nil,
        isArchived: Bool? = false,
        before: LinkID? = nil,
        limit: Int = 100
    ) {
        self.app = app
        self.search = search
        self.tag = tag
        self.campaignKey = campaignKey
        self.isArchived = isArchived
        self.before = before
        self.limit = limit
    }
}

/// Where links are kept.
public protocol LinkStore {
    /// The link of a slug among those of `apps`: the ones that answer on the host that was asked.
    ///
    /// On the way of every tap: one look by index.
    func link(_ slug: LinkSlug, of apps: [AppID]) async throws(StoreError) -> LinkListing?
    func link(_ id: LinkID) async throws(StoreError) -> LinkListing?
    /// Newest first.
    func links(_ query: LinkQuery) async throws(StoreError) -> [LinkListing]

    /// Makes links, all of them or none.
    ///
    /// `neighbours` are the apps that share a link host with each link's app: among their links its slug must be new
    /// too.
    ///
    /// - Throws: `conflict` where a slug is taken; its explanation names the slug.
    func create(_ links: [Link], neighbours: [AppID: [AppID]]) async throws(StoreError)
    /// - Throws: `notFound`.
    func update(_ link: Link) async throws(StoreError)
    /// Deletes a link that was never clicked; others are archived, so that what they brought stays told.
    ///
    /// - Throws: `notFound`, `conflict` for one that was clicked.
    func delete(_ link: LinkID) async throws(StoreError)
}
