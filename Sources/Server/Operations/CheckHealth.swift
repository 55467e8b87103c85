internal import HTTPServer
internal import JSON

/// `GET /healthz`: reports that the process and its event loop run.
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
