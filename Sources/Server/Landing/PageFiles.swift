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

/// `GET /favicon.ico` and `GET /apple-touch-icon.png`: redirects to the icon of the app whose links the host serves.
///
/// Browsers request both on their own when they show a link's page. Without an icon they get 204.
enum ShowIcon {
    static func respond(_ exchange: inout Exchange, _ context: LoopContext) async throws(APIError) -> Response
    {
        let apps = exchange.directory.apps(onHost: context.host(of: exchange))
        let icon = apps.lazy.compactMap(\.settings.links.icon).first
        let caching = FieldLine(name: "Cache-Control", value: "public, max-age=3600")
        guard let icon else { return Response(.noContent, fields: [caching]) }
        return Response(.found, fields: [FieldLine(name: "Location", value: icon.text), caching])
    }
}
