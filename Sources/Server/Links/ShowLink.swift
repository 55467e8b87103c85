internal import Attribution
internal import HTTPServer

/// `GET /admin/api/links/{id}`: returns one link with its counts.
enum ShowLink {
    static func respond(_ exchange: inout Exchange, _ context: LoopContext) async throws(APIError) -> Response
    {
        let listing = try await context.link(of: exchange)
        exchange.app = listing.link.app
        return context.answer(listing, .ok, exchange)
    }
}
