internal import Attribution
internal import HTTPServer
internal import QRCodes

/// The store button of a page that ran no script: records the click from the request alone, and redirects the
/// visitor.
enum RedirectToStore {
    static func respond(
        _ visit: LinkVisit,
        _ exchange: inout Exchange,
        _ context: LoopContext
    ) async throws(APIError) -> Response {
        guard var url = visit.storeURL else { return LandingPage(visit, exchange, context).response }
        exchange.outcome = "store"
        if isTapped(exchange.request, context) {
            do throws(APIError) {
                let token = try await record(visit, &exchange, context)
                url = visit.storeURL(with: token) ?? url
            } catch {
                if error.code == .linkEnded {
                    return try OpenLink.ended(.usedUp, of: visit.app, &exchange, context)
                }
                // A click that cannot be stored must not block the redirect.
                exchange.outcome = "unrecorded"
            }
        }
        return Response(
            .found,
            fields: [
                FieldLine(name: "Location", value: url), .noStore,
                FieldLine(name: "Referrer-Policy", value: "strict-origin"),
            ]
        )
    }

    private static func record(
        _ visit: LinkVisit,
        _ exchange: inout Exchange,
        _ context: LoopContext
    ) async throws(APIError) -> ClickToken? {
        let limiter = context.service.rateLimiters[.clicks]
        if let limiter, let refusal = limiter.take(for: exchange.address, at: exchange.request.firstByteAt) {
            context.service.noteRefusedAddress(of: exchange.request)
            throw .rateLimitExceeded(refusal, limiter.limit)
        }
        let body = ClickBody(
            ofRequestFor: visit.link,
            variant: visit.variant,
            query: visit.query.isEmpty ? nil : QueryItem.query(of: visit.query)
        )
        return try await RecordClick.record(body, of: visit.link, app: visit.app, &exchange, context).token
    }

    /// Whether a person followed the button: not a robot, a program or a prefetch, and not another page that loads
    /// the address as a picture or in a frame, in which the button's own page never is.
    ///
    /// Source: W3C "Fetch Metadata Request Headers", `Sec-Fetch-Dest` and `Sec-Fetch-Mode`.
    private static func isTapped(_ request: Request, _ context: LoopContext) -> Bool {
        guard context.service.settings.robots.robot(request.field("user-agent") ?? "") == nil,
            !AutomaticVisit.isAnnounced(by: request)
        else { return false }
        return [("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")].allSatisfy { name, tapped in
            request.field(name).map { $0 == tapped } ?? true
        }
    }
}

extension LinkVisit {
    /// The address of the store button after the click was recorded; nil where the store takes no token.
    fileprivate func storeURL(with token: ClickToken?) -> String? {
        guard let token, let package = actions.playPackage else { return nil }
        return PlayStoreLink(package: package, token: token, utm: utm)?.text
    }
}

/// The picture of the code on the page for a computer, with which a phone continues.
///
/// It may contain the token of the click that the page has recorded, and so is never cached. Codes for print never
/// contain a token, because a token is used once.
enum HandoffQRCode {
    static func respond(
        _ visit: LinkVisit,
        _ exchange: inout Exchange,
        _ context: LoopContext
    ) throws(APIError) -> Response {
        exchange.outcome = "code"
        let limiter = context.service.rateLimiters[.pictures]
        if let limiter, let refusal = limiter.take(for: exchange.address, at: exchange.request.firstByteAt) {
            throw .rateLimitExceeded(refusal, limiter.limit)
        }
        let text = exchange.queryItem(LinkParameter.token)
        let token = try text.flatMap { $0.isEmpty ? nil : $0 }.map { text throws(APIError) in
            try verified(text, of: visit.app, exchange, context)
        }
        guard let picture = picture(visit, token: token) else {
            throw .notFound("The link is too long for a code")
        }
        return Response(
            .ok,
            fields: [FieldLine(name: "Content-Security-Policy", value: "default-src 'none'"), .noStore],
            contentType: .svg,
            body: Array(picture.svg().utf8)
        )
    }

    /// Leaves the visit's query out where it makes the code too long.
    private static func picture(_ visit: LinkVisit, token: String?) -> QRPicture? {
        if let picture = try? QRPicture(of: visit.codeText(token: token)) { return picture }
        return try? QRPicture(of: visit.address.url())
    }

    /// Verifies the app's own token, so that strangers cannot have codes drawn with other texts.
    private static func verified(_ text: String, of app: App, _ exchange: Exchange, _ context: LoopContext)
        throws(APIError) -> String
    {
        do throws(ClickTokenError) {
            return try ClickToken(
                verifying: text,
                of: app.id,
                among: [],
                signedBy: context.keys.server.all,
                at: exchange.now
            ).text
        } catch {
            throw .notFound("This is not the token of a click on this server", field: LinkParameter.token)
        }
    }
}
