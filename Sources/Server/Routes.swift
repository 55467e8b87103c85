internal import Attribution
internal import HTTPServer

/// Every route of the service: method, path, permitted keys and endpoint.
enum Routes {
    /// The prefixes under which released clients call.
    private static let sdkPrefixes = [
        "/v1/deferred-deeplink", "/deferred-deeplink", "/api/v1/deferred-deeplink",
    ]

    private static let sdk: [Route] = sdkPrefixes.flatMap { prefix in
        [
            Route(
                .get,
                prefix,
                .key([.app, .server, .test]),
                limitedAs: .checks,
                crossOrigin: true,
                consumes: true,
                FindDeferredDeepLink.respond
            ),
            Route(
                .post,
                prefix + "/resolve",
                .key([.app, .server, .test]),
                limitedAs: .checks,
                crossOrigin: true,
                ResolveDeferredDeepLink.respond
            ),
            Route(
                .post,
                prefix + "/click",
                .anyoneOrKey([.app, .server, .test]),
                limitedAs: .clicks,
                crossOrigin: true,
                RecordClick.respond
            ),
        ]
    }

    /// Calls of newer clients that get a final, cheap response.
    private static let newerClients: [Route] = [
        Route(.get, "/v1/skan/config", .anyone, ShowSKAdNetworkConfiguration.respond),
        Route(.post, "/v1/apple-ads/attribution", .anyone, DeclineAppleAdsAttribution.respond),
        Route(.get, "/campaign/resolve/{key}", .anyone, needsDirectory: true, ResolveCampaign.respond),
        Route(.get, "/resolve/{key}", .anyone, needsDirectory: true, ResolveCampaign.respond),
    ]

    private static let health: [Route] = [
        Route(.get, "/healthz", .anyone, CheckHealth.respond),
        Route(.get, "/readyz", .anyone, CheckReadiness.respond),
    ]

    private static let description = Route(.get, "/openapi.json", .anyone, ShowOpenAPI.respond)

    private static let admin: [Route] = [
        Route(.get, "/metrics", .key([.admin]), limitedAs: .admin, ShowMetrics.respond),
        admin(
            .get,
            "/admin/stats",
            query: ["app", "campaign", "from", "to", "interval", "test"],
            ShowStatistics.respond
        ),
        admin(
            .get,
            "/admin/api/checks",
            query: [
                "app", "campaign", "from", "to", "test", "outcome", "reason", "fingerprint", "limit",
                "before",
            ],
            ListChecks.respond
        ),
        admin(.get, "/admin/api/checks/{id}/explain", ExplainCheck.respond),
        admin(.get, "/admin/api/apps", AppEndpoints.list),
        admin(.get, "/admin/api/apps/{id}", AppEndpoints.show),
        admin(.patch, "/admin/api/apps/{id}", AppEndpoints.change),
        admin(
            .get,
            "/admin/api/links",
            query: ["app", "search", "tag", "campaign", "archived", "limit", "before"],
            LinkEndpoints.list
        ),
        admin(.post, "/admin/api/links", LinkEndpoints.create),
        admin(.get, "/admin/api/links/{id}", LinkEndpoints.show),
        admin(.patch, "/admin/api/links/{id}", LinkEndpoints.change),
        admin(.delete, "/admin/api/links/{id}", LinkEndpoints.delete),
        admin(.post, "/admin/api/links/{id}/archive", LinkEndpoints.archive),
        admin(.post, "/admin/api/links/{id}/restore", LinkEndpoints.restore),
        admin(.post, "/admin/api/domains/check", CheckDomain.respond),
    ]

    private static func admin(
        _ method: Method,
        _ path: String,
        query: [String] = [],
        _ endpoint: @escaping Route.Endpoint
    ) -> Route {
        Route(method, path, .key([.admin]), limitedAs: .admin, query: query, endpoint)
    }

    /// The files of a link host that Apple's and Google's systems read.
    private static let domainFiles: [Route] = [
        Route(
            .get,
            "/.well-known/apple-app-site-association",
            .anyone,
            needsDirectory: true,
            ShowAppleAssociation.respond
        ),
        Route(
            .get,
            "/apple-app-site-association",
            .anyone,
            needsDirectory: true,
            ShowAppleAssociation.respond
        ),
        Route(.get, "/.well-known/assetlinks.json", .anyone, needsDirectory: true, ShowAssetLinks.respond),
    ]

    /// What people and preview robots open; a link's path is one that no other route matches.
    private static let links: [Route] = [
        Route(.get, "/v1/collector.js", .anyone, ShowCollector.respond),
        Route(.get, "/favicon.ico", .anyone, needsDirectory: true, ShowIcon.respond),
        Route(.get, "/apple-touch-icon.png", .anyone, needsDirectory: true, ShowIcon.respond),
        picture("/{slug...}/qr.svg", ShowQRCode.svg),
        picture("/{slug...}/qr.png", ShowQRCode.png),
        Route(.get, "/{slug...}", .anyone, OpenLink.respond),
    ]

    private static func picture(_ path: String, _ endpoint: @escaping Route.Endpoint) -> Route {
        Route(.get, path, .anyone, limitedAs: .pictures, needsDirectory: true, endpoint)
    }

    /// The routes at the service's own address.
    static let `public` = sdk + newerClients + health + [description] + domainFiles + admin + links

    /// The routes at the metrics address, which need no key.
    static let monitoring = health + [Route(.get, "/metrics", .anyone, ShowMetrics.respond)]

    static let all = `public`
}
