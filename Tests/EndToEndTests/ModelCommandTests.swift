import Foundation
import Support
import Testing

@Suite("The commands on the model", .blocking)
struct ModelCommandTests {
    private func figures(_ installation: Installation) throws -> [String: Any] {
        let shown = try installation.run(["model", "show", "--json"])
        #expect(shown.status == 0, "\(shown.text)")
        let object = try JSONSerialization.jsonObject(with: shown.standardOutput) as? [String: Any]
        return try #require(object)
    }

    @Test("show the built-in figures, show the learnt ones, and reset them")
    func showAndReset() throws {
        let installation = try Installation()
        let fresh = try figures(installation)
        #expect(fresh["learning_since"] is NSNull || fresh["learning_since"] == nil)
        let (server, connection) = try installation.serve()
        for number in 1...5 { #expect(try connection.check(fingerprint(number)).isNoMatch) }
        server.terminate()
        #expect(server.waitUntilExit() == 0)
        let learnt = try #require(try figures(installation)["figures"] as? [String: Any])
        let launches = try #require(learnt["launches"] as? Double)
        #expect(abs(launches - 5) < 0.1)
        #expect(try installation.run(["model", "show"]).text.contains("launches"))
        #expect(try installation.run(["model", "reset"]).status == 0)
        let forgotten = try #require(try figures(installation)["figures"] as? [String: Any])
        #expect(forgotten["launches"] as? Double == 0)
    }
}
