internal import Attribution
internal import HTTPServer
internal import Threads

/// Responds to the requests of one event loop: finds the route, checks the key, calls the endpoint, and writes the line
/// in the log.
final class ServiceHandler: RequestHandler {
    private let loop: LoopContext
    private let router: Router
    private let metrics: LoopMetrics
    private var requestIDs: RequestIDs
    private var requestLog: RequestLog
    /// Whether pages of other origins may call any of the routes.
    private let isCrossOrigin: Bool
    /// The dashboard's host, and the router that serves this host instead of ``router``; nil without such a host.
    private let dashboard: (host: LinkHost, router: Router)?
    /// Whether this handler serves only the routes of the dashboard.
    private let isDashboard: Bool

    init(
        service: Service,
        routes: [Route],
        stores: Stores,
        dashboard: [Route] = [],
        isDashboard: Bool = false
    ) {
        self.isDashboard = isDashboard
        self.dashboard = service.settings.dashboardHost.flatMap { host in
            dashboard.isEmpty ? nil : (host, Router(dashboard))
        }
        loop = LoopContext(service: service, stores: stores)
        router = Router(routes)
        isCrossOrigin = routes.contains(where: \.isCrossOrigin)
        metrics = service.metrics.makeLoopMetrics(for: routes)
        requestIDs = RequestIDs(random: service.random)
        requestLog = RequestLog(log: service.log)
    }

    func respond(to request: Request) async -> Response {
        let router = answersDashboard(request) ? dashboard?.router ?? self.router : self.router
        let match = request.withPathBytes { router.route(request.method, $0) }
        var line = RequestLog.Line(requestID: requestIDs.identify(request), method: request.method.rawValue)
        // The fallback's route also gets methods that it does not allow. As on other paths, such a request is logged
        // and counted without a route.
        if case .found(let route, _) = match, [route.method, .head].contains(request.method) {
            line.route = route
        }
        var response: Response
        do throws(APIError) {
            response = try await respond(to: request, match, &line)
        } catch {
            response = self.response(to: error, request)
        }
        finish(&response, &line, since: request.firstByteAt)
        return response
    }

    /// Returns whether a request is for the dashboard's host, and no app lists this host as a link host or web host.
    private func answersDashboard(_ request: Request) -> Bool {
        dashboard.map { host(of: request) == $0.host } == true && !isForApp(request)
    }

    /// Returns whether a request is for a host that an app lists as a link host or web host.
    ///
    /// The dashboard is not served on such a host: a browser sends a host's cookies to all its ports, so the app's
    /// pages would get the dashboard's session cookie.
    private func isForApp(_ request: Request) -> Bool {
        guard let host = host(of: request), let directory = try? loop.stores.apps.directory() else {
            return false
        }
        return directory.apps.contains {
            LinkHostChange.problem(of: $0.settings, withDashboardAt: host) != nil
        }
    }

    private func host(of request: Request) -> LinkHost? {
        request.authority(trusting: loop.service.settings.trustedProxies).flatMap { LinkHost($0) }
    }

    func respond(to rejection: Rejection) -> Response {
        var line = RequestLog.Line(requestID: requestIDs.make(), method: "-")
        var response = self.response(to: APIError(rejection), rejection.firstByteAt)
        if isCrossOrigin { allowOrigin(rejection.origin, &response) }
        finish(&response, &line, since: rejection.firstByteAt)
        return response
    }

    func loopTurnWillBegin(connectionCount: Int) { loop.stores.beginTurn(with: connectionCount) }

    func loopTurnDidEnd() {
        loop.stores.endTurn()
        requestLog.flush()
    }

    private func respond(
        to request: Request,
        _ match: Router.Result,
        _ line: inout RequestLog.Line
    ) async throws(APIError) -> Response {
        guard !isDashboard || request.path == "/healthz" || !isForApp(request) else {
            throw .notFound("The dashboard does not answer on the host of an app")
        }
        switch match {
        case .unknownPath:
            guard !KeyInURL.isFound(in: request) else { throw .keyInURL }
            guard request.method == .options, request.path == "*" else {
                throw .notFound("There is nothing at this path")
            }
            return Response(.noContent, fields: [FieldLine(name: "Allow", value: "GET, HEAD, POST, OPTIONS")])
        case .wrongMethod(let allowed, let isCrossOrigin):
            return refuseMethod(of: request, allowed: allowed, isCrossOrigin: isCrossOrigin, line.requestID)
        case .found(let route, let parameter):
            var directory = Directory(apps: [], keys: [])
            if route.needsDirectory {
                do throws(APIError) {
                    directory = try self.directory(line.requestID)
                } catch {
                    return response(to: error, request, isCrossOrigin: route.isCrossOrigin)
                }
            }
            var exchange = Exchange(
                request: request,
                loop: loop,
                requestID: line.requestID,
                now: try loop.service.moment(of: request),
                parameter: parameter,
                address: Exchange.clientAddress(of: request, trusting: loop.service.settings.trustedProxies),
                directory: directory
            )
            let response = await call(route, &exchange)
            (line.app, line.outcome) = (exchange.app, exchange.outcome)
            return response
        }
    }

