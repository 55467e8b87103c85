internal import Attribution
internal import HTTPServer
internal import QRCodes

extension Routes {
    /// Makes the routes of the dashboard's address.
    static func makeDashboard() -> [Route] { leadingToPages(makePages()) }

    /// Makes the routes of pages and forms.
    ///
    /// To add a page, write a file with its function, and add rows here and in ``DashboardSection``.
    static func makePages() -> [Route] {
        [
            Route(.get, "/healthz", .anyone, CheckHealth.respond),
            open(.get, "/sign-in", SignIn.show),
            open(.post, "/sign-in", SignIn.signIn),
            open(.get, "/enter/{link}", SignIn.showLink),
            open(.post, "/enter", SignIn.spendLink),
            action("/sign-out", changes: false, SignIn.signOut),
            page("/", OverviewPage.make),
            page("/launches", LaunchesPage.make),
            page("/launches/{id}", LaunchPage.make),
            page("/links", LinksPage.make),
            page("/links/new", LinkFormPage.new),
            action("/links/new", LinkFormPage.create),
            page("/links/{id}", LinkDetailPage.make),
            page("/links/{id}/edit", LinkFormPage.edit),
            action("/links/{id}/edit", of: LinkFormPage.record, LinkFormPage.change),
            action("/links/{id}/archive", LinkDetailPage.setArchived(true)),
            action("/links/{id}/restore", LinkDetailPage.setArchived(false)),
            action("/links/{id}/delete", LinkDetailPage.delete),
            page("/links/{id}/qr.svg", LinkDetailPage.code(.svg, as: .svg)),
            page("/links/{id}/qr.png", LinkDetailPage.code(.png, as: .png)),
            page("/live", LivePage.make),
            page("/live/now", LivePage.now),
            page("/live/stream", LivePage.stream),
            page("/export/{file}", PanelFile.make),
            page("/campaigns", CampaignsPage.make),
            page(OneCampaignPage.path, OneCampaignPage.make),
            page(EventsPage.path, EventsPage.make),
            page("/matching", MatchingPage.make),
            action("/matching/compare", PolicyGridPanel.request),
            page("/domains", DomainsPage.make),
            page("/postbacks", PostbacksPage.make),
            action("/postbacks", PostbacksPage.create),
            page("/postbacks/{id}", PostbackPage.make),
            action("/postbacks/{id}/enable", PostbackPage.set(.enabled)),
            action("/postbacks/{id}/disable", PostbackPage.set(.disabled)),
            action("/postbacks/{id}/test", PostbackPage.test),
            action("/postbacks/{id}/replay", PostbackPage.replay),
            action("/postbacks/{id}/rotate", PostbackPage.rotate),
            action("/domains/probe", DomainsPage.probe),
            page("/apple", ApplePage.make),
            page("/system", SystemPage.make),
            page("/try", TrialPage.make),
            action("/try", TrialPage.run),
            page("/settings", SettingsPage.make),
            page("/settings/audit", AuditLogPage.make),
            action("/settings/apps", of: SettingsForms.record, SettingsForms.changeApp),
            action("/settings/keys", SettingsForms.createKey),
            action("/settings/keys/revoke", SettingsForms.revokeKey),
            action("/settings/sessions/end", SettingsForms.endSession),
            action("/settings/sessions/end-others", SettingsForms.endOthers),
            page("/settings/held", HeldPage.make),
            action("/settings/held/erase", HeldPage.erase),
            open(.get, "/files/{name}", DashboardFile.respond),
            // This route takes every other path.
            Route(.get, "/{path...}", .anyone, limitedAs: .admin, needsDirectory: true) { exchange in
                let visit = try? await DashboardVisit.find(&exchange)
                return errorPage(.notFound(DashboardText.noPage), visit: visit)
            },
        ]
    }

    /// For each form whose path has no page, adds a GET that redirects to the page above the form.
    ///
    /// A browser sends this GET if a person enters the address of a refused form again.
    private static func leadingToPages(_ routes: [Route]) -> [Route] {
        let pages = Set(routes.filter { $0.method == .get }.map(\.path))
        return routes
            + routes.filter { $0.method == .post && !pages.contains($0.path) }.map { form in
                @Sendable func parts(_ path: String) -> [Substring] { path.split(separator: "/") }
                @Sendable func path(_ parts: ArraySlice<Substring>) -> String {
                    "/" + parts.joined(separator: "/")
                }
                let all = parts(form.path)
                let count = all.indices.last { pages.contains(path(all[..<$0])) } ?? 0
                return open(.get, form.path) { exchange in
                    DashboardPage.redirect(to: path(parts(exchange.request.path).prefix(count)))
                }
            }
    }

    typealias Page = @Sendable (inout Exchange, DashboardVisit) async throws(APIError) -> Reply

    /// Makes a route that needs no session.
    private static func open(_ method: Method, _ path: String, _ endpoint: @escaping Route.Endpoint) -> Route
    {
        Route(method, path, .anyone, limitedAs: .admin, needsDirectory: true) { exchange in
            do throws(APIError) {
                return try await endpoint(&exchange)
            } catch {
                return errorPage(error, visit: nil)
            }
        }
    }

