internal import Attribution
internal import HTTPServer
internal import JSON

/// `GET /healthz`: reports that the process and its event loop run.
enum CheckHealth {
    static func respond(_ exchange: inout Exchange) async throws(APIError) -> Response {
        Response(.ok) { $0.member("status", "ok") }
    }
}

/// `GET /readyz`: reports whether the store reads and writes and the server is not stopping.
enum CheckReadiness {
    static func respond(_ exchange: inout Exchange) async throws(APIError) -> Response {
        let reason: String? =
            if exchange.service.isStopping {
                "stopping"
            } else if !exchange.service.storeHealth().acceptsWrites {
                "the store refuses writes"
            } else if let hindrance = exchange.service.storeHealth().hindrance {
                switch hindrance {
                case .oldDirectory: "the apps and keys may be out of date"
                case .wrongClock: "the clock differs from the database's clock"
                }
            } else if (try? exchange.stores.apps.directory()) == nil {
                "the store cannot be read"
            } else {
                nil
            }
        var response = Response(reason == nil ? .ok : .serviceUnavailable) { json in
            json.member("status", reason == nil ? "ready" : "not_ready")
            json.member("reason", reason)
        }
        if reason != nil { response.fields.append(FieldLine(name: "Retry-After", value: "1")) }
        return response
    }
}
