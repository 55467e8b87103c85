internal import HTTPServer
internal import JSON

/// `GET /healthz`: the process lives and its loop turns.
enum CheckHealth {
    static func respond(_ exchange: inout Exchange, _ context: LoopContext) async throws(APIError) -> Response
    {
        var json = JSONWriter()
        json.object { json in
            json.member("status", "ok")
        }
        return Response(.ok, json: json)
    }
}
