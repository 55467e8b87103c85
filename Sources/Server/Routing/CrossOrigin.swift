internal import Attribution
internal import HTTPServer

/// The permissions for pages of other origins to make the SDK's calls, without credentials (the Fetch standard's CORS
/// protocol).
enum CrossOrigin {
    private static let allowedHeaders = "content-type, authorization, x-sdk-version, x-request-id"
    private static let maximumAge = "86400"

    /// Creates the response to OPTIONS on a path that exists; ``allow(_:app:_:_:)`` adds the origins that may read it.
    static func preflight(allowed: String, _ isCrossOrigin: Bool) -> Response {
        var response = Response(.noContent, fields: [FieldLine(name: "Allow", value: allowed)])
        guard isCrossOrigin else { return response }
        response.fields += [
            FieldLine(name: "Access-Control-Allow-Methods", value: "GET, POST"),
            FieldLine(name: "Access-Control-Allow-Headers", value: allowedHeaders),
            FieldLine(name: "Access-Control-Max-Age", value: maximumAge),
        ]
        return response
    }

    /// Lets a page read the response if the app allows the page's origin.
    ///
    /// A preflight does not name the app, so it is enough that any app allows the origin. `origin` is nil if the
    /// request did not send it, or ended before that field.
    static func allow(_ origin: String?, app: App?, _ directory: Directory, _ response: inout Response) {
        let apps = app.map { [$0] } ?? directory.apps
        response.fields.append(exposedHeaders)
        // This is a closure because a key path would be evaluated at run time, and this code runs for every click.
        if apps.contains(where: { $0.settings.allowedOrigins.isEmpty }) {
            response.fields.append(anyOrigin)
            return
        }
        response.fields.append(FieldLine(name: "Vary", value: "Origin"))
        guard let origin, let parsed = Origin(origin), apps.contains(where: { $0.settings.allows(parsed) })
        else { return }
        response.fields.append(FieldLine(name: "Access-Control-Allow-Origin", value: origin))
    }

    /// Lets every page read a response that reveals only that the apps cannot be read.
    static func allowAny(_ response: inout Response) { response.fields += [exposedHeaders, anyOrigin] }

    private static let exposedHeaders = FieldLine(
        name: "Access-Control-Expose-Headers",
        value: "X-Request-ID, Retry-After"
    )
    private static let anyOrigin = FieldLine(name: "Access-Control-Allow-Origin", value: "*")
}