    private func refuseMethod(
        of request: Request,
        allowed: String,
        isCrossOrigin: Bool,
        _ requestID: String
    ) -> Response {
        var response: Response
        if KeyInURL.isFound(in: request) {
            response = self.response(to: .keyInURL, request)
        } else if request.method == .options {
            response = CrossOrigin.preflight(allowed: allowed, isCrossOrigin)
        } else {
            response = self.response(to: .methodNotAllowed(allow: allowed), request)
        }
        guard isCrossOrigin else { return response }
        do throws(APIError) {
            CrossOrigin.allow(request.field("origin"), app: nil, try directory(requestID), &response)
        } catch {
            // The apps could not be read. A browser would store a permission for a day, so it gets an error instead.
            response = self.response(to: error, request, isCrossOrigin: true)
        }
        return response
    }

    /// Creates the response to a request for which the apps could not be read.
    private func response(to error: APIError, _ request: Request, isCrossOrigin: Bool) -> Response {
        var response = response(to: error, request)
        if isCrossOrigin { CrossOrigin.allowAny(&response) }
        return response
    }

    /// Lets a browser's page read the response to bytes that the HTTP server rejected before they became a request.
    private func allowOrigin(_ origin: String?, _ response: inout Response) {
        do throws(StoreError) {
            CrossOrigin.allow(origin, app: nil, try loop.stores.apps.directory(), &response)
        } catch { CrossOrigin.allowAny(&response) }
    }

    /// Counts an error and creates its response: a page for a browser that asked for the dashboard.
    private func response(to error: APIError, _ request: Request) -> Response {
        let response = response(to: error, request.firstByteAt)
        guard request.wantsPage, isDashboard || answersDashboard(request) else { return response }
        return Routes.errorPage(error.spread(by: request.firstByteAt), visit: nil)
    }

    /// Counts an error and creates its response.
    private func response(to error: APIError, _ firstByteAt: MonotonicTime) -> Response {
        metrics.count(error.code)
        return Response(error.spread(by: firstByteAt))
    }

    private func call(_ route: Route, _ exchange: inout Exchange) async -> Response {
        let request = exchange.request
        // Native apps send no `Origin`, and they send nearly all checks. Such a check skips the steps for browsers.
        let hasOrigin = route.isCrossOrigin && request.hasField("origin")
        var response: Response
        do throws(APIError) {
            guard !KeyInURL.isFound(in: request) else { throw .keyInURL }
            if let limitClass = route.rateLimitClass { try exchange.checkRate(limitClass) }
            exchange.key = try exchange.findKey(for: route.access)
            if let key = exchange.key {
                exchange.app = key.app
                exchange.act(as: .key(key.id), with: key)
                loop.stores.apps.noteUse(of: key.id, at: exchange.now)
            }
            if hasOrigin { _ = try request.onlyField("Origin") }
            if let names = route.queryNames { try exchange.checkQueryNames(names) }
            response = try await route.endpoint(&exchange)
        } catch { response = self.response(to: error, request) }
        if route.isCrossOrigin, !route.consumes || hasOrigin {
            let (directory, origin) = (exchange.directory, request.field("origin"))
            CrossOrigin.allow(origin, app: exchange.app.flatMap(directory.app), directory, &response)
        }
        return response
    }

    private func directory(_ requestID: String) throws(APIError) -> Directory {
        do throws(StoreError) {
            return try loop.stores.apps.directory()
        } catch {
            throw APIError(error, requestID: requestID)
        }
    }

    /// Adds the request id to the response, counts it, and logs it.
    private func finish(
        _ response: inout Response,
        _ line: inout RequestLog.Line,
        since firstByteAt: MonotonicTime
    ) {
        response.fields.append(FieldLine(name: "X-Request-ID", value: line.requestID))
        line.at = loop.service.clock.now()
        line.status = response.status.code
        line.byteCount = response.body.count
        line.microseconds = MonotonicTime.now().nanoseconds(since: firstByteAt) / 1000
        metrics.count(route: line.route, status: response.status, microseconds: line.microseconds)
        requestLog.append(line)
    }
}
