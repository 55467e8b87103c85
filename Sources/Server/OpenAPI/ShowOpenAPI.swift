internal import Attribution
internal import HTTPServer

/// `GET /openapi.json`: every call of the service, for programs that make clients, tests and documentation of it.
///
/// The document is the same on every server, and has the API's version instead of the program's.
enum ShowOpenAPI {
    static func respond(_ exchange: inout Exchange, _ context: LoopContext) async throws(APIError) -> Response
    {
        var response = Response(
            APIDescription.body,
            tagged: APIDescription.tag,
            as: .json,
            cacheControl: "public, max-age=3600",
            for: exchange.request
        )
        // Viewers on other hosts may read it, because it reveals nothing about this server.
        response.fields.append(FieldLine(name: "Access-Control-Allow-Origin", value: "*"))
        return response
    }
}
