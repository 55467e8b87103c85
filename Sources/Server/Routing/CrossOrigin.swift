internal import Attribution
internal import HTTPServer

/// What pages of other origins may do (the Fetch standard's CORS protocol): the SDK calls, without credentials.
enum CrossOrigin {
    private static let allowedHeaders = "content-type, authorization, x-sdk-version, x-request-id"
    private static let maximumAge = "86400"

    /// The answer to OPTIONS on a path that exists.
    static func preflight(
        _ request: Request,
        allowed: String,
        _ isCrossOrigin: Bool,
        _ directory: Directory
    ) -> Response {
        var response = Response(.noContent, fields: [FieldLine(name: "Allow", value: allowed)])
        guard isCrossOrigin else { return response }
        allow(request, app: nil, directory, &response)
        response.fields += [
            FieldLine(name: "Access-Control-Allow-Methods", value: "GET, POST"),
            FieldLine(name: "Access-Control-Allow-Headers", value: allowedHeaders),
            FieldLine(name: "Access-Control-Max-Age", value: maximumAge),
        ]
        return response
    }

    /// Lets the page read the answer, if its origin may.
    ///
    /// A preflight does not tell the app: then the origin may be any app's.
    static func allow(_ request: Request, app: App?, _ directory: Directory, _ response: inout Response) {
        let apps = app.map { [$0] } ?? directory.apps
        let origin = request.field("origin")
        response.fields.append(
            FieldLine(name: "Access-Control-Expose-Headers", value: "X-Request-ID, Retry-After")
        )
        // Not by key path: this runs for every check, and key paths are read at run time.
        if apps.contains(where: { $0.settings.allowedOrigins.isEmpty }) {
            response.fields.append(FieldLine(name: "Access-Control-Allow-Origin", value: "*"))
            return
        }
        response.fields.append(FieldLine(name: "Vary", value: "Origin"))
        guard let origin, let parsed = Origin(origin), apps.contains(where: { $0.settings.allows(parsed) })
        else { return }
        response.fields.append(FieldLine(name: "Access-Control-Allow-Origin", value: origin))
    }
}
