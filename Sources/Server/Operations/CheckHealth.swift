internal import Attribution
internal import HTTPServer
internal import JSON

/// `GET /healthz`: reports that the process and its event loop run.
enum CheckHealth {
    static func respond(_ exchange: inout Exchange, _ context: LoopContext) async throws(APIError) -> Response
    {
        var json = JSONWriter()
        json.object { $0.member("status", "ok") }
        return Response(.ok, json: json)
    }
}

/// `GET /readyz`: reports whether clicks and checks can be served: the store reads and writes, and the server is not
/// stopping.
enum CheckReadiness {
    static func respond(_ exchange: inout Exchange, _ context: LoopContext) async throws(APIError) -> Response
    {
        let reason: String? =
            if context.service.isStopping {
                "stopping"
            } else if !context.service.storeHealth().acceptsWrites {
                "the store refuses writes"
            } else if (try? context.stores.apps.directory()) == nil {
                "the store cannot be read"
            } else {
                nil
            }
        var json = JSONWriter()
        json.object { json in
            json.member("status", reason == nil ? "ready" : "not_ready")
            if let reason { json.member("reason", reason) }
        }
        guard reason != nil else { return Response(.ok, json: json) }
        var response = Response(.serviceUnavailable, json: json)
        response.fields.append(FieldLine(name: "Retry-After", value: "1"))
        return response
    }
}
