internal import Attribution
internal import HTTPServer

/// One route: a method, a path pattern, the keys that it permits, and its endpoint.
///
/// This is a class, so that a request carries a reference instead of a copy. Each loop has its own routes: loops that
/// shared a route would contend for its reference count.
final class Route: Sendable {
    /// The keys that a call needs.
    enum Access: Sendable {
        case anyone
        /// Needs no key; a key that is sent must be valid and of one of these kinds.
        case anyoneOrKey([KeyKind])
        case key([KeyKind])
    }

    typealias Endpoint = @Sendable (inout Exchange) async throws(APIError) -> Response

    let method: Method
    /// The path; `{name}` in it matches any single part, `{name...}` one or more parts.
    ///
    /// The path `/{name...}` is the fallback for GET and HEAD, and also matches `/`.
    let path: String
    /// The route's name in logs and metrics.
    let name: String
    let access: Access
    /// The class of the rate limit that requests count against; nil for none.
    let rateLimitClass: RateLimitClass?
    /// Whether pages of other origins may call it.
    let isCrossOrigin: Bool
    /// Whether a GET consumes a click, so that HEAD must not run it.
    let consumes: Bool
    /// Whether the endpoint needs apps and keys.
    ///
    /// Other routes work without the store, because a process whose database cannot be read is still alive.
    let needsDirectory: Bool
    /// Whether the fallback's endpoint gets every method, because only it knows whether the path exists.
    let takesEveryMethod: Bool
    /// The only query parameters that the call accepts; nil for a call that ignores unknown parameters.
    let queryNames: [String]?
    let endpoint: Endpoint

    init(
        _ method: Method,
        _ path: String,
        _ access: Access,
        limitedAs rateLimitClass: RateLimitClass? = nil,
        crossOrigin: Bool = false,
        consumes: Bool = false,
        needsDirectory: Bool = false,
        takesEveryMethod: Bool = false,
        query queryNames: [String]? = nil,
        _ endpoint: @escaping Endpoint
    ) {
        (self.method, self.path, self.access, self.rateLimitClass) = (method, path, access, rateLimitClass)
        isCrossOrigin = crossOrigin
        (self.consumes, self.takesEveryMethod) = (consumes, takesEveryMethod)
        (self.queryNames, self.endpoint) = (queryNames, endpoint)
        name = "\(method.rawValue) \(path)"
        self.needsDirectory = if case .anyone = access { needsDirectory || crossOrigin } else { true }
    }
}

/// Finds the route for a method and a path.
struct Router {
    enum Result {
        case found(Route, parameter: String?)
        case wrongMethod(allowed: String, isCrossOrigin: Bool)
        case unknownPath
    }

    /// The routes of one path, which differ in their methods.
    private struct PathPattern {
        /// The whole path, or its text before `{name}`.
        let path: [UInt8]
        /// The text after `{name}`; empty if the parameter ends the path.
        let suffix: [UInt8]
        let parameter: Parameter
        var routes: [Route]

        /// Whether the pattern matches every path, and so is tried last.
        var isFallback: Bool { parameter == .anyParts && suffix.isEmpty }
    }

    private enum Parameter {
        case none
        case onePart
        /// Written as `{name...}`.
        case anyParts

        init(of path: String) {
            self = path.contains("...}") ? .anyParts : path.contains("{") ? .onePart : .none
        }
    }

    /// The patterns in the order in which they are tried.
    ///
    /// Literal paths come first: they are few and mostly differ in length. Patterns with `{name...}` come last, the
    /// longest suffix first.
    private let patterns: [PathPattern]

    init(_ routes: [Route]) {
        var patterns: [PathPattern] = []
        for route in routes {
            let path = Array(route.path.utf8.prefix { $0 != UInt8(ascii: "{") })
            let suffix = Array(route.path.utf8.drop { $0 != UInt8(ascii: "}") }.dropFirst())
            let parameter = Parameter(of: route.path)
            let index = patterns.firstIndex {
                $0.path == path && $0.suffix == suffix && $0.parameter == parameter
            }
            if let index {
                patterns[index].routes.append(route)
            } else {
                patterns.append(.init(path: path, suffix: suffix, parameter: parameter, routes: [route]))
            }
        }
        self.patterns =
            patterns.filter { $0.parameter == .none } + patterns.filter { $0.parameter == .onePart }
            + patterns.filter { $0.parameter == .anyParts }.sorted { $0.suffix.count > $1.suffix.count }
    }

    func route(_ method: Method, _ path: Span<UInt8>) -> Result {
        for pattern in patterns where Self.starts(path, with: pattern.path) {
            let part = path.extracting(droppingFirst: pattern.path.count)
            guard pattern.parameter != .none else {
                guard part.isEmpty else { continue }
                return choose(method, from: pattern.routes, parameter: nil)
            }
            guard Self.ends(part, with: pattern.suffix) else { continue }
            let name = part.extracting(0..<part.count - pattern.suffix.count)
            guard let parameter = Self.text(name, as: pattern.parameter) ?? (pattern.isFallback ? "" : nil)
            else { continue }
            // Unknown paths must not get the fallback's list of allowed methods.
            if pattern.isFallback, !Self.reachesFallback(method) {
                guard let route = pattern.routes.first(where: \.takesEveryMethod) else { return .unknownPath }
                return .found(route, parameter: parameter)
            }
            return choose(method, from: pattern.routes, parameter: parameter)
        }
        return .unknownPath
    }

    /// Returns whether the fallback route handles the method: reads, and methods that always get 405.
    private static func reachesFallback(_ method: Method) -> Bool {
        switch method {
        case .get, .head, .trace, .query: true
        case .post, .put, .delete, .patch, .options: false
        }
    }

    private static func starts(_ path: Span<UInt8>, with prefix: [UInt8]) -> Bool {
        guard path.count >= prefix.count else { return false }
        // Compares from the end, where paths differ.
        for index in prefix.indices.reversed() where path[index] != prefix[index] { return false }
        return true
    }

    private static func ends(_ path: Span<UInt8>, with end: [UInt8]) -> Bool {
        guard path.count >= end.count else { return false }
        let start = path.count - end.count
        for index in end.indices where path[start + index] != end[index] { return false }
        return true
    }

    /// Returns the text of a parameter; nil if it is empty, or has more parts than the parameter allows.
    private static func text(_ parts: Span<UInt8>, as parameter: Parameter) -> String? {
        var bytes: [UInt8] = []
        for index in parts.indices {
            guard parameter == .anyParts || parts[index] != UInt8(ascii: "/") else { return nil }
            bytes.append(parts[index])
        }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }

    private func choose(_ method: Method, from routes: [Route], parameter: String?) -> Result {
        // HEAD is GET without a body, but a route whose GET consumes a click does not allow HEAD.
        let wanted = method == .head && !routes.contains { $0.consumes } ? Method.get : method
        if let route = routes.first(where: { $0.method == wanted }) {
            return .found(route, parameter: parameter)
        }
        var allowed: [String] = routes.map(\.method.rawValue)
        if allowed.contains("GET"), !routes.contains(where: \.consumes) { allowed.append("HEAD") }
        allowed.append("OPTIONS")
        let isCrossOrigin = routes.contains(where: \.isCrossOrigin)
        return .wrongMethod(allowed: allowed.joined(separator: ", "), isCrossOrigin: isCrossOrigin)
    }
}
