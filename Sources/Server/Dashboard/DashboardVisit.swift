internal import Attribution
internal import HTTPServer

/// A request to the dashboard from a browser that is signed in.
struct DashboardVisit {
    let session: DashboardSession
    /// The key that signed in; nil for a session that a one-time link started.
    let key: APIKey?
    /// The text that every form of this session has, and that no other site can know.
    let formToken: String
    /// The address of the request.
    private(set) var address: DashboardAddress
    /// The fields that a form has sent; empty for a request that only shows a page.
    let form: DashboardForm
    /// The apps and keys that the session's key may see.
    let directory: Directory

    /// Whether the session may change anything; pages show their forms only then.
    var mayChange: Bool { key?.kind != .read }

    /// The same visit, but without the query items of its address.
    var withoutChoices: DashboardVisit {
        var visit = self
        visit.address = DashboardAddress(address.path)
        return visit
    }

    /// Finds the session of the request's cookie, and limits the request to what the session's key may see.
    ///
    /// - Returns: nil if there is no cookie, or if the session or its key has ended.
    static func find(_ exchange: inout Exchange, with form: DashboardForm = DashboardForm())
        async throws(APIError) -> DashboardVisit?
    {
        guard let text = DashboardCookie.text(in: exchange) else { return nil }
        let digest = KeyDigest(of: text)
        guard let session = try await exchange.store(await exchange.stores.sessions.session(digest)),
            session.isOpen(in: exchange.directory, at: exchange.now)
        else { return nil }
        let key = session.key.flatMap(exchange.directory.key)
        exchange.act(as: .session(session.key), with: key)
        if exchange.now.milliseconds(since: session.usedAt) >= 60_000 {
            try await exchange.store(await exchange.stores.sessions.noteUse(of: digest, at: exchange.now))
        }
        return DashboardVisit(
            session: session,
            key: key,
            formToken: formToken(of: text),
            address: DashboardAddress(exchange.request.path, exchange.queryItems),
            form: form,
            directory: exchange.directory
        )
    }

    /// Derives a form's token from the cookie's text, which pages and databases do not contain.
    private static func formToken(of cookie: String) -> String {
        Base64URL.text(of: KeyDigest(of: "form \(cookie)").bytes)
    }

    /// Requires that the form has sent the session's token; the comparison takes constant time.
    func checkToken() throws(APIError) {
        guard let sent = form["token"], KeyDigest(of: sent) == KeyDigest(of: formToken) else {
            throw .forbidden(DashboardText.staleForm)
        }
    }
}

/// The cookie of a session: 32 random bytes in base64url, of which the database has only the digest.
enum DashboardCookie {
    private static let randomByteCount = 32

    static func makeText(_ random: RandomSource) -> String {
        Base64URL.text(of: random.exactly(randomByteCount))
    }

    /// Returns the cookie's name; nil where no session may exist.
    ///
    /// With TLS, the name makes browsers bind the cookie to the host (RFC 6265bis §4.1.3.2). On loopback
    /// without TLS, browsers refuse that name, so the cookie has a plain one.
    static func name(in exchange: Exchange) -> String? {
        guard let origin = exchange.origin else { return nil }
        if origin.hasPrefix("https://") { return "__Host-afterlink" }
        return isLoopback(origin.dropFirst("http://".count)) ? "afterlink" : nil
    }

    private static func isLoopback(_ authority: Substring) -> Bool {
        if authority.hasPrefix("[::1]") { return true }
        let host = authority.prefix { $0 != ":" }
        return host == "localhost" || NetworkAddress(String(host))?.isLoopback == true
    }

    /// Returns the cookie's text in the request; nil if the request has no such cookie.
    static func text(in exchange: Exchange) -> String? {
        guard let name = name(in: exchange) else { return nil }
        for line in exchange.request.fields("cookie") {
            for pair in line.split(separator: ";") {
                let pair = pair.drop { $0 == " " }
                if pair.hasPrefix(name + "=") { return String(pair.dropFirst(name.utf8.count + 1)) }
            }
        }
        return nil
    }

    /// Returns the field that sets the cookie, or removes it if the text is empty.
    static func field(_ name: String, _ text: String) -> FieldLine {
        let secure = name.hasPrefix("__Host-") ? "; Secure" : ""
        let age = text.isEmpty ? 0 : DashboardSession.maximumMilliseconds / 1000
        let value = "\(name)=\(text); Path=/; Max-Age=\(age); HttpOnly; SameSite=Strict\(secure)"
        return FieldLine(name: "Set-Cookie", value: value)
    }
}

/// The fields that a form of the dashboard has sent.
struct DashboardForm {
    let items: [QueryItem]

    fileprivate init() { items = [] }

    /// Reads the body of a POST that comes from the dashboard's own pages.
    ///
    /// - Throws: 403 for a request that another site caused, 415 for a body that is not a form.
    init(_ exchange: Exchange) throws(APIError) {
        let request = exchange.request
        let isOwn =
            if let site = try request.onlyField("Sec-Fetch-Site") {
                site == "same-origin"
            } else {
                try request.onlyField("Origin").map { $0 == exchange.origin } ?? false
            }
        guard isOwn else { throw .forbidden(DashboardText.otherSite) }
        let type = try request.onlyField("Content-Type")?.prefix { $0 != ";" && $0 != " " }
        guard type?.lowercased() == "application/x-www-form-urlencoded" else {
            throw APIError(
                status: .unsupportedMediaType,
                code: .unsupportedMediaType,
                message: DashboardText.notAForm
            )
        }
        items = QueryItem.items(ofQuery: String(decoding: request.body, as: UTF8.self)[...].utf8)
    }

    subscript(name: String) -> String? { items.first { $0.name == name }?.value }
}
