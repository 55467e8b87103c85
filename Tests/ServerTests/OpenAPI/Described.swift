import Foundation
import HTTPServer
import JSON
import Server

/// The description of the API, with the look-ups that tests need.
struct Described: Sendable {
    /// A call: one method of a path.
    struct Call: Sendable {
        let method: HTTPServer.Method
        /// The path under which the call is described, then the call's other paths.
        let paths: [String]
        let operation: JSONObject
        /// The parameters that all calls of the path share.
        let shared: [JSONValue]
    }

    static let api = Described(APIDescription.body)

    let root: JSONValue
    let calls: [Call]

    init(_ bytes: [UInt8]) {
        root = (try? JSONValue(parsing: bytes)) ?? .null
        calls = root["paths"].members.flatMap { path in
            HTTPServer.Method.allCases.compactMap { method in
                guard let operation = path.value[method.rawValue.lowercased()].object else { return nil }
                return Call(
                    method: method,
                    paths: [path.name] + path.value["x-aliases"].strings,
                    operation: operation,
                    shared: path.value["parameters"].array ?? []
                )
            }
        }
    }

    /// Returns the value that a reference names, or the value itself if it is not a reference.
    func resolved(_ value: JSONValue) -> JSONValue {
        guard let reference = value["$ref"].string else { return value }
        return reference.split(separator: "/").dropFirst().reduce(root) { $0[String($1)] }
    }

    func schema(_ name: String) -> JSONValue { root["components"]["schemas"][name] }

    /// Returns the call whose path fits a request's path; nil if no call fits.
    ///
    /// A path without parameters is preferred.
    func call(_ method: HTTPServer.Method, _ path: String) -> Call? {
        let found = calls.filter { call in
            call.method == method && call.paths.contains { Self.fits(path, $0) }
        }
        let plain = found.first { call in call.paths.contains(path) }
        // The path of a slug fits all paths, so the longest fitting path is taken.
        return plain ?? found.max { $0.paths[0].utf8.count < $1.paths[0].utf8.count }
    }

    private static func fits(_ path: String, _ template: String) -> Bool {
        if let end = template.firstRange(of: "{slug}") { return path.hasSuffix(template[end.upperBound...]) }
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        let wanted = template.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == wanted.count && zip(parts, wanted).allSatisfy { $1.hasPrefix("{") || $0 == $1 }
    }
}

extension JSONValue {
    /// The member of an object with this name; null if there is none.
    subscript(name: String) -> JSONValue { object?[name] ?? .null }

    var members: [JSONObject.Member] { object?.members ?? [] }
    var names: [String] { members.map(\.name) }
    var strings: [String] { (array ?? []).compactMap(\.string) }
}
