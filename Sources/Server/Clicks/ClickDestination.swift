internal import Attribution
internal import HTTPServer

/// Where a click leads: a link that released clients can open, and for strangers one that the app allows.
enum ClickDestination {
    static func url(of body: ClickBody, app: App, key: APIKey?) throws(APIError) -> DeepLinkURL {
        if let slug = body.link {
            throw .notFound("There is no link \"\(slug.prefix(64))\" on this server", field: "link")
        }
        guard let text = body.deepLinkURL else {
            throw .missingField("deeplink_url", "Send the link that the app is to open as \"deeplink_url\"")
        }
        let destination: DeepLinkURL
        do throws(DeepLinkURLError) {
            destination = try DeepLinkURL(parsing: text)
        } catch {
            throw .invalidURL("deeplink_url", error.message)
        }
        guard key?.kind != .server else { return destination }
        guard app.settings.allows(destination) else {
            throw .invalidURL(
                "deeplink_url",
                "The link leads outside the app's allowed destinations. Add its scheme or host with "
                    + "\"afterlink apps set --destination\", or post the click with a server key"
            )
        }
        return destination
    }
}
