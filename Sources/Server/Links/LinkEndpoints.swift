public import Attribution
internal import HTTPServer
public import JSON

/// The admin API's calls on links; ``LinkBody`` writes the links of each response.
enum LinkEndpoints {
    /// `GET /admin/api/links`: lists the links, newest first.
    static func list(_ exchange: inout Exchange) async throws(APIError) -> Response {
        let query = try query(exchange)
        let page = try await exchange.store(await exchange.stores.links.links(query))
        let (directory, now) = (exchange.directory, exchange.now)
        return Response(.ok) { json in
            json.objects("links", page.links) { LinkBody.write($1, in: directory, at: now, to: &$0) }
            json.member("next", orNull: page.next?.text)
        }
    }

    /// Reads the filters of a list, the same in the API and in the dashboard.
    static func query(_ exchange: Exchange) throws(APIError) -> LinkQuery {
        let limit = try exchange.limitItem(LinkQuery.limits, standard: LinkQuery.standardLimit)
        var query = LinkQuery(limit: limit)
        query.app = try exchange.appItem()?.id
        query.campaignKey = try exchange.campaignItem()
        query.search = exchange.queryItem("search")
        query.tag = exchange.sentQueryItem("tag")
        switch exchange.queryItem("archived") {
        case nil, "false", "0": query.isArchived = false
        case "true", "1": query.isArchived = true
        case "any": query.isArchived = nil
        default: throw .invalidField("archived", "must be true, false or any")
        }
        query.before = try exchange.pageItem("lnk_…") { LinkID($0) }
        return query
    }

    /// `GET /admin/api/links/{id}`: returns one link with its counts.
    static func show(_ exchange: inout Exchange) async throws(APIError) -> Response {
        let listing = try await link(exchange)
        exchange.app = listing.link.app
        return answer(listing, .ok, exchange)
    }

    /// `POST /admin/api/links`: creates a link.
    static func create(_ exchange: inout Exchange) async throws(APIError) -> Response {
        let object = try JSONBody(ofAdmin: exchange.request).members
        let body = FieldBody<LinkField>(object, over: LinkFields(), besides: ["app", "slug"])
        let app = try app(object["app"], exchange.directory)
        exchange.app = app.id
        let (slug, directory, now) = (object["slug"] ?? .null, exchange.directory, exchange.now)
        let problem = FieldProblem("slug", "slug must be a text, or null.")
        let problems = slug.isNull || slug.string != nil ? [] : [problem]
        let random = exchange.service.random
        let new = try body.validated(problems) { fields throws(FieldProblems) in
            try LinkDraft.link(slug.string, fields, of: app, in: directory, at: now, random: random)
        }
        try await store(new, exchange)
        return answer(LinkListing(link: new.link), .created, exchange)
    }

    /// Stores a new link of the API or of the dashboard.
    ///
    /// - Throws: 409 if its slug is taken.
    static func store(_ new: NewLink, _ exchange: Exchange) async throws(APIError) {
        do throws(LinkStoreError) {
            try await exchange.stores.links.create([new], by: exchange.actor)
        } catch {
            throw APIError(error, requestID: exchange.requestID)
        }
    }

    /// Returns the app that a value names by its id, or the only app if the value is missing.
    ///
    /// - Throws: 422 for a text that is not an id, or if several apps exist and none is named; 404 for an unknown app.
    static func app(_ value: JSONValue?, _ directory: Directory) throws(APIError) -> App {
        guard let value, !value.isNull else {
            guard directory.apps.count == 1, let only = directory.apps.first else {
                let advice = "There are several apps: name one by its id, such as app_…."
                throw .unprocessable([FieldProblem("app", advice)])
            }
            return only
        }
        guard let id = value.string.flatMap({ AppID($0) }) else {
            throw .unprocessable([FieldProblem("app", "app must be the id of an app, as app_….")])
        }
        guard let app = directory.app(id) else { throw .noApp(field: "app") }
        return app
    }

    /// `PATCH /admin/api/links/{id}`: changes the fields that the body names; `null` removes a field.
    static func change(_ exchange: inout Exchange) async throws(APIError) -> Response {
        let object = try JSONBody(ofAdmin: exchange.request).members
        let (directory, now) = (exchange.directory, exchange.now)
        let changed = try await change(exchange) { link throws(APIError) in
            link.settings = try settings(object, of: link, directory, at: now)
        }
        return answer(changed, .ok, exchange)
    }

    private static func settings(
        _ object: JSONObject,
        of link: Link,
        _ directory: Directory,
        at now: Timestamp
    ) throws(APIError) -> Link.Settings {
        guard let app = directory.app(link.app) else { throw .noLink }
        let body = FieldBody<LinkField>(object, over: link.settings.fields, ignoring: LinkBody.ownMembers)
        var problems: [FieldProblem] = []
        for (name, own) in [("slug", link.slug.text), ("app", link.app.text)] {
            guard let value = object[name], value.string != own else { continue }
            let advice = "\(name) of a link cannot be changed; create another link instead."
            problems.append(FieldProblem(name, advice))
        }
        return try body.validated(problems) { fields throws(FieldProblems) in
            try LinkDraft.settings(fields, for: app, at: now, insteadOf: link.settings)
        }
    }

    /// `POST /admin/api/links/{id}/archive`: archives the link, which then leads nowhere; its slug and counts stay.
    static func archive(_ exchange: inout Exchange) async throws(APIError) -> Response {
        answer(try await setArchived(true, exchange), .ok, exchange)
    }

