internal import Attribution
internal import HTTPServer

/// `GET /v1/collector.js`: the script with which other sites' pages record clicks; the landing page contains it too.
///
/// Its functions never change within `v1`. Their code may change, so that browsers revalidate the file each hour.
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
/// Browsers request both on their own when they show a link's page. Without an icon they get 204.
enum ShowIcon {
    static func respond(_ exchange: inout Exchange) async throws(APIError) -> Response {
        let icon = exchange.directory.apps(onHost: exchange.host).lazy.compactMap(\.settings.links.icon).first
        let caching = FieldLine(name: "Cache-Control", value: "public, max-age=3600")
        guard let icon else { return Response(.noContent, fields: [caching]) }
        return Response(.found, fields: [FieldLine(name: "Location", value: icon.text), caching])
    }
}
