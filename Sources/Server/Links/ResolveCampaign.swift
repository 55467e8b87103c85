internal import Attribution
internal import HTTPServer
internal import JSON

/// `GET /campaign/resolve/{key}` and `GET /resolve/{key}`: newer clients ask what a campaign key stands for.
///
/// The newest link with that key answers, of the API key's app, or of the apps on the requested host. Every member of
/// the response is optional; without a link, the response has the key alone.
enum ResolveCampaign {
    static func respond(_ exchange: inout Exchange, _ context: LoopContext) async throws(APIError) -> Response
    {
        let text = QueryItem.text(ofPathPart: exchange.parameter ?? "")
        guard let key = CampaignKey(text) else {
            throw .notFound("A campaign key has 1 to \(CampaignKey.maximumLength) characters")
        }
        let (apps, now) = (Self.apps(exchange, context), exchange.now)
        let link = try await exchange.store(
            await context.stores.links.liveLink(ofCampaign: key, of: apps, at: now)?.link
        )
        var json = JSONWriter()
        json.object { json in
            json.member("keyName", key.text)
            if let link, let app = exchange.directory.app(link.app) { write(link, of: app, to: &json) }
        }
        return Response(.ok, json: json)
    }

    private static func apps(_ exchange: Exchange, _ context: LoopContext) -> [AppID] {
        // A client with an invalid API key is not refused, because the response must be final.
        let key = try? Authentication.key(
            of: exchange.request,
            for: .anyoneOrKey([.app, .server, .test]),
            in: exchange.directory,
            at: exchange.now
        )
        if let app = key?.app { return [app] }
        // Clients call the service's own address, which need not be a link host.
        return context.nearestApps(exchange).map(\.id)
    }

    /// Leaves the journey out, because each click has its own.
    private static func write(_ link: Link, of app: App, to json: inout JSONWriter) {
        let (settings, links) = (link.settings, app.settings.links)
        json.member("title", settings.title ?? settings.preview.title)
        json.member("webUrl", settings.fallbacks.desktop?.text)
        json.member(
            "iosUrl",
            settings.fallbacks.ios?.text ?? links.fallbacks.ios?.text ?? links.apple.storeURL
        )
        json.member(
            "androidUrl",
            settings.fallbacks.android?.text ?? links.fallbacks.android?.text ?? links.android.storeURL
        )
        json.member("huaweiUrl", settings.fallbacks.huawei?.text ?? links.fallbacks.huawei?.text)
        json.member("fallbackUrl", links.fallbacks.desktop?.text)
        json.member("scheme", link.settings.deepLink(nil, on: .ios, of: links)?.text)
        json.member("iosUniversalUrl", link.url(of: app))
        if let metadata = LinkMetadata.merged(nil, link.settings) {
            json.member("metaData") { $0.raw(metadata.utf8) }
        }
    }
}