    /// `POST /admin/api/links/{id}/restore`: makes the link lead where it led before it was archived.
    static func restore(_ exchange: inout Exchange) async throws(APIError) -> Response {
        answer(try await setArchived(false, exchange), .ok, exchange)
    }

    /// Archives or restores the link whose id is in the path; keeps the time of an earlier archiving.
    @discardableResult
    static func setArchived(_ isArchived: Bool, _ exchange: Exchange) async throws(APIError) -> LinkListing {
        let now = exchange.now
        return try await change(exchange) { link throws(APIError) in
            link.archivedAt = isArchived ? link.archivedAt ?? now : nil
        }
    }

    /// `DELETE /admin/api/links/{id}`: deletes a link that was never clicked.
    static func delete(_ exchange: inout Exchange) async throws(APIError) -> Response {
        try await remove(exchange)
        return Response(.noContent)
    }

    /// Deletes the link whose id is in the path.
    ///
    /// - Throws: 409 if it has clicks.
    static func remove(_ exchange: Exchange) async throws(APIError) {
        guard let id = exchange.parameter.flatMap({ LinkID($0) }) else { throw .noLink }
        do throws(LinkStoreError) {
            try await exchange.stores.links.delete(id, by: exchange.actor)
        } catch {
            throw APIError(error, requestID: exchange.requestID)
        }
    }

    /// Reads the link whose id is in the path.
    ///
    /// - Throws: 404 if there is no such link.
    static func link(_ exchange: Exchange) async throws(APIError) -> LinkListing {
        guard let id = exchange.parameter.flatMap({ LinkID($0) }),
            let listing = try await exchange.store(await exchange.stores.links.link(id)),
            exchange.maySee(listing.link.app)
        else { throw .noLink }
        return listing
    }

    /// Changes the link whose id is in the path; retries three times if another request changed it meanwhile.
    ///
    /// If the link stays the same, nothing is stored, and its time of change stays.
    @discardableResult
    static func change(
        _ exchange: Exchange,
        _ change: (inout Link) throws(APIError) -> Void
    ) async throws(APIError) -> LinkListing {
        for _ in 0..<4 {
            let found = try await self.link(exchange)
            var link = found.link
            let earlier = link.updatedAt
            try change(&link)
            guard link != found.link else { return found }
            link.updatedAt = exchange.now
            do throws(LinkStoreError) {
                try await exchange.stores.links.update(link, ifUpdatedAt: earlier, by: exchange.actor)
            } catch {
                if error == .changed { continue }
                throw APIError(error, requestID: exchange.requestID)
            }
            return try await self.link(exchange)
        }
        throw APIError(.changed, requestID: exchange.requestID)
    }

    private static func answer(_ listing: LinkListing, _ status: Status, _ exchange: Exchange) -> Response {
        Response(status) { LinkBody.write(listing, in: exchange.directory, at: exchange.now, to: &$0) }
    }
}

extension APIError {
    fileprivate static let noLink = notFound("There is no such link; GET /admin/api/links lists them")

    fileprivate init(_ error: LinkStoreError, requestID: String) {
        switch error {
        case .slugTaken: self = .conflict(error.advice ?? "", field: "slug")
        case .notFound: self = .noLink
        case .changed, .clicked: self = .conflict(error.advice ?? "")
        case .store(let error): self.init(error, requestID: requestID)
        }
    }
}

/// The JSON form of a link.
public enum LinkBody {
    /// The members that are not fields of a link; ignored when a client sends them back.
    static let ownMembers: Set<String> = [
        "id", "app", "slug", "url", "ending", "clicks", "robots", "matches", "former_variants", "created_at",
        "updated_at", "archived_at",
    ]

    /// Writes the members of a link and its counts; `now` decides whether the link has expired.
    public static func write(
        _ listing: LinkListing,
        in directory: Directory,
        at now: Timestamp,
        to json: inout JSONWriter
    ) {
        let link = listing.link
        json.member("id", link.id.text)
        json.member("app", link.app.text)
        json.member("slug", link.slug.text)
        json.member("url", directory.app(link.app).flatMap(link.url(of:)))
        json.members(of: link.settings.fields)
        writeVariants(of: listing, to: &json)
        json.member("ending", link.ending(at: now, clicks: listing.clicks)?.rawValue)
        json.member("clicks", listing.clicks)
        json.member("robots", listing.robots)
        json.member("matches", listing.matches)
        json.member("created_at", link.createdAt.iso8601)
        json.member("updated_at", link.updatedAt.iso8601)
        json.member("archived_at", link.archivedAt?.iso8601)
    }

    private static func writeVariants(of listing: LinkListing, to json: inout JSONWriter) {
        let variants = listing.link.settings.variants
        let former = listing.variants.filter { count in !variants.contains { $0.name == count.name } }
        if !variants.isEmpty {
            json.objects("variants", variants) { json, variant in
                let counts = listing.variants.first { $0.name == variant.name }
                json.member("name", variant.name)
                json.member("weight", variant.weight)
                json.member("destination", variant.target.text)
                json.member("clicks", counts?.clicks ?? 0)
                json.member("matches", counts?.matches ?? 0)
            }
        }
        guard !former.isEmpty else { return }
        json.objects("former_variants", former) { json, counts in
            json.member("name", counts.name)
            json.member("clicks", counts.clicks)
            json.member("matches", counts.matches)
        }
    }
}
