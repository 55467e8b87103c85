internal import Attribution
internal import HTTPServer

/// The store button of a page that ran no script: the click is told from the request alone, and the visitor goes on.
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
                    return try OpenLink.ended(.usedUp, visit.app, &exchange, context)
                }
                // Whatever keeps a click from being stored keeps nobody from the store.
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

    /// Whether a person follows the button: no robot, no program, nobody who looks ahead, and no other page that loads the
    /// address as a picture or in a frame, which the button's own page is never in.
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
    /// Where the store button leads after the click was told; nil where the store takes no token.
    fileprivate func storeURL(with token: ClickToken?) -> String? {
        guard let token, let package = handOver.playPackage else { return nil }
        return PlayStoreLink(package: package, token: token, utm: utm)?.text
    }
}
