internal import Attribution
internal import HTTPServer

/// `DELETE /admin/api/links/{id}`: deletes a link that was never clicked.
enum DeleteLink {
    static func respond(_ exchange: inout Exchange, _ context: LoopContext) async throws(APIError) -> Response
    {
        guard let id = exchange.parameter.flatMap({ LinkID($0) }) else { throw .noLink }
        do throws(LinkStoreError) {
            try await context.stores.links.delete(id)
        } catch {
            throw APIError(error, requestID: exchange.requestID)
        }
        return Response(.noContent)
    }
}
