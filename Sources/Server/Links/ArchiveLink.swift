internal import Attribution
internal import HTTPServer

/// `POST /admin/api/links/{id}/archive`: makes the link lead nowhere; its slug and its counts stay.
enum ArchiveLink {
    static func respond(_ exchange: inout Exchange, _ context: LoopContext) async throws(APIError) -> Response
    {
        let now = exchange.now
        return try await context.changeLink(of: exchange) { link throws(APIError) in
            if link.archivedAt == nil { link.archivedAt = now }
        }
    }
}

/// `POST /admin/api/links/{id}/restore`: makes the link lead where it led before it was archived.
enum RestoreLink {
    static func respond(_ exchange: inout Exchange, _ context: LoopContext) async throws(APIError) -> Response
    {
        try await context.changeLink(of: exchange) { link throws(APIError) in link.archivedAt = nil }
    }
}
