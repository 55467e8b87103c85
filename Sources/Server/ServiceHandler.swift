internal import Attribution
internal import HTTPServer
internal import Threads

/// Answers the requests of one event loop: finds the route, checks the key, calls the endpoint, and writes
/// the line in the log.
final class ServiceHandler: RequestHandler {
    private let context: LoopContext
    private let router: Router
    private let metrics: LoopMetrics
    private var requestIDs: RequestIDs
    private var requestLog: RequestLog
    /// Whether pages of other origins call anything here.
    private let isCrossOrigin: Bool

    init(service: Service, routes: [Route], stores: Stores) {
        context = LoopContext(service: service, stores: stores)
        let routes = routes.map(Route.init(copying:))
        router = Router(routes)
        isCrossOrigin = routes.contains(where: \.isCrossOrigin)
        metrics = service.metrics.makeLoopMetrics(for: routes)
        requestIDs = RequestIDs(random: service.random)
        requestLog = RequestLog(log: service.log)
    }

    func respond(to request: Request) async -> Response {
        let requestID = requestIDs.identify(request)
        let match = request.withPathBytes { router.route(request.method, $0) }
        var ending = Ending()
        var response: Response
        do throws(APIError) {
            response = try await answer(request, requestID, match, &ending)
        } catch {
            response = self.response(to: error, request.firstByteAt)
        }
        response.fields.append(FieldLine(name: "X-Request-ID", value: requestID))
        finish(
            request.firstByteAt,
            request.method.rawValue,
            match,
            requestID,
            response.status,
            response.body.count,
            ending
        )
        return response
    }

    func respond(to rejection: Rejection) -> Response {
        let requestID = requestIDs.make()
        var response = self.response(to: APIError(rejection), rejection.firstByteAt)
        if isCrossOrigin { allowOrigin(rejection.origin, &response) }
        response.fields.append(FieldLine(name: "X-Request-ID", value: requestID))
        finish(
            rejection.firstByteAt,
            "-",
            .unknownPath,
            requestID,
            response.status,
            response.body.count,
            Ending()
        )
        return response
    }

    func loopTurnWillBegin(connectionCount: Int) {
        context.stores.beginTurn(connectionCount)
    }

    func loopTurnDidEnd() {
        context.stores.endTurn()
        requestLog.flush()
    }

    /// What the log line says besides the answer.
    private struct Ending {
        var app: AppID?
        var outcome: String?
    }

    private func answer(
        _ request: Request,
        _ requestID: String,
        _ match: Router.Result,
        _ ending: inout Ending
    ) async throws(APIError) -> Response {
        switch match {
        case .unknownPath:
            guard !KeyInURL.isFound(in: request) else { throw .keyInURL }
            guard request.method == .options, request.path == "*" else {
                throw .notFound("There is nothing at this path")
            }
            return Response(.noContent, fields: [FieldLine(name: "Allow", value: "GET, HEAD, POST, OPTIONS")])
        case .wrongMethod(let allowed, let isCrossOrigin):
            return answerWrongMethod(request, requestID, allowed: allowed, isCrossOrigin)
        case .found(let route, let parameter):
            guard route.needsDirectory else {
                let nobody = Directory(apps: [], keys: [])
                return try await call(route, parameter, request, requestID, nobody, &ending)
            }
            let directory: Directory
            do throws(APIError) {
                directory = try self.directory(requestID)
            } catch {
                return withoutDirectory(error, request, route.isCrossOrigin)
            }
            return try await call(route, parameter, request, requestID, directory, &ending)
        }
    }

    private func answerWrongMethod(
        _ request: Request,
        _ requestID: String,
        allowed: String,
        _ isCrossOrigin: Bool
    ) -> Response {
        var response: Response
        if KeyInURL.isFound(in: request) {
            response = self.response(to: .keyInURL, request.firstByteAt)
        } else if request.method == .options {
            response = CrossOrigin.preflight(allowed: allowed, isCrossOrigin)
        } else {
            response = self.response(to: .methodNotAllowed(allow: allowed), request.firstByteAt)
        }
        guard isCrossOrigin else { return response }
        do throws(APIError) {
            CrossOrigin.allow(request.field("origin"), app: nil, try directory(requestID), &response)
        } catch {
            // A permission that a browser would keep for a day is not given without knowing the apps.
            response = withoutDirectory(error, request, isCrossOrigin)
        }
        return response
    }

