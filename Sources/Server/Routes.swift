internal import Attribution
internal import HTTPServer

/// Every route of the service: method, path, permitted keys and endpoint.
enum Routes {
    /// Makes the routes of the service's public address; each event loop makes its own list.
    static func makePublic() -> [Route] {
        // The path prefixes that released clients use.
        let prefixes = ["/v1/deferred-deeplink", "/deferred-deeplink", "/api/v1/deferred-deeplink"]
        let checks = [
            "app", "campaign", "from", "to", "test", "outcome", "reason", "method", "platform", "os_version",
            "sdk",
            "fingerprint", "limit", "before",
        ]
        let audit = ["app", "actor", "action", "since", "until", "limit", "before"]
        let links = ["app", "search", "tag", "campaign", "archived", "limit", "before"]
        let deliveries = ["state", "type", "limit", "before"]
        let statistics =
            ["app", "campaign", "from", "interval", "offset", "test", "to"] + CountedValue.words.map(\.word)
        let others: [Route] = [
            // Newer clients make these calls.
            Route(.get, "/v1/skan/config", .anyone, ShowSKAdNetworkConfiguration.respond),
            Route(
                .post,
                "/v1/apple-ads/attribution",
                .anyone,
                limitedAs: .checks,
                needsDirectory: true,
                AttributeAppleAds.respond
            ),
            Route(
                .post,
                RecordEvents.path,
                .key([.app, .server, .test]),
                limitedAs: .clicks,
                crossOrigin: true,
                RecordEvents.respond
            ),
            Route(
                .post,
                "/v1/erase",
                .key([.app, .server, .test]),
                limitedAs: .checks,
                crossOrigin: true,
                PrivacyEndpoints.eraseInstall
            ),
            withDirectory("/campaign/resolve/{key}", ResolveCampaign.respond),
            withDirectory("/resolve/{key}", ResolveCampaign.respond),
            // The description of the API.
            Route(.get, "/openapi.json", .anyone, ShowOpenAPI.respond),
            // Apple's and Google's systems read these files of a link host.
            withDirectory("/.well-known/apple-app-site-association", ShowAppleAssociation.respond),
            withDirectory("/apple-app-site-association", ShowAppleAssociation.respond),
            withDirectory("/.well-known/assetlinks.json", ShowAssetLinks.respond),
            // Calls of operators.
            Route(.get, "/metrics", .key([.admin, .read]), limitedAs: .admin, ShowMetrics.respond),
            admin(.get, "/admin/stats", query: statistics, ShowStatistics.respond),
            admin(.get, "/admin/api/checks", query: checks, ListChecks.respond),
            admin(.get, "/admin/api/checks/{id}/explain", ExplainCheck.respond),
            admin(.get, "/admin/api/events/report", query: ReportEvents.items, ReportEvents.respond),
            admin(.get, "/admin/api/export/{file}", query: StreamExport.items, StreamExport.respond),
            admin(.get, "/admin/api/apps", AppEndpoints.list),
            admin(.get, "/admin/api/apps/{id}", AppEndpoints.show),
            admin(.patch, "/admin/api/apps/{id}", AppEndpoints.change),
            admin(.get, "/admin/api/links", query: links, LinkEndpoints.list),
            admin(.post, "/admin/api/links", LinkEndpoints.create),
            admin(.get, "/admin/api/links/{id}", LinkEndpoints.show),
            admin(.patch, "/admin/api/links/{id}", LinkEndpoints.change),
            admin(.delete, "/admin/api/links/{id}", LinkEndpoints.delete),
            admin(.post, "/admin/api/links/{id}/archive", LinkEndpoints.archive),
            admin(.post, "/admin/api/links/{id}/restore", LinkEndpoints.restore),
            admin(.get, "/admin/api/audit", query: audit, ListAudit.respond),
            admin(.get, "/admin/api/postbacks", query: ["app"], PostbackEndpoints.list),
            admin(.post, "/admin/api/postbacks", PostbackEndpoints.create),
            admin(.get, "/admin/api/postbacks/{id}", PostbackEndpoints.show),
            admin(.post, "/admin/api/postbacks/{id}/enable", PostbackEndpoints.enable),
            admin(.post, "/admin/api/postbacks/{id}/disable", PostbackEndpoints.disable),
            admin(.post, "/admin/api/postbacks/{id}/rotate", PostbackEndpoints.rotate),
            admin(.post, "/admin/api/postbacks/{id}/test", PostbackEndpoints.test),
            admin(.post, "/admin/api/postbacks/{id}/replay", PostbackEndpoints.replay),
            admin(
                .get,
                "/admin/api/postbacks/{id}/deliveries",
                query: deliveries,
                PostbackEndpoints.deliveries
            ),
            admin(.post, "/admin/api/domains/check", CheckDomain.respond),
            admin(
                .get,
                "/admin/api/apple-postbacks",
                query: ApplePostbackEndpoints.items,
                ApplePostbackEndpoints.list
            ),
            admin(.post, "/admin/api/apple-postbacks/verify", changes: false, ApplePostbackEndpoints.verify),
            admin(.post, "/admin/api/held", changes: false, PrivacyEndpoints.held),
            admin(.post, "/admin/api/erase", PrivacyEndpoints.erase),
            // The pages and files that visitors and preview robots open.
            Route(.get, "/v1/collector.js", .anyone, ShowCollector.respond),
            withDirectory("/favicon.ico", ShowIcon.respond),
            withDirectory("/apple-touch-icon.png", ShowIcon.respond),
            withDirectory("/{slug...}/qr.svg", limitedAs: .pictures, ShowQRCode.svg),
            withDirectory("/{slug...}/qr.png", limitedAs: .pictures, ShowQRCode.png),
            // This route takes the paths that no other route matches, which are the paths of links.
            Route(.get, "/{slug...}", .anyone, takesEveryMethod: true, OpenLink.respond),
        ]
        return prefixes.flatMap(sdk) + health + ReceiveApplePostback.makeRoutes() + others
    }

