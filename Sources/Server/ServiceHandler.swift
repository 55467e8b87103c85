internal import Attribution
internal import HTTPServer

/// Answers the requests of one event loop: finds the route, checks the key, calls the endpoint, and writes
/// the line in the log.
final class ServiceHandler: RequestHandler {
    private let context: LoopContext
    private let router: Router
    private let metrics: LoopMetrics
    private var requestIDs: RequestIDs
    private var requestLog: RequestLog

    init(service: Service, routes: [Route], stores: Stores) {
        context = LoopContext(service: service, stores: stores)
        router = Router(routes)
        metrics = service.metrics.makeLoopMetrics()
        requestIDs = RequestIDs(random: service.random)
        requestLog = RequestLog(log: service.log)
    }

    func respond(to request: Request) async -> Response {
        let requestID = requestIDs.identify(request)
        let match = router.route(request.method, request.path)
        var ending = Ending()
        var response: Response
        do throws(APIError) {
            response = try await answer(request, requestID, match, &ending)
        } catch {
            response = Response(error)
        }
        response.fields.append(FieldLine(name: "X-Request-ID", value: requestID))
        finish(request.firstByteAt, request.method.rawValue, match, requestID, response, ending)
        return response
    }

    func respond(to rejection: Rejection) -> Response {
        let requestID = requestIDs.make()
        var response = Response(APIError(rejection))
        response.fields.append(FieldLine(name: "X-Request-ID", value: requestID))
        finish(rejection.firstByteAt, "-", .unknownPath, requestID, response, Ending())
        return response
    }

    func turnEnded() {
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
            guard request.method == .options, request.path == "*" else {
                throw .notFound("There is nothing at this path")
            }
            return Response(.noContent, fields: [FieldLine(name: "Allow", value: "GET, HEAD, POST, OPTIONS")])
        case .wrongMethod(let allowed, let isCrossOrigin):
            guard request.method == .options else {
                throw .methodNotAllowed(allow: allowed)
            }
            let directory = isCrossOrigin ? try self.directory(requestID) : Directory(apps: [], keys: [])
            return CrossOrigin.preflight(request, allowed: allowed, isCrossOrigin, directory)
        case .found(let route, let parameter):
            return try await call(route, parameter, request, requestID, &ending)
        }
    }

    private func call(
        _ route: Route,
        _ parameter: String?,
        _ request: Request,
        _ requestID: String,
        _ ending: inout Ending
    ) async throws(APIError) -> Response {
        let directory = route.needsDirectory ? try directory(requestID) : Directory(apps: [], keys: [])
        var exchange = Exchange(
            request: request,
            requestID: requestID,
            now: try context.service.moment(of: request),
            parameter: parameter,
            address: ClientAddress.of(request, trusting: context.service.settings.trustedProxies),
            directory: directory
        )
        var response: Response
        do throws(APIError) {
            if route.isRateLimited { try checkRate(exchange) }
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
            response = try await route.endpoint(&exchange, context)
        } catch {
            response = Response(error)
        }
        // Apps send no origin and read no such fields: a check, which is nearly always theirs, goes without.
        if route.isCrossOrigin, !route.consumes || request.hasField("origin") {
            CrossOrigin.allow(request, app: exchange.app.flatMap(directory.app), directory, &response)
        }
        ending = Ending(app: exchange.app, outcome: exchange.outcome)
        return response
    }

    private func checkRate(_ exchange: Exchange) throws(APIError) {
        guard let limiter = context.service.rateLimiter,
            let refusal = limiter.take(for: exchange.address, at: exchange.request.firstByteAt)
        else { return }
        throw .rateLimitExceeded(refusal, limiter.limit)
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
        _ response: Response,
        _ ending: Ending
    ) {
        let microseconds = MonotonicTime.now().nanoseconds(since: firstByteAt) / 1000
        var route: Route?
        if case .found(let found, _) = match { route = found }
        metrics.count(route: route?.name, status: response.status, microseconds: microseconds)
        requestLog.append(
            RequestLog.Line(
                at: context.service.clock.now(),
                requestID: requestID,
                method: method,
                route: route?.path,
                status: response.status.code,
                microseconds: microseconds,
                byteCount: response.body.count,
                app: ending.app,
                outcome: ending.outcome
            )
        )
    }
}
