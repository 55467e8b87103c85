package import Attribution
package import HTTPServer

/// A row of the list of routes, for tests that compare the description of the API with it.
package struct RouteSummary: Sendable {
    package let method: Method
    /// The path, as `/admin/api/links/{id}`; a parameter of several parts is written like one of one part.
    package let path: String
    /// The kinds of keys that may call.
    package let keyKinds: [KeyKind]
    /// Whether the call is allowed without a key.
    package let isOpen: Bool
    package let rateLimitClass: RateLimitClass?
    /// The query parameters that the call takes, all others being refused; nil where unknown ones are ignored.
    package let queryNames: [String]?

    /// All routes at the service's own address.
    package static let all = Routes.public.map(RouteSummary.init)

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