    /// Makes the routes at the metrics address, which need no key.
    static func makeMonitoring() -> [Route] {
        health + [Route(.get, "/metrics", .anyone, ShowMetrics.respond)]
    }

    private static var health: [Route] {
        [
            Route(.get, "/healthz", .anyone, CheckHealth.respond),
            Route(.get, "/readyz", .anyone, CheckReadiness.respond),
        ]
    }

    private static func sdk(_ prefix: String) -> [Route] {
        let keys: [KeyKind] = [.app, .server, .test]
        let find: Route.Endpoint = FindDeferredDeepLink.respond
        let resolve: Route.Endpoint = ResolveDeferredDeepLink.respond
        let click: Route.Endpoint = RecordClick.respond
        return [
            Route(.get, prefix, .key(keys), limitedAs: .checks, crossOrigin: true, consumes: true, find),
            Route(.post, prefix + "/resolve", .key(keys), limitedAs: .checks, crossOrigin: true, resolve),
            Route(.post, prefix + "/click", .anyoneOrKey(keys), limitedAs: .clicks, crossOrigin: true, click),
        ]
    }

    /// Makes a route of operators; read keys may use it if it changes nothing.
    private static func admin(
        _ method: Method,
        _ path: String,
        query: [String] = [],
        changes: Bool = true,
        _ endpoint: @escaping Route.Endpoint
    ) -> Route {
        let kinds: [KeyKind] = method == .get || !changes ? [.admin, .read] : [.admin]
        return Route(method, path, .key(kinds), limitedAs: .admin, query: query, endpoint)
    }

    /// Makes a GET route that needs no key, and whose endpoint reads the apps.
    private static func withDirectory(
        _ path: String,
        limitedAs limitClass: RateLimitClass? = nil,
        _ endpoint: @escaping Route.Endpoint
    ) -> Route {
        Route(.get, path, .anyone, limitedAs: limitClass, needsDirectory: true, endpoint)
    }
}
