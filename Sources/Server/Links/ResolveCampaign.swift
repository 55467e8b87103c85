internal import Attribution
internal import HTTPServer
internal import JSON

/// `GET /campaign/resolve/{key}` and `GET /resolve/{key}`: returns the link of a campaign key to newer clients.
///
/// It returns the newest link that has the campaign key and a destination. The link belongs to the API key's app.
/// Without a valid API key, it belongs to an app whose links the requested host serves, or to any app if the host serves
/// none. If there is no link, the response contains only the campaign key.
enum ResolveCampaign {
    static func respond(_ exchange: inout Exchange) async throws(APIError) -> Response {
        guard let key = CampaignKey(QueryItem.text(ofPathPart: exchange.parameter ?? "")) else {
            throw .notFound("A campaign key has 1 to \(CampaignKey.maximumLength) characters")
        }
        let (apps, now) = (Self.apps(exchange), exchange.now)
        let links = exchange.stores.links
        let link = try await exchange.store(await links.liveLink(ofCampaign: key, of: apps, at: now)?.link)
        return Response(.ok) { json in
            json.member("keyName", key.text)
            if let link, let app = exchange.directory.app(link.app) { write(link, of: app, to: &json) }
        }
    }

    private static func apps(_ exchange: Exchange) -> [AppID] {
        // Do not refuse an invalid API key: after an error, clients would ask again.
        if let app = try? exchange.findKey(for: .anyoneOrKey([.app, .server, .test]))?.app { return [app] }
        // Clients call the service's own address, which need not be a link host.
        return exchange.nearestApps.map(\.id)
    }

    /// Writes the members of a link, except its journey, because each click has its own.
    private static func write(_ link: Link, of app: App, to json: inout JSONWriter) {
        let (settings, links) = (link.settings, app.settings.links)
        // Only operators see the link's own title.
        json.member("title", settings.preview.title)
        json.member("webUrl", settings.fallbacks.desktop?.text)
        let (own, others) = (settings.fallbacks, links.fallbacks)
        json.member("iosUrl", own.ios?.text ?? others.ios?.text ?? links.apple.storeURL)
        json.member("androidUrl", own.android?.text ?? others.android?.text ?? links.android.storeURL)
        json.member("huaweiUrl", own.huawei?.text ?? others.huawei?.text)
        json.member("fallbackUrl", others.desktop?.text)
        json.member("scheme", link.settings.deepLink(nil, on: .ios, of: links)?.text)
        json.member("iosUniversalUrl", link.url(of: app))
        if let metadata = LinkMetadata.merged(nil, link.settings) {
            json.member("metaData") { $0.raw(metadata.utf8) }
        }
    }
}
