internal import Attribution
internal import HTTPServer

/// `GET /favicon.ico` and `GET /apple-touch-icon.png`: redirects to the icon of the app whose links the host serves.
///
/// Browsers request both on their own when they show a link's page. Without an icon they get 204.
enum ShowIcon {
    static func respond(_ exchange: inout Exchange, _ context: LoopContext) async throws(APIError) -> Response
    {
        let proxies = context.service.settings.trustedProxies
        let host = RequestHost.of(exchange.request, trusting: proxies)
        let icon = exchange.directory.apps(onHost: host).lazy.compactMap(\.settings.links.icon).first
        let caching = FieldLine(name: "Cache-Control", value: "public, max-age=3600")
        guard let icon else { return Response(.noContent, fields: [caching]) }
        return Response(.found, fields: [FieldLine(name: "Location", value: icon.text), caching])
    }
}
