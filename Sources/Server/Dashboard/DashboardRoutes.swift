internal import Attribution
internal import HTTPServer

extension Routes {
    /// Makes the routes of the dashboard's address.
    ///
    /// To add a page, write a file with its function, and add a row here and a case of ``DashboardSection``.
    static func makeDashboard() -> [Route] {
        [
            Route(.get, "/healthz", .anyone, CheckHealth.respond),
            open(.get, "/sign-in", SignIn.show),
            open(.post, "/sign-in", SignIn.signIn),
            open(.get, "/enter/{link}", SignIn.showLink),
            open(.post, "/enter", SignIn.spendLink),
            action("/sign-out", SignIn.signOut),
            page("/", OverviewPage.make),
            page("/launches", LaunchesPage.make),
            page("/launches/{id}", LaunchPage.make),
            page("/settings/held", HeldPage.make),
            action("/settings/held/erase", HeldPage.erase),
            open(.get, "/files/{name}", DashboardFile.respond),
            // This route takes every other path.
            page("/{path...}") { _, _ throws(APIError) in throw .notFound(DashboardText.noPage) },
        ]
    }

    private typealias Page =
        @Sendable (inout Exchange, DashboardVisit) async throws(APIError) -> DashboardResult
    private typealias Action =
        @Sendable (inout Exchange, DashboardVisit, DashboardForm) async throws(APIError) -> Response

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

    /// Makes a route of a page, which without a session leads to the form for a key and then back to the page.
    private static func page(_ path: String, _ make: @escaping Page) -> Route {
        Route(.get, path, .anyone, limitedAs: .admin, needsDirectory: true) { exchange in
            var visit: DashboardVisit?
            do throws(APIError) {
                visit = try await DashboardVisit.find(&exchange)
                guard let visit else { return signIn(next: exchange) }
                switch try await make(&exchange, visit) {
                case .page(let page): return page.response(visit: visit)
                case .redirect(let address): return DashboardPage.redirect(to: address.text)
                }
            } catch {
                return errorPage(error, visit: visit)
            }
        }
    }

    /// Makes a route of a form, whose origin, session and token are checked first.
    private static func action(_ path: String, _ perform: @escaping Action) -> Route {
        Route(.post, path, .anyone, limitedAs: .admin, needsDirectory: true) { exchange in
            var visit: DashboardVisit?
            do throws(APIError) {
                let form = try DashboardForm(exchange)
                visit = try await DashboardVisit.find(&exchange)
                guard let visit else { return DashboardPage.redirect(to: "/sign-in") }
                try visit.check(form)
                return try await perform(&exchange, visit, form)
            } catch {
                return errorPage(error, visit: visit)
            }
        }
    }

    private static func signIn(next exchange: Exchange) -> Response {
        let here = DashboardAddress(exchange.request.path, exchange.queryItems).text
        let address = DashboardAddress("/sign-in").with("next", here == "/" ? nil : here)
        return DashboardPage.redirect(to: address.text)
    }

    private static func errorPage(_ error: APIError, visit: DashboardVisit?) -> Response {
        let page = DashboardPage(title: DashboardText.problem, status: error.status, isOpen: visit == nil) {
            $0.element("p", ["class": "bad", "role": "alert"], error.message)
        }
        var response = page.response(visit: visit)
        response.fields += error.fieldLines
        if let retryAfter = error.retryAfter {
            response.fields.append(FieldLine(name: "Retry-After", value: String(retryAfter)))
        }
        return response
    }
}

/// What a page's function returns.
enum DashboardResult {
    case page(DashboardPage)
    case redirect(DashboardAddress)
}

/// A file of the dashboard, with the digest of its content in its name, so that browsers keep it for good.
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

    /// `GET /files/{name}`: a file under its present name.
    static func respond(_ exchange: inout Exchange) async throws(APIError) -> Response {
        let path = exchange.request.path
        guard let file = [style, script].first(where: { $0.path == path }) else {
            throw .notFound(DashboardText.noPage)
        }
        let caching = "public, max-age=31536000, immutable"
        return Response(file.body, as: file.type, cacheControl: caching, for: exchange.request)
    }
}
