internal import Attribution

/// The link that a requested address leads to: a stored link, or a long link of Firebase.
struct FoundLink {
    let app: App
    /// The link, or the reasons why a long link must not lead anywhere.
    let link: Result<TappedLink, FieldProblems>
    /// Why a stored link no longer leads anywhere; nil if it still does, and for every long link.
    var ending: Link.Ending?

    /// Finds a stored link by its slug; nil if none of the apps has it.
    static func stored(_ path: String, of apps: [App], _ exchange: Exchange) async throws(StoreError)
        -> FoundLink?
    {
        guard !apps.isEmpty, let slug = try? LinkSlug(parsing: path),
            let kept = try await exchange.stores.links.link(slug, of: apps.map(\.id)),
            let app = apps.first(where: { $0.id == kept.link.app })
        else { return nil }
        let ending = kept.link.ending(at: exchange.now, clicks: kept.clicks)
        return FoundLink(app: app, link: .success(TappedLink(kept.link)), ending: ending)
    }

    /// Reads a long link of Firebase, whose address contains its settings.
    ///
    /// - Parameters:
    ///   - path: the address's path without its first slash; Firebase allowed a path before the query.
    ///   - query: the decoded query.
    ///   - apps: the apps that the link may belong to.
    /// - Returns: nil for an address that is not a long link, or belongs to none of the apps.
    static func long(_ path: String, _ query: [QueryItem], of apps: [App]) -> FoundLink? {
        guard path.isEmpty || (try? LinkSlug(parsing: path)) != nil,
            let long = FirebaseLongLink(query: query), let app = long.app(among: apps)
        else { return nil }
        do throws(FieldProblems) {
            return FoundLink(app: app, link: .success(try TappedLink(long, at: path, of: app)))
        } catch { return FoundLink(app: app, link: .failure(error)) }
    }

    /// Reads the part of a long link's address after its host: `?link=…`, which may follow a path; nil without a `?`.
    static func long(_ text: String, of apps: [App]) -> FoundLink? {
        guard let end = text.firstIndex(of: "?") else { return nil }
        var path = text[..<end].drop { $0 == "/" }
        while path.last == "/" { path.removeLast() }
        return long(String(path), QueryItem.items(ofQuery: text[text.index(after: end)...].utf8), of: apps)
    }
}
