internal import Attribution
internal import HTTPServer
internal import QRCodes

/// Handles the store button of a page that ran no script: records the click, and redirects the visitor.
enum RedirectToStore {
    static func respond(_ visit: LinkVisit, _ exchange: inout Exchange) async throws(APIError) -> Response {
        guard var url = visit.storeURL else { return LandingPage(visit, exchange).response }
        exchange.outcome = "store"
        if isTapped(exchange) {
            do throws(APIError) {
                // Only Google Play passes a token on to the app.
                if let token = try await record(visit, &exchange), let package = visit.actions.playPackage,
                    let link = PlayStoreLink(package: package, token: token, utm: visit.utm)
                {
                    url = link.text
                }
            } catch {
                // The link ended after this request had read it.
                guard error.code != .linkEnded else {
                    return try InactiveLinkPage.response(.expired, of: visit.app, orThrow: error, exchange)
                }
                // A click that cannot be stored must not block the redirect.
                exchange.outcome = "unrecorded"
            }
        }
        let policy = FieldLine(name: "Referrer-Policy", value: "strict-origin")
        return Response(.found, fields: [FieldLine(name: "Location", value: url), .noStore, policy])
    }

    private static func record(_ visit: LinkVisit, _ exchange: inout Exchange) async throws(APIError)
        -> ClickToken?
    {
        try exchange.checkRate(.clicks)
        let query = visit.query.isEmpty ? nil : QueryItem.query(of: visit.query)
        let body = ClickBody(ofRequestFor: visit.link, variant: visit.variant, query: query)
        return try await RecordClick.record(body, of: visit.link, app: visit.app, &exchange).token
    }

    /// Returns whether a person tapped the button.
    ///
    /// False for a robot, a program or a prefetch, and for a page that loads the address as a picture or in a frame.
    ///
    /// Source: W3C "Fetch Metadata Request Headers", `Sec-Fetch-Dest` and `Sec-Fetch-Mode`.
    private static func isTapped(_ exchange: Exchange) -> Bool {
        let request = exchange.request
        guard exchange.service.settings.robots.robot(request.field("user-agent") ?? "") == nil,
            !AutomaticVisit.isAnnounced(by: request)
        else { return false }
        return [("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")].allSatisfy { name, tapped in
            request.field(name).map { $0 == tapped } ?? true
        }
    }
}

/// The QR code on the page for a computer, which a phone scans to continue.
///
/// It may contain the token of the click that the page has recorded, so it is never cached. Codes for print contain no
/// token, because a token can be used only once.
enum HandoffQRCode {
    static func respond(_ visit: LinkVisit, _ exchange: inout Exchange) throws(APIError) -> Response {
        exchange.outcome = "code"
        try exchange.checkRate(.pictures)
        let token = try exchange.sentQueryItem(LinkParameter.token).map { text throws(APIError) in
            try verify(text, of: visit.app, exchange)
        }
        guard let picture = picture(visit, token: token) else {
            throw .notFound("The link is too long for a code")
        }
        let policy = FieldLine(name: "Content-Security-Policy", value: "default-src 'none'")
        return Response(.ok, fields: [policy, .noStore], contentType: .svg, body: Array(picture.svg().utf8))
    }

    /// Draws the code; leaves out the token and the visit's query if they are too long, and returns nil if the text is
    /// still too long.
    private static func picture(_ visit: LinkVisit, token: String?) -> QRPicture? {
        if let picture = try? QRPicture(of: visit.codeText(token: token)) { return picture }
        return try? QRPicture(of: visit.address.url())
    }

    /// Requires a token that this server signed, so that strangers cannot have codes drawn with other texts.
    private static func verify(_ text: String, of app: App, _ exchange: Exchange) throws(APIError) -> String {
        let (keys, now) = (exchange.keys.server.all, exchange.now)
        guard let token = try? ClickToken(verifying: text, of: app.id, among: [], signedBy: keys, at: now)
        else {
            throw .notFound("This is not the token of a click on this server", field: LinkParameter.token)
        }
        return token.text
    }
}
