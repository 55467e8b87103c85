internal import Attribution
internal import HTTPServer

/// The pages before a session: the form for a key, the page of a one-time link, and the end of a session.
enum SignIn {
    /// `GET /sign-in`: shows the form for a key; returns 403 over plain HTTP from another machine.
    static func show(_ exchange: inout Exchange) async throws(APIError) -> Response {
        _ = try cookieName(exchange)
        return page(next: exchange.queryItem("next"), problem: nil).response(visit: nil)
    }

    /// `POST /sign-in`: starts a session for a key; counts a failure against the client's address.
    static func signIn(_ exchange: inout Exchange) async throws(APIError) -> Response {
        let form = try DashboardForm(exchange)
        let name = try cookieName(exchange)
        let next = form["next"]
        if let refusal = refusal(exchange, next: next) { return refusal }
        let digest = KeyDigest(of: (form["key"] ?? "").filter { !$0.isWhitespace })
        guard let key = exchange.directory.key(digest), key.isValid(at: exchange.now), key.kind.signsIn else {
            noteFailure(exchange)
            return page(next: next, problem: DashboardText.wrongKey, .forbidden).response(visit: nil)
        }
        exchange.stores.apps.noteUse(of: key.id, at: exchange.now)
        let (session, text) = newSession(of: key.id, exchange)
        try await exchange.store(await exchange.stores.sessions.start(session))
        log(.info, "\(key.id.text) signed in", exchange)
        return DashboardPage.redirect(to: safe(next), [DashboardCookie.field(name, text)])
    }

    /// `GET /enter/{link}`: shows a button, because programs that preview links must not use up the one-time
    /// link; returns 403 over plain HTTP from another machine.
    static func showLink(_ exchange: inout Exchange) async throws(APIError) -> Response {
        _ = try cookieName(exchange)
        let link = exchange.parameter ?? ""
        return DashboardPage(title: DashboardText.signIn) { html in
            html.element("form", ["method": "post", "action": "/enter", "class": "card"]) { html in
                html.hidden("link", link)
                html.paragraph(DashboardText.linkExplained)
                html.element("button", ["type": "submit"], DashboardText.signIn)
            }
        }
        .response(visit: nil)
    }

    /// `POST /enter`: uses up a one-time link, and starts a session.
    static func spendLink(_ exchange: inout Exchange) async throws(APIError) -> Response {
        let form = try DashboardForm(exchange)
        let name = try cookieName(exchange)
        if let refusal = refusal(exchange, next: nil) { return refusal }
        let (session, text) = newSession(of: nil, exchange)
        let link = KeyDigest(of: form["link"] ?? "")
        let isStarted = try await exchange.store(await exchange.stores.sessions.start(session, by: link))
        guard isStarted else {
            noteFailure(exchange)
            return page(next: nil, problem: DashboardText.spentLink, .forbidden).response(visit: nil)
        }
        log(.info, "a one-time link signed in", exchange)
        return DashboardPage.redirect(to: "/", [DashboardCookie.field(name, text)])
    }

    /// `POST /sign-out`: ends the session.
    static func signOut(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError) -> Reply {
        try await exchange.store(await exchange.stores.sessions.end(visit.session.digest, by: exchange.actor))
        let cookie = DashboardCookie.field(try cookieName(exchange), "")
        return .response(DashboardPage.redirect(to: "/sign-in", [cookie]))
    }

    /// Returns the response to an address with too many failures; nil if it may try again.
    private static func refusal(_ exchange: Exchange, next: String?) -> Response? {
        let (limiter, now) = (exchange.service.signInLimiter, exchange.request.firstByteAt)
        guard let refusal = limiter.refusal(for: exchange.address, at: now) else { return nil }
        var page = page(next: next, problem: DashboardText.tooManyFailures, .tooManyRequests)
        page.statusFields = [FieldLine(name: "Retry-After", value: String(refusal.retryAfter))]
        return page.response(visit: nil)
    }

    private static func noteFailure(_ exchange: Exchange) {
        log(.warning, "a sign-in failed", exchange)
        _ = exchange.service.signInLimiter.take(for: exchange.address, at: exchange.request.firstByteAt)
    }

    private static func log(_ level: LogLevel, _ event: String, _ exchange: Exchange) {
        exchange.service.log.event(level, "dashboard: \(event), request \(exchange.requestID)")
    }

    private static func newSession(of key: KeyID?, _ exchange: Exchange) -> (DashboardSession, String) {
        let text = DashboardCookie.makeText(exchange.service.random)
        let now = exchange.now
        let session = DashboardSession(
            digest: KeyDigest(of: text),
            key: key,
            createdAt: now,
            usedAt: now,
            expiresAt: now.advanced(byMilliseconds: DashboardSession.maximumMilliseconds)
        )
        return (session, text)
    }

    /// - Throws: 403 if the request came over HTTP from another machine: every machine on the way could read the
    ///   cookie.
    private static func cookieName(_ exchange: Exchange) throws(APIError) -> String {
        guard let name = DashboardCookie.name(in: exchange) else { throw .forbidden(DashboardText.needsTLS) }
        return name
    }

    /// Returns `next` if it is a path of this dashboard, and `/` otherwise, for example for another site's address.
    private static func safe(_ next: String?) -> String {
        guard let next, next.utf8.first == UInt8(ascii: "/"), !next.hasPrefix("//"),
            next.utf8.allSatisfy({ (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "\\") })
        else { return "/" }
        return next
    }

    private static func page(next: String?, problem: String?, _ status: Status = .ok) -> DashboardPage {
        DashboardPage(title: DashboardText.signIn, status: status) { html in
            html.element("form", ["method": "post", "action": "/sign-in", "class": "card"]) { html in
                if let problem { html.element("p", ["class": "bad", "role": "alert"], problem) }
                html.hidden("next", next)
                let field: HTML.Attributes = [
                    "type": "password", "name": "key", "required": "", "autocomplete": "off", "autofocus": "",
                ]
                html.labelled(DashboardText.key) { $0.open("input", field) }
                html.element("button", ["type": "submit"], DashboardText.signIn)
                html.paragraph(DashboardText.otherSignIn)
                // If a person comes from another site, the browser sends no cookie with `SameSite=Strict`, not even
                // after a redirect. It sends the cookie when the person follows this link.
                guard let next, safe(next) == next else { return }
                html.paragraph(linkingTo: DashboardAddress(next), DashboardText.signedInAlready)
            }
        }
    }
}
