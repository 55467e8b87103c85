import Foundation
import Support
import Testing

@Suite("afterlink backtest", .blocking)
struct BacktestCommandTests {
    /// The lines of the documentation's example.
    private func example() throws -> String {
        let article = try Repository.text("Sources/afterlink/Afterlink.docc/Traces.md")
        let start = try #require(article.range(of: "```json\n")).upperBound
        let end = try #require(article.range(of: "```", range: start..<article.endIndex)).lowerBound
        return String(article[start..<end])
    }

    @Test("plays the documentation's own trace, and prints both policies beside each other")
    func documented() throws {
        let folder = try TemporaryFolder()
        try example().write(toFile: folder.file("t.jsonl"), atomically: true, encoding: .utf8)
        let words = ["backtest", "--trace", folder.file("t.jsonl"), "--warm-up-days", "0"]
        let plain = try Installation.run(words)
        #expect(plain.status == 0)
        #expect(plain.errors.isEmpty)
        #expect(plain.text.hasPrefix("Clicks: 1, launches: 2, from 2026-09-21T14:13:46.014Z to "))
        #expect(plain.text.contains("precision                           100.0 %"))
        #expect(!plain.text.contains("PROPOSED"))
        let short = try Installation.run(words + ["--window", "60"])
        #expect(short.text.contains("CURRENT"))
        #expect(short.text.contains("lose their match  1      1"))
        let json = try JSONSerialization.jsonObject(
            with: Installation.run(words + ["--window", "60", "--json"]).standardOutput
        )
        let body = try #require(json as? [String: Any])
        #expect((body["current"] as? [String: Any])?["matches"] as? Int == 1)
        #expect((body["proposed"] as? [String: Any])?["matches"] as? Int == 0)
        #expect((body["proposed"] as? [String: Any])?["window"] as? Int == 60)
        #expect((body["changes"] as? [String: Any])?["lost"] as? Int == 1)
    }

    @Test("warns where every launch teaches, and where the truth names a click that is not there")
    func warnings() throws {
        let folder = try TemporaryFolder()
        try example().replacing("{\"click\":\"c1\"}", with: "\"c2\"")
            .write(toFile: folder.file("t.jsonl"), atomically: true, encoding: .utf8)
        let words = ["backtest", "--trace", folder.file("t.jsonl")]
        #expect(try Installation.run(words).errors.contains("--warm-up-days 0 counts them."))
        let counted = try Installation.run(words + ["--warm-up-days", "0"])
        #expect(counted.errors.contains("the truth of 1 launches names a click that is not in the trace"))
    }

    @Test("names the line that it cannot read, and ends with 1")
    func wrongLine() throws {
        let folder = try TemporaryFolder()
        try (example() + "{\"event\":\"tap\"}\n")
            .write(toFile: folder.file("t.jsonl"), atomically: true, encoding: .utf8)
        let output = try Installation.run(["backtest", "--trace", folder.file("t.jsonl")])
        #expect(output.status == 1)
        #expect(output.text.isEmpty)
        #expect(output.errors.contains("t.jsonl cannot be read: line 4: "))
        try "\n".write(toFile: folder.file("none.jsonl"), atomically: true, encoding: .utf8)
        #expect(
            try Installation.run(["backtest", "--trace", folder.file("none.jsonl")]).errors.contains(
                "holds no event"
            )
        )
        let absent = try Installation.run(["backtest", "--trace", folder.file("absent.jsonl")])
        #expect(absent.status == 1)
        #expect(absent.errors.contains("The trace could not be read: "))
    }

    @Test(
        "refuses wrong options before it reads anything",
        arguments: [
            ("backtest --trace /nowhere --app Shop", "are about a database"),
            ("backtest --trace /nowhere --window 5", "from 60 to 2592000"),
            ("backtest --trace /nowhere --minimum-confidence 1.1", "a number from 0 to 1"),
            ("backtest --trace /nowhere --rule oldest", "newest or probability"),
            ("backtest --trace /nowhere --on-ambiguity maybe", "noMatch, newest or campaignOnly"),
            ("backtest --trace /nowhere --warm-up-days x", "from 0 to 365"),
        ]
    )
    func wrongUse(command: String, says: String) throws {
        let output = try Installation.run(command.split(separator: " ").map(String.init))
        #expect(output.status == 2)
        #expect(output.errors.contains(says))
    }
}
