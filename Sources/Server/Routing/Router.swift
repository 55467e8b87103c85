internal import HTTPServer

/// Finds the route for a method and a path.
struct Router {
    enum Result {
        case found(Route, parameter: String?)
        case wrongMethod(allowed: String, isCrossOrigin: Bool)
        case unknownPath
    }

    /// The routes of a path, which are told apart by their methods.
    private struct Place {
        /// The whole path, or what stands before the last part's `{name}`.
        let path: [UInt8]
        let hasParameter: Bool
        var routes: [Route]
    }

    /// Literal paths first; there are few, and most are told apart by their length.
    private let places: [Place]

    init(_ routes: [Route]) {
        var places: [Place] = []
        for route in routes {
            let path = Array(route.path.utf8.prefix { $0 != UInt8(ascii: "{") })
            let hasParameter = path.count < route.path.utf8.count
            if let index = places.firstIndex(where: { $0.path == path && $0.hasParameter == hasParameter }) {
                places[index].routes.append(route)
            } else {
                places.append(Place(path: path, hasParameter: hasParameter, routes: [route]))
            }
        }
        self.places = places.filter { !$0.hasParameter } + places.filter(\.hasParameter)
    }

    func route(_ method: Method, _ path: Span<UInt8>) -> Result {
        for place in places where Self.starts(path, with: place.path) {
            let part = path.extracting(droppingFirst: place.path.count)
            guard place.hasParameter else {
                guard part.isEmpty else { continue }
                return choose(method, from: place.routes, parameter: nil)
            }
            guard let parameter = Self.singlePart(part) else { continue }
            return choose(method, from: place.routes, parameter: parameter)
        }
        return .unknownPath
    }

    private static func starts(_ path: Span<UInt8>, with prefix: [UInt8]) -> Bool {
        guard path.count >= prefix.count else { return false }
        // From the end, where paths differ.
        for index in prefix.indices.reversed() where path[index] != prefix[index] { return false }
        return true
    }

    /// The text of a path's last part; nil where it is empty or there is more than one.
    private static func singlePart(_ part: Span<UInt8>) -> String? {
        var bytes: [UInt8] = []
        for index in part.indices {
            guard part[index] != UInt8(ascii: "/") else { return nil }
            bytes.append(part[index])
        }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
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
