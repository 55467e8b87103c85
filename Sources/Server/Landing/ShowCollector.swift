internal import Attribution
internal import HTTPServer

/// `GET /v1/collector.js`: the script that records clicks of other sites' pages, the same as in the landing page.
///
/// What it does for a page never changes within `v1`. How it does so may change, so browsers revalidate it each hour.
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
