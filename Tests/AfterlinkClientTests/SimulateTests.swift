import Foundation
import Support
import Testing

/// Tests the library inside the program, which contains only a part of Foundation.
@Suite("The Swift library in `afterlink simulate`", .blocking)
struct SimulateTests {
    private struct Output: Decodable {
        struct Trial: Decodable {
            struct Launch: Decodable { let token: Bool }
            let sdk: String
            let result: String
            let as_expected: Bool
            let launch: Launch
        }
        let trials: [Trial]
    }

    private static func trials(_ options: [String], _ server: RealServer) throws -> [Output.Trial] {
        let all = ["simulate", "--client", "swift", "--server", server.url, "--json"] + options
        let output = try server.installation.run(all)
        let text = "\(output.text) \(output.errors)"
        #expect(output.status == 0, "\(text)")
        return try JSONDecoder().decode(Output.self, from: output.standardOutput).trials
    }

    #if ClientLibrary
    @Test("finds the clicks that its values fit, and with a pasted token any click")
    func launches() throws {
        let server = try RealServer()
        let all = try Self.trials(["--all"], server)
        #expect(all.count > 10 && all.allSatisfy { $0.sdk == "swift" && $0.as_expected }, "\(all)")
        #expect(all.contains { $0.result == "match" })
        let moved = ["--device-timezone", "Asia/Dubai"]
        #expect(try Self.trials(moved, server).map(\.result) != ["match"])
        let pasted = try Self.trials(moved + ["--token"], server)
        #expect(pasted.map(\.result) == ["match"] && pasted.allSatisfy(\.launch.token))
    }
    #else
    @Test("is missing without its trait, which the error names")
    func trait() throws {
        let server = try RealServer()
        let words = ["simulate", "--client", "swift", "--server", server.url]
        let output = try server.installation.run(words)
        #expect(output.status == 1 && output.errors.contains("--traits ClientLibrary"), "\(output.errors)")
    }
    #endif

    @Test(
        "refuses options of other clients, and an unknown client",
        arguments: [["--sdk", "1.8.5"], ["--play", "none"], ["--client", "java"]]
    )
    func refusals(options: [String]) throws {
        let installation = try Installation()
        let output = try installation.run(
            ["simulate"] + (options[0] == "--client" ? [] : ["--client", "swift"]) + options
        )
        #expect(output.status == 2 && output.errors.contains(options[0]), "\(output.status) \(output.errors)")
    }
}
