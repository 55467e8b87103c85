/// A link with its counts.
public struct LinkListing: Equatable, Sendable {
    public var link: Link
    /// The number of visitors' clicks in live traffic, all variants together; without robots.
    public var clicks = 0
    /// Clicks of robots and previews.
    public var robots = 0
    public var matches = 0
    /// The counts by variant, if the link has any.
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

    public init(link: Link, variants: [VariantCounts] = []) {
        self.link = link
        self.variants = variants
    }
}

/// A query for links.
public struct LinkQuery: Equatable, Sendable {
    /// Nil for the links of all apps.
    public var app: AppID?
    /// Return only links with this text in the slug, the title, the campaign key or a destination; the case
    /// of ASCII letters is ignored.
    public var search: String?
    public var tag: String?
    public var campaignKey: CampaignKey?
    /// Whether to return only archived links, or only others; nil for both.
    public var isArchived: Bool?
    /// Return only links that are older than this one; nil for the first page.
    public var before: LinkID?
    public var limit: Int

    /// The possible sizes of a page.
    public static let limits = 1...1000
    public static let standardLimit = 100

    public init(isArchived: Bool? = false, limit: Int = LinkQuery.standardLimit) {
        self.isArchived = isArchived
        self.limit = min(max(limit, Self.limits.lowerBound), Self.limits.upperBound)
    }
}

/// One page of the links that match a query.
public struct LinkPage: Equatable, Sendable {
    /// The links, newest first.
    public var links: [LinkListing] = []
    /// The ``LinkQuery/before`` of the next page; nil for the last page.
    ///
    /// A page may contain fewer links than its limit, or none, without being the last: one call reads a
    /// bounded number of links.
    public var next: LinkID?

    public init(links: [LinkListing] = [], next: LinkID? = nil) { (self.links, self.next) = (links, next) }
}

/// A link to store.
public struct NewLink: Equatable, Sendable {
    public var link: Link
    /// The ``Directory/neighbours(of:)`` of the link's app, itself included: the slug must be new among their links.
    public var neighbours: [AppID]

    public init(_ link: Link, neighbours: [AppID]) {
        self.link = link
        self.neighbours = neighbours
    }
}

/// The reason why links were not stored.
public enum LinkStoreError: Error, Equatable, Sendable {
    /// The slug is in use; nothing was stored.
    case slugTaken(LinkSlug)
    /// There is no such link, or no such app.
    case notFound
    /// Another operator has changed the link since it was read.
    case changed
    /// The link has clicks, so it can be archived but not deleted: its counts must remain.
    case clicked
    case store(StoreError)
}

/// The store of links.
public protocol LinkStore {
    /// Returns the link with this slug among the links of `apps`, which are the apps of the requested host.
    ///
    /// This is called for every tap, and takes one read by index. If several of the apps have links with the slug, it
    /// returns the oldest one; the service prevents such links where it can. The counts may be a second old.
    func link(_ slug: LinkSlug, of apps: [AppID]) async throws(StoreError) -> LinkListing?
    /// Returns a link whose counts include every click and match that was acknowledged before the call.
    func link(_ id: LinkID) async throws(StoreError) -> LinkListing?
    /// Returns the slug of each of these links that exists; the call does not run on the calling event loop.
    func slugs(of links: [LinkID]) async throws(StoreError) -> [LinkID: LinkSlug]
    /// Returns any slug that links of both apps have; nil if there is none.
    ///
    /// The call does not run on the calling event loop. It takes time proportional to the number of the first app's
    /// links.
    func sharedSlug(of app: AppID, and other: AppID) async throws(StoreError) -> LinkSlug?
    /// Returns a page of links, newest first.
    ///
    /// It reads a bounded number of links, and not on the calling event loop.
    func links(_ query: LinkQuery) async throws(StoreError) -> LinkPage

    /// Returns the newest active link of these apps with this campaign key.
    func liveLink(
        ofCampaign key: CampaignKey,
        of apps: [AppID],
        at now: Timestamp
    ) async throws(StoreError) -> LinkListing?

    // Every change is written to the audit log in the same transaction, with its actor.

    /// Creates all of these links, or none.
    ///
    /// - Throws: `slugTaken`, `notFound` for an app that does not exist.
    func create(_ links: [NewLink], by actor: AuditActor) async throws(LinkStoreError)
    /// Replaces a link's settings and the time at which it was archived.
    ///
    /// - Parameters:
    ///   - link: the link with its new values.
    ///   - earlier: the `updatedAt` of the link as it was read; nil updates the link in any case.
    ///   - actor: who makes the change.
    /// - Throws: `notFound`; `changed` if the stored `updatedAt` is not `earlier`.
    func update(_ link: Link, ifUpdatedAt earlier: Timestamp?, by actor: AuditActor)
        async throws(LinkStoreError)
    /// Deletes a link that was never clicked.
    ///
    /// - Throws: `notFound`, `clicked`.
    func delete(_ link: LinkID, by actor: AuditActor) async throws(LinkStoreError)
}

extension Link {
    /// The text that a search reads: slug, title, campaign key and destinations in lower case, one on each line.
    public var searchText: String {
        let targets =
            [settings.target, settings.iosTarget, settings.androidTarget] + settings.variants.map(\.target)
        let texts = [slug.text, settings.title, settings.campaignKey?.text] + targets.map { $0?.text }
        return texts.compactMap(\.self).joined(separator: "\n").asciiLowercased
    }
}

extension LinkQuery {
    /// The text to find in ``Link/searchText``; nil if the query has none.
    public var searchedText: String? {
        guard let text = search?.trimmed.asciiLowercased, !text.isEmpty else { return nil }
        return text
    }
}