    /// Makes a route of a page; without a session, it redirects to the sign-in page, which leads back to the page.
    private static func page(_ path: String, _ make: @escaping Page) -> Route {
        Route(.get, path, .anyone, limitedAs: .admin, needsDirectory: true) { exchange in
            var visit: DashboardVisit?
            do throws(APIError) {
                visit = try await DashboardVisit.find(&exchange)
                guard let visit else { return signIn(next: exchange) }
                let reply = try await make(&exchange, visit)
                if case .page(let page) = reply, let file = try page.file(exchange, visit) { return file }
                return reply.response(visit)
            } catch { return errorPage(error, visit: visit) }
        }
    }

    /// Makes a route of a form, whose origin, session and token are checked first.
    ///
    /// If the form `changes` anything, a read key's session gets 403. If the form writes a whole record that has changed
    /// since the form was filled, the answer is 409 with the record and with what was entered.
    private static func action(
        _ path: String,
        changes: Bool = true,
        of record: FormRecord.Reader? = nil,
        _ perform: @escaping Page
    ) -> Route {
        Route(.post, path, .anyone, limitedAs: .admin, needsDirectory: true) { exchange in
            var visit: DashboardVisit?
            do throws(APIError) {
                let form = try DashboardForm(exchange)
                visit = try await DashboardVisit.find(&exchange, with: form)
                guard let visit else { return DashboardPage.redirect(to: "/sign-in") }
                try visit.checkToken()
                guard visit.mayChange || !changes else { throw .forbidden(DashboardText.mayNotChange) }
                guard let record else { return try await perform(&exchange, visit).response(visit) }
                do throws(APIError) {
                    try await record(exchange, form).check(form)
                    return try await perform(&exchange, visit).response(visit)
                } catch {
                    guard error.code == .conflict, error.field == nil else { throw error }
                    // The record had changed before the check, or changed between the check and the write, which compares
                    // it again. The answer shows the record as it is now.
                    try await exchange.readDirectory()
                    return try await record(exchange, form).conflict(visit).response(visit: visit)
                }
            } catch { return errorPage(error, visit: visit) }
        }
    }

    private static func signIn(next exchange: Exchange) -> Response {
        let here = DashboardAddress(exchange.request.path, exchange.queryItems).text
        let address = DashboardAddress("/sign-in").with("next", here == "/" ? nil : here)
        return DashboardPage.redirect(to: address.text)
    }

    static func errorPage(_ error: APIError, visit: DashboardVisit?) -> Response {
        // If a choice is wrong, the links to other pages must not repeat it.
        let visit = error.field == nil ? visit : visit?.withoutChoices
        let (title, fields) = (DashboardText.problem, error.responseFields)
        let page = DashboardPage(title: title, status: error.status, statusFields: fields) { html in
            for message in error.problems.isEmpty ? [error.message] : error.problems.map(\.message) {
                let text = message.hasSuffix(".") ? message : message + "."
                html.element("p", ["class": "bad", "role": "alert"], text)
            }
            // Without a session, the page has no header, and so no other link.
            guard visit != nil else {
                return html.paragraph(linkingTo: DashboardAddress("/"), DashboardText.overview)
            }
            html.correction(of: error)
        }
        return page.response(visit: visit)
    }
}

/// What the function of a page or of a form returns.
enum Reply {
    case page(DashboardPage)
    case redirect(DashboardAddress)
    /// A response that is no page, such as a file, with ``DashboardPage/fields``.
    case response(Response)

    static func page(title: String, _ content: @escaping (inout HTML) -> Void) -> Reply {
        .page(DashboardPage(title: title, content: content))
    }

    static func redirect(to path: String) -> Reply { .redirect(DashboardAddress(path)) }

    fileprivate func response(_ visit: DashboardVisit) -> Response {
        switch self {
        case .page(let page): page.response(visit: visit)
        case .redirect(let address): DashboardPage.redirect(to: address.text)
        case .response(let response): response
        }
    }
}

/// A file of the dashboard, with the digest of its content in its name, so that browsers may cache it for a year.
struct DashboardFile: Sendable {
    let path: String
    let body: [UInt8]
    let type: ContentType

    private init(_ name: String, _ type: ContentType) {
        body = Array((EmbeddedDashboard.files.first { $0.name == name }?.text ?? "").utf8)
        self.type = type
        let digest = EntityTag(of: body).text.filter { $0 != "\"" }.prefix(16)
        path = "/files/\(digest)-\(name)"
    }

    static let style = DashboardFile("style.css", .css)
    static let script = DashboardFile("script.js", .javaScript)

    /// `GET /files/{name}`: returns a file; the name must contain the digest of its current content.
    static func respond(_ exchange: inout Exchange) async throws(APIError) -> Response {
        let path = exchange.request.path
        guard let file = [style, script].first(where: { $0.path == path }) else {
            throw .notFound(DashboardText.noPage)
        }
        let caching = "public, max-age=31536000, immutable"
        return Response(file.body, as: file.type, cacheControl: caching, for: exchange.request)
    }
}
