import Foundation
import Support
import Testing

@Suite("afterlink apple-postbacks", .blocking)
struct ApplePostbackCommandTests {
    @Test("`apple-postbacks list` shows the postbacks that were received from a time on and before another")
    func range() throws {
        let (installation, server, connection) = try Installation.serving()
        let path = "/.well-known/skadnetwork/report-attribution/"
        let fields = ["Content-Type": "application/json"]
        #expect(try connection.call("POST", path, fields: fields, body: AppleSamples.version4).status == 200)
        server.terminate()
        #expect(server.waitUntilExit() == 0)
        for (options, count) in [
            ([], 1), (["--from", "2020-01-01", "--to", "2100-01-01"], 1), (["--from", "2100-01-01"], 0),
            (["--to", "2020-01-01"], 0),
        ] as [([String], Int)] {
            let output = try installation.run(["apple-postbacks", "list", "--json"] + options)
            #expect(output.status == 0, "\(output.errors)")
            let found = output.text.components(separatedBy: "\"received_at\"").count - 1
            #expect(found == count, "\(options)")
        }
        let wrong = ["apple-postbacks", "list", "--from", "2100-01-01", "--to", "2020-01-01"]
        #expect(try installation.run(wrong).errors.contains("--from"))
    }
}
