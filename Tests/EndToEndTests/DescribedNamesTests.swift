import Foundation
import Server
import Testing

/// Compares the API's description with the names that the code reads from requests, found in the source code.
@Suite("Names in requests")
struct DescribedNamesTests {
    private let components: [String: Any]
    private let paths: [String: Any]

    init() throws {
        let document =
            try JSONSerialization.jsonObject(with: Data(APIDescription.body)) as? [String: Any] ?? [:]
        components = document["components"] as? [String: Any] ?? [:]
        paths = document["paths"] as? [String: Any] ?? [:]
    }

    private func properties(of schema: String) -> Set<String> {
        let schema = (components["schemas"] as? [String: Any])?[schema] as? [String: Any]
        let properties = schema?["properties"] as? [String: Any] ?? [:]
        let inner = properties.values.compactMap { ($0 as? [String: Any])?["properties"] as? [String: Any] }
        return Set(properties.keys).union(inner.flatMap(\.keys))
    }

    /// Returns the names that a source file, or one of its functions, reads from a JSON body.
    private func read(_ file: String, function: String? = nil) throws -> Set<String> {
        var text = try Repository.text("Sources/Server/\(file)")
        if let function {
            let start = try #require(text.firstRange(of: "func \(function)("))
            text = String(text[start.lowerBound...])
            let end = text.firstRange(of: "\n    }\n")?.lowerBound ?? text.endIndex
            text = String(text[..<end])
        }
        let calls = text.matches(
            of:
                #/
                (?:text|object|integer|number|flag|texts|time|anyText)\(\s*"([A-Za-z_]+)"
                |members\["([a-z_]+)"\]
                /#
        )
        return Set(calls.compactMap { ($0.output.1 ?? $0.output.2).map(String.init) })
    }

    @Test("all names in a click's body are described, and no others")
    func click() throws {
        let read = try read("Clicks/ClickBody.swift")
            .union(read("Routing/SignalsBody.swift", function: "browser"))
            .union(["fingerprint", "platform", "idfa", "gaid", "ip_address", "attribution_window_seconds"])
            .union(["source", "medium", "campaign", "term", "content", "id"].map { "utm_\($0)" })
        #expect(read.count > 30)
        #expect(properties(of: "Click").union(properties(of: "DeviceSignals")) == read)
    }

    @Test("all names in the body of a first launch are described, and no others")
    func launch() throws {
        let read = try read("Matching/ResolveBody.swift")
            .union(read("Routing/SignalsBody.swift", function: "native"))
            .union(["fingerprint", "platform", "install_id", "idfa", "gaid"])
        #expect(read.count > 20)
        #expect(properties(of: "Launch").union(properties(of: "NativeSignals")) == read)
    }

    @Test("the names in queries are described")
    func queries() throws {
        var read: Set<String> = []
        // The addresses of the dashboard's pages are no part of the API.
        let files = try Repository.files(under: "Sources/Server").filter {
            $0.hasSuffix(".swift") && !$0.hasPrefix("Sources/Server/Dashboard/")
        }
        for file in files {
            let text = try Repository.text(file)
            let names = text.matches(of: /(?:[qQ]ueryItem|timeItem|word)\(\s*"([a-z_]+)"/).map(\.output.1)
            read.formUnion(names.map(String.init))
            let own = text.matches(of: /static let \w+ = "(al_\w+)"/).map(\.output.1)
            read.formUnion(own.map(String.init))
        }
        #expect(read.count > 12)
        let described = parameters(in: "query")
        #expect(read.subtracting(described) == [])
    }

    /// Returns the names of all described parameters in the query, the path or the header.
    private func parameters(in place: String) -> Set<String> {
        let shared = (components["parameters"] as? [String: Any] ?? [:]).values
        let own = paths.values.compactMap { $0 as? [String: Any] }.flatMap(\.values)
            .compactMap { $0 as? [String: Any] }
            .flatMap { $0["parameters"] as? [Any] ?? [] }
        return Set(
            (Array(shared) + own).compactMap { $0 as? [String: Any] }.filter { $0["in"] as? String == place }
                .compactMap { $0["name"] as? String }
        )
    }
}
