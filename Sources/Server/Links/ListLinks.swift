internal import Attribution
internal import HTTPServer

/// `GET /admin/api/links`: lists the links, newest first.
enum ListLinks {
    static func respond(_ exchange: inout Exchange, _ context: LoopContext) async throws(APIError) -> Response
    {
        let query = try self.query(exchange)
        let page = try await exchange.store(await context.stores.links.links(query))
        return Response(.ok, json: LinkBody.page(page, exchange.directory, at: exchange.now))
    }

    private static func query(_ exchange: Exchange) throws(APIError) -> LinkQuery {
        var query = LinkQuery(
            limit: try exchange.limitItem(LinkQuery.limits, standard: LinkQuery.standardLimit)
        )
        query.app = try exchange.appItem()?.id
        query.campaignKey = try exchange.campaignItem()
        query.search = exchange.queryItem("search")
        query.tag = exchange.queryItem("tag").flatMap { $0.isEmpty ? nil : $0 }
        switch exchange.queryItem("archived") {
        case nil, "false", "0": query.isArchived = false
        case "true", "1": query.isArchived = true
        case "any": query.isArchived = nil
        default: throw .invalidField("archived", "must be true, false or any")
        }
        if let text = exchange.queryItem("before"), !text.isEmpty {
            guard let id = LinkID(text) else {
                throw .invalidField("before", "must be the \"next\" of the page before, as lnk_…")
            }
            query.before = id
        }
        return query
    }
}
