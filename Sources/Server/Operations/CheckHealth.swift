internal import Attribution
internal import HTTPServer
internal import JSON

/// `GET /healthz`: reports that the process and its event loop run.
enum CheckHealth {
    static func respond(_ exchange: inout Exchange) async throws(APIError) -> Response {
        Response(.ok) { $0.member("status", "ok") }
    }
}

/// `GET /readyz`: reports whether this server may get requests.
///
/// The server may get requests if it is not stopping, and if the store reads and writes. The server's apps and keys
/// must be current, and its clock must agree with the database's clock.
enum CheckReadiness {
    static func respond(_ exchange: inout Exchange) async throws(APIError) -> Response {
        let reason = hindrance(exchange)
        var response = Response(reason == nil ? .ok : .serviceUnavailable) { json in
            json.member("status", reason == nil ? "ready" : "not_ready")
            json.member("reason", reason)
        }
        if reason != nil { response.fields.append(FieldLine(name: "Retry-After", value: "1")) }
        return response
    }

    /// Returns why this server must get no requests; nil if it may get them.
    static func hindrance(_ exchange: Exchange) -> String? {
        let health = exchange.service.storeHealth()
        if exchange.service.isStopping { return "stopping" }
        if !health.acceptsWrites { return "the store refuses writes" }
        switch health.hindrance {
        case .oldDirectory: return "the apps and keys may be out of date"
        case .wrongClock: return "the clock differs from the database's clock"
        case nil: break
        }
        return (try? exchange.stores.apps.directory()) == nil ? "the store cannot be read" : nil
    }
}
