internal import Attribution
internal import HTTPServer
internal import QRCodes

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
