import Foundation
import Support
import Testing

/// The click ids of ad networks, from a tapped link through the program's commands to their erasure.
@Suite("Click ids of ad networks, with the program", .blocking)
struct NetworkClickIDTests {
    private static let value = "EAIaIQobChMI-7781_Zz.Q"
    private static let ids = #""click_ids":{"gclid":"\#(value)","fbclid":"IwAR0"}"#

    /// Returns whether a file of the database contains the value.
    private func holdsValue(_ installation: Installation) throws -> Bool {
        let folder = installation.folder
        return try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasPrefix(installation.database.lastPathComponent) }
            .contains { try Data(contentsOf: folder.appending(path: $0)).holds(Data(Self.value.utf8)) }
    }

    private func export(_ format: String, _ installation: Installation) throws -> URL {
        let folder = installation.folder.appending(path: "export-\(format)")
        let target = ["--to", folder.path, "--state", folder.path + ".state"]
        let output = try installation.run(["export", "--table", "clicks", "--format", format] + target)
        #expect(output.status == 0, "\(output.errors)")
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        return folder.appending(path: try #require(files.first { $0.hasSuffix("000001.\(format)") }))
    }

    @Test("an app that opted in gets the click ids, and commands show, export and erase them")
    func journey() throws {
        let installation = try Installation()
        for words in [
            [
                "apps", "set", "--link-host", "go.shop.example", "--ios-scheme", "shopapp", "--click-ids",
                "answer",
            ],
            ["links", "create", "summer", "--destination", "/promo"],
        ] {
            let output = try installation.run(words)
            #expect(output.status == 0, "\(output.errors)")
        }
        let wrong = try installation.run(["apps", "set", "--click-ids", "on"])
        #expect(wrong.status == 2 && wrong.errors.contains("off, keep, answer"), "\(wrong.errors)")
        let (server, connection) = try installation.serve()
        #expect(try !holdsValue(installation))
        let click = try connection.call(
            "POST",
            HTTPTestClient.prefix + "/click",
            fields: ["Content-Type": "application/json"],
            body:
                #"{"fingerprint":"\#(fingerprint(1))","link":"summer","query":"fbclid=IwAR0",\#(Self.gclid)}"#
        )
        #expect(click.status == 201, "\(click.text)")
        let id = try #require(click.string("click_id"))
        let match = try connection.check(fingerprint(1))
        #expect(match.isMatch && match.string("click_id") == id)
        #expect(match.text.contains(#""metadata":{\#(Self.ids)}"#), "\(match.text)")
        server.terminate()
        #expect(server.waitUntilExit() == 0)

        #expect(try holdsValue(installation))
        let words = try installation.run(["explain", id]).text
        #expect(words.contains("gclid \(Self.value) (Google Ads), fbclid IwAR0 (Meta)"), "\(words)")
        #expect(try installation.run(["explain", id, "--json"]).text.contains(Self.ids))
        #expect(try installation.run(["held", "--click-id", id]).text.contains(Self.value))
        let line = try String(contentsOf: try export("ndjson", installation), encoding: .utf8)
        let row = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        let stored = #"{"gclid":"\#(Self.value)","fbclid":"IwAR0"}"#
        #expect(row["click_ids"] as? String == stored)
        let reader = try ParquetReader(try Array(Data(contentsOf: try export("parquet", installation))))
        #expect(reader.columns.first { $0.name == "click_ids" }?.values == [stored])
        #expect(try String(contentsOf: try export("csv", installation), encoding: .utf8).contains(Self.value))
        #expect(try installation.run(["erase", "--click-id", id]).status == 0)
        #expect(try !holdsValue(installation))
    }

    private static let gclid = #""click_ids":{"gclid":"\#(value)"}"#
}
