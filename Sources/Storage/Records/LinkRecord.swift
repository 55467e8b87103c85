public import Attribution

/// A row of `links`: the properties that are read when a link is tapped or listed.
public struct LinkRecord: Record, Equatable, Sendable {
    public let id: LinkID
    /// The app's number.
    public let app: Int64
    public var slug: LinkSlug
    public let campaignKey: String?
    /// The text that a search reads: slug, title, campaign key and destinations, with ASCII letters in lower case.
    public let searchText: String
    public let expiresAt: Timestamp?
    public let maximumClicks: Int?
    public var createdAt: Timestamp
    public var updatedAt: Timestamp
    public let archivedAt: Timestamp?

    /// - Parameters:
    ///   - link: the link, whose fields are in another table.
    ///   - app: the app's number.
    public init(_ link: Link, app: Int64) {
        id = link.id
        self.app = app
        slug = link.slug
        campaignKey = link.settings.campaignKey?.text
        searchText = link.searchText
        expiresAt = link.settings.expiresAt
        maximumClicks = link.settings.maximumClicks
        createdAt = link.createdAt
        updatedAt = link.updatedAt
        archivedAt = link.archivedAt
    }

    /// Returns the row after a change of its link; the slug and the time of creation do not change.
    public func changed(to link: Link) -> LinkRecord {
        var record = LinkRecord(link, app: app)
        (record.slug, record.createdAt) = (slug, createdAt)
        // Two changes within one millisecond get different times.
        record.updatedAt = max(link.updatedAt, updatedAt.advanced(byMilliseconds: 1))
        return record
    }

    /// Returns the link with the contents of its other tables.
    ///
    /// `counts` are by variant; an empty name means the whole link.
    public func listing(of app: AppID, _ fields: LinkFields, _ counts: [String: LinkCounts]) -> LinkListing {
        let link = Link(
            id: id,
            app: app,
            slug: slug,
            settings: Link.Settings(stored: fields),
            createdAt: createdAt,
            updatedAt: updatedAt,
            archivedAt: archivedAt
        )
        var listing = LinkListing(link: link)
        if let whole = counts[""] {
            (listing.clicks, listing.robots, listing.matches) = (whole.clicks, whole.robots, whole.matches)
        }
        let current = link.settings.variants.map(\.name)
        // Current variants in the link's order, then former ones.
        let names = current + counts.keys.filter { !$0.isEmpty && !current.contains($0) }.sorted()
        listing.variants = names.map { name in
            let counts = counts[name] ?? LinkCounts()
            return LinkListing.VariantCounts(name: name, clicks: counts.clicks, matches: counts.matches)
        }
        return listing
    }

    public static let columns: Columns = [
        "id_high", "id_low", "app", "slug", "campaign_key", "search_text", "expires_at", "maximum_clicks",
        "created_at", "updated_at", "archived_at",
    ]

    public func write(to row: inout some RowWriter) {
        row.put("id_high", id.high)
        row.put("id_low", id.low)
        row.put("app", app)
        row.put("slug", slug.text)
        row.put("campaign_key", campaignKey)
        row.put("search_text", searchText)
        row.put("expires_at", expiresAt)
        row.put("maximum_clicks", maximumClicks)
        row.put("created_at", createdAt)
        row.put("updated_at", updatedAt)
        row.put("archived_at", archivedAt)
    }

    public init?(_ row: inout some RowReader) {
        id = LinkID(high: row.get("id_high"), low: row.get("id_low"))
        app = row.get("app")
        slug = LinkSlug(stored: row.get("slug"))
        campaignKey = row.get("campaign_key")
        searchText = row.get("search_text")
        expiresAt = row.get("expires_at")
        maximumClicks = row.get("maximum_clicks")
        createdAt = row.get("created_at")
        updatedAt = row.get("updated_at")
        archivedAt = row.get("archived_at")
    }
}

/// A stored link with its app, and the number by which other tables refer to the link.
public struct StoredLink: Sendable {
    public let number: Int64
    public let app: AppID
    public let record: LinkRecord

    public init(_ record: LinkRecord, number: Int64, app: AppID) {
        (self.record, self.number, self.app) = (record, number, app)
    }
}

/// A row of `link_counts`.
public struct LinkCounts: Equatable, Sendable {
    public var clicks = 0
    public var robots = 0
    public var matches = 0
    /// Clicks with test keys, including clicks of robots; stored, but not read by any report.
    public var tests = 0

    public init(clicks: Int = 0, robots: Int = 0, matches: Int = 0, tests: Int = 0) {
        (self.clicks, self.robots, self.matches, self.tests) = (clicks, robots, matches, tests)
    }

    static func + (left: LinkCounts, right: LinkCounts) -> LinkCounts {
        LinkCounts(
            clicks: left.clicks + right.clicks,
            robots: left.robots + right.robots,
            matches: left.matches + right.matches,
            tests: left.tests + right.tests
        )
    }
}
