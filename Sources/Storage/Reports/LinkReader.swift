public import Attribution

/// Links and their fields, as a database reads them for a single link.
public protocol LinkFieldRows {
    associatedtype Failure: Error

    func link(_ id: LinkID) throws(Failure) -> StoredLink?
    /// Passes the names and texts of a link's fields to `body`, in the order of their positions.
    func fields(ofLink number: Int64, _ body: (_ name: String, _ text: String) -> Void) throws(Failure)
}

/// Links, their fields and their counts, as a database reads them for taps and for single links.
public protocol LinkRows: LinkFieldRows {
    /// Returns the links of all apps with a slug.
    func links(withSlug slug: LinkSlug) throws(Failure) -> [StoredLink]
    /// Returns the active links of all apps with a campaign key, among the newest 1000 links with the key.
    func liveLinks(ofCampaign key: CampaignKey, at now: Timestamp) throws(Failure) -> [StoredLink]
    /// Returns a link's counts by variant; an empty name means the whole link.
    func counts(ofLink number: Int64) throws(Failure) -> [String: LinkCounts]
}

/// Links, as a database reads them for pages and for the settings of apps.
public protocol LinkPageRows: LinkRows {
    /// Passes links to `body`, newest first, until `body` returns false; all links that match the query are among them.
    ///
    /// - Parameters:
    ///   - query: its limit does not apply.
    ///   - body: gets whether the link matches the query, and returns whether to read another link.
    /// - Throws: if the database cannot be read.
    func links(_ query: LinkQuery, _ body: (_ link: StoredLink, _ isMatch: Bool) -> Bool) throws(Failure)
    /// Returns the slugs of the given links; leaves out links that do not exist.
    func slugs(of links: [LinkID]) throws(Failure) -> [LinkID: LinkSlug]
    /// Returns any slug that links of both apps have; nil if there is none.
    func sharedSlug(of app: AppID, and other: AppID) throws(Failure) -> LinkSlug?
}

extension LinkRows {
    /// Returns the oldest link of these apps with a slug; nil if there is none.
    public func link(_ slug: LinkSlug, of apps: [AppID]) throws(Failure) -> StoredLink? {
        try links(withSlug: slug).filter { apps.contains($0.app) }.min { $0.number < $1.number }
    }

    fileprivate func listing(_ slug: LinkSlug, of apps: [AppID]) throws(Failure) -> LinkListing? {
        try listing(link(slug, of: apps))
    }

    fileprivate func listing(_ id: LinkID) throws(Failure) -> LinkListing? { try listing(link(id)) }

    /// Returns the newest active link of these apps with a campaign key.
    fileprivate func liveListing(ofCampaign key: CampaignKey, of apps: [AppID], at now: Timestamp)
        throws(Failure) -> LinkListing?
    {
        let links = try liveLinks(ofCampaign: key, at: now).filter { apps.contains($0.app) }
        return try listing(links.max { $0.number < $1.number })
    }

    func listing(_ link: StoredLink?) throws(Failure) -> LinkListing? {
        guard let link else { return nil }
        return link.record.listing(of: link.app, try fields(of: link), try counts(ofLink: link.number))
    }
}

extension LinkFieldRows {
    /// Returns a link without its counts; nil if there is none.
    func wholeLink(_ id: LinkID) throws(Failure) -> Link? {
        guard let link = try link(id) else { return nil }
        return link.record.listing(of: link.app, try fields(of: link), [:]).link
    }

    fileprivate func fields(of link: StoredLink) throws(Failure) -> LinkFields {
        var texts: [LinkField: [String]] = [:]
        try fields(ofLink: link.number) { name, text in
            // A field that only a newer version of the program knows is left out.
            if let field = LinkField(rawValue: name) { texts[field, default: []].append(text) }
        }
        var fields = LinkFields()
        for (field, values) in texts { fields[field] = values }
        return fields
    }
}

extension LinkPageRows {
    /// Returns one page of the links that match a query, newest first.
    fileprivate func page(_ query: LinkQuery) throws(Failure) -> LinkPage {
        var walk = PageWalk<StoredLink, LinkID>(limit: query.limit, rowLimit: 50_000)
        try links(query) { link, isMatch in walk.add(isMatch ? link : nil, at: link.record.id) }
        var page = LinkPage(next: walk.next)
        for link in walk.elements { if let listing = try listing(link) { page.links.append(listing) } }
        return page
    }
}

extension DatabaseSession where Backend.Loop.Rows: LinkRows {
    public func link(_ slug: LinkSlug, of apps: [AppID]) async throws(StoreError) -> LinkListing? {
        try await loop.readRows { rows throws(Backend.Loop.Rows.Failure) in try rows.listing(slug, of: apps) }
    }

    public func liveLink(ofCampaign key: CampaignKey, of apps: [AppID], at now: Timestamp)
        async throws(StoreError) -> LinkListing?
    {
        try await loop.readRows { rows throws(Backend.Loop.Rows.Failure) in
            try rows.liveListing(ofCampaign: key, of: apps, at: now)
        }
    }
}

extension DatabaseSession where Backend.Reader: ReportReader {
    public func link(_ id: LinkID) async throws(StoreError) -> LinkListing? {
        try await loop.readReport { reader throws(Backend.Reader.Failure) in try reader.listing(id) }
    }

    public func slugs(of links: [LinkID]) async throws(StoreError) -> [LinkID: LinkSlug] {
        guard !links.isEmpty else { return [:] }
        return try await loop.readInBackground { reader throws(Backend.Reader.Failure) in
            try reader.slugs(of: links)
        }
    }

    public func sharedSlug(of app: AppID, and other: AppID) async throws(StoreError) -> LinkSlug? {
        try await loop.readInBackground { reader throws(Backend.Reader.Failure) in
            try reader.sharedSlug(of: app, and: other)
        }
    }

    public func links(_ query: LinkQuery) async throws(StoreError) -> LinkPage {
        try await loop.readInBackground { reader throws(Backend.Reader.Failure) in try reader.page(query) }
    }
}
