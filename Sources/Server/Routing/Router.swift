internal import HTTPServer

/// Finds the route for a method and a path.
struct Router {
    enum Result {
        case found(Route, parameter: String?)
        case wrongMethod(allowed: String, isCrossOrigin: Bool)
        case unknownPath
    }

    private var literals: [String: [Route]] = [:]
    /// By what stands before the last part's `{name}`.
    private var patterns: [(prefix: String, routes: [Route])] = []

    init(_ routes: [Route]) {
        for route in routes {
            guard let brace = route.path.firstIndex(of: "{") else {
                literals[route.path, default: []].append(route)
                continue
            }
            let prefix = String(route.path[..<brace])
            if let index = patterns.firstIndex(where: { $0.prefix == prefix }) {
                patterns[index].routes.append(route)
            } else {
                patterns.append((prefix, [route]))
            }
        }
    }

    func route(_ method: Method, _ path: String) -> Result {
        if let routes = literals[path] { return choose(method, from: routes, parameter: nil) }
        for (prefix, routes) in patterns where path.utf8.starts(with: prefix.utf8) {
            let part = path.dropFirst(prefix.count)
            guard !part.isEmpty, !part.utf8.contains(UInt8(ascii: "/")) else { continue }
            return choose(method, from: routes, parameter: String(part))
        }
        return .unknownPath
    }

    private func choose(_ method: Method, from routes: [Route], parameter: String?) -> Result {
        // HEAD is GET without a body, except where GET consumes: such a route names HEAD as not its own.
        let wanted = method == .head && !routes.contains { $0.consumes } ? Method.get : method
        if let route = routes.first(where: { $0.method == wanted }) {
            return .found(route, parameter: parameter)
        }
        var allowed: [String] = routes.map(\.method.rawValue)
        if allowed.contains("GET"), !routes.contains(where: \.consumes) { allowed.append("HEAD") }
        allowed.append("OPTIONS")
        return .wrongMethod(
            allowed: allowed.joined(separator: ", "),
            isCrossOrigin: routes.contains(where: \.isCrossOrigin)
        )
    }
}
