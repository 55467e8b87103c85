package import Attribution
package import HTTPServer
internal import JSON

/// `GET /openapi.json`: describes every call of the service, for programs that generate clients, tests and documentation.
///
/// The document is the same on every server. Its version is the API's, not the program's.
enum ShowOpenAPI {
    static func respond(_ exchange: inout Exchange) async throws(APIError) -> Response {
        let (body, tag) = (APIDescription.body, APIDescription.tag)
        var response = Response(body, tagged: tag, as: .json, for: exchange.request)
        // Web pages of all origins may read the document, because it reveals nothing about this server.
        response.fields.append(FieldLine(name: "Access-Control-Allow-Origin", value: "*"))
        return response
    }
}

/// The description of the API in the form of the OpenAPI Specification, version 3.1.
///
/// The file is written by hand. Tests compare it with the list of routes, the names that the code reads and writes, and
/// the responses in all other tests.
package enum APIDescription {
    /// The document without blanks and line ends.
    package static let body: [UInt8] = {
        do throws(JSONError) {
            var json = JSONWriter(reservedCapacity: 128 * 1024)
            json.value(try JSONValue(parsing: Array(text.utf8)))
            return json.bytes
        } catch { preconditionFailure("the embedded description of the API is not JSON: \(error.message)") }
    }()

    /// Computed once, because the description is long and constant.
    static let tag = EntityTag(of: body)

    private static var text: String {
        EmbeddedDescription.files.first { $0.name == "openapi.json" }?.text ?? ""
    }
}

/// The summary of one route, for tests that compare the routes with the description of the API.
package struct RouteSummary: Sendable {
    package let method: Method
    /// The path, such as `/admin/api/links/{id}`; a parameter of several parts is written `{name}` too.
    package let path: String
    /// The kinds of keys that the call accepts.
    package let keyKinds: [KeyKind]
    /// Whether the call is allowed without a key.
    package let isOpen: Bool
    package let rateLimitClass: RateLimitClass?
    /// The only query parameters that the call accepts; nil for a call that ignores unknown parameters.
    package let queryNames: [String]?

    /// All routes at the service's public address.
    package static let all = Routes.makePublic().map(RouteSummary.init)

    private init(_ route: Route) {
        method = route.method
        path = route.path.replacing("...}", with: "}")
        rateLimitClass = route.rateLimitClass
        queryNames = route.queryNames
        switch route.access {
        case .anyone: (keyKinds, isOpen) = ([], true)
        case .anyoneOrKey(let kinds): (keyKinds, isOpen) = (kinds, true)
        case .key(let kinds): (keyKinds, isOpen) = (kinds, false)
        }
    }
}