    /// An answer while the apps cannot be read.
    private func withoutDirectory(_ error: APIError, _ request: Request, _ isCrossOrigin: Bool) -> Response {
        var response = response(to: error, request.firstByteAt)
        if isCrossOrigin { CrossOrigin.allowAny(&response) }
        return response
    }

    /// Lets the page read why its request was refused before it was one.
    private func allowOrigin(_ origin: String?, _ response: inout Response) {
        do throws(StoreError) {
            CrossOrigin.allow(origin, app: nil, try context.stores.apps.directory(), &response)
        } catch {
            CrossOrigin.allowAny(&response)
        }
    }

    /// An error as an answer, counted.
    private func response(to error: APIError, _ firstByteAt: MonotonicTime) -> Response {
        metrics.count(error.code)
        return Response(error.spread(by: firstByteAt))
    }

    private func call(
        _ route: Route,
        _ parameter: String?,
        _ request: Request,
        _ requestID: String,
        _ directory: Directory,
        _ ending: inout Ending
    ) async throws(APIError) -> Response {
        var exchange = Exchange(
            request: request,
            requestID: requestID,
            now: try context.service.moment(of: request),
            parameter: parameter,
            address: ClientAddress.of(request, trusting: context.service.settings.trustedProxies),
            directory: directory
        )
        // Apps send no origin and read no such fields: a check, which is nearly always theirs, goes without.
        let hasOrigin = route.isCrossOrigin && request.hasField("origin")
        var response: Response
        do throws(APIError) {
            guard !KeyInURL.isFound(in: request) else { throw .keyInURL }
            if let limitClass = route.rateLimitClass { try checkRate(exchange, limitClass) }
            exchange.key = try Authentication.key(
                of: request,
                for: route.access,
                in: directory,
                at: exchange.now
            )
            if let key = exchange.key {
                exchange.app = key.app
                context.stores.apps.noteUse(of: key.id, at: exchange.now)
            }
            if hasOrigin { _ = try request.onlyField("Origin") }
            if let names = route.queryNames { try exchange.checkQueryNames(names) }
            response = try await route.endpoint(&exchange, context)
        } catch {
            response = self.response(to: error, request.firstByteAt)
        }
        if route.isCrossOrigin, !route.consumes || hasOrigin {
            CrossOrigin.allow(
                request.field("origin"),
                app: exchange.app.flatMap(directory.app),
                directory,
                &response
            )
        }
        ending = Ending(app: exchange.app, outcome: exchange.outcome)
        return response
    }

    private func checkRate(_ exchange: Exchange, _ limitClass: RateLimitClass) throws(APIError) {
        guard let limiter = context.service.rateLimiters[limitClass],
            let refusal = limiter.take(for: exchange.address, at: exchange.request.firstByteAt),
            !isFromCustomer(exchange)
        else { return }
        context.service.noteRefusedAddress(of: exchange.request)
        throw .rateLimitExceeded(refusal, limiter.limit)
    }

    /// A customer's own back end sends everybody's clicks and checks from one address.
    private func isFromCustomer(_ exchange: Exchange) -> Bool {
        let key = try? Authentication.key(
            of: exchange.request,
            for: .anyoneOrKey([.server]),
            in: exchange.directory,
            at: exchange.now
        )
        return key?.kind == .server
    }

    private func directory(_ requestID: String) throws(APIError) -> Directory {
        do throws(StoreError) {
            return try context.stores.apps.directory()
        } catch {
            throw APIError(error, requestID: requestID)
        }
    }

    private func finish(
        _ firstByteAt: MonotonicTime,
        _ method: String,
        _ match: Router.Result,
        _ requestID: String,
        _ status: Status,
        _ byteCount: Int,
        _ ending: Ending
    ) {
        let microseconds = MonotonicTime.now().nanoseconds(since: firstByteAt) / 1000
        var route: Route?
        if case .found(let found, _) = match { route = found }
        metrics.count(route: route, status: status, microseconds: microseconds)
        requestLog.append(
            RequestLog.Line(
                at: context.service.clock.now(),
                requestID: requestID,
                method: method,
                route: route,
                status: status.code,
                microseconds: microseconds,
                byteCount: byteCount,
                app: ending.app,
                outcome: ending.outcome
            )
        )
    }
}
