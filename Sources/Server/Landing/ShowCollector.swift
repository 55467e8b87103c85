internal import Attribution
internal import HTTPServer

/// `GET /v1/collector.js`: the script that tells clicks of other people's pages, the same as in our own.
///
/// What it does for a page never changes within `v1`; how it does it may, so that browsers ask again each hour.
enum ShowCollector {
    static func respond(_ exchange: inout Exchange, _ context: LoopContext) async throws(APIError) -> Response
    {
        var response = Response(
            context.service.settings.pages.collector,
            as: .javaScript,
            cacheControl: "public, max-age=3600",
            for: exchange.request
        )
        response.fields += [
            FieldLine(name: "Access-Control-Allow-Origin", value: "*"),
            FieldLine(name: "Cross-Origin-Resource-Policy", value: "cross-origin"),
        ]
        return response
    }
}
