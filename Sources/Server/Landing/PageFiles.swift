internal import Attribution
internal import HTTPServer

/// `GET /v1/collector.js`: returns the script that records clicks on other sites' pages.
///
/// The script's functions stay the same within `v1`. Their code may change, so browsers revalidate the file each hour.
enum ShowCollector {
    static func respond(_ exchange: inout Exchange) async throws(APIError) -> Response {
        let script = exchange.service.settings.pages.collector
        var response = Response(script, as: .javaScript, for: exchange.request)
        response.fields += [
            FieldLine(name: "Access-Control-Allow-Origin", value: "*"),
            FieldLine(name: "Cross-Origin-Resource-Policy", value: "cross-origin"),
        ]
        return response
    }
}

/// `GET /favicon.ico` and `GET /apple-touch-icon.png`: redirects to the icon of the app whose links the host serves.
///
/// Browsers request both paths without being asked when they show a link's page. If no app has an icon, they get 204.
enum ShowIcon {
    static func respond(_ exchange: inout Exchange) async throws(APIError) -> Response {
        let icon = exchange.directory.apps(onHost: exchange.host).lazy.compactMap(\.settings.links.icon).first
        let caching = FieldLine(name: "Cache-Control", value: "public, max-age=3600")
        guard let icon else { return Response(.noContent, fields: [caching]) }
        return Response(.found, fields: [FieldLine(name: "Location", value: icon.text), caching])
    }
}
