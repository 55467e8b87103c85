import Attribution
import Foundation
import Server
import Testing
import afterlink

/// The commands and options that a text names.
private struct NamedCalls {
    /// Returns the faults of a text: commands, options and values that it names but that do not exist.
    static func faults(in text: String) -> [String] {
        var faults: [String] = []
        let pieces = text.split(separator: "`", omittingEmptySubsequences: false)
        for (place, piece) in pieces.enumerated() {
            if place % 2 == 1, piece.hasPrefix("afterlink ") {
                faults += self.faults(ofCall: words(piece).dropFirst().map(\.self))
            } else {
                faults += words(piece).filter { $0.hasPrefix("--") && !all.contains($0) }
            }
        }
        return faults
    }

    private static func faults(ofCall words: [String]) -> [String] {
        guard words.first != "help" else { return [] }
        let command = Program.standard.commands.first { command in
            words.starts(with: command.name.split(separator: " ").map(String.init))
        }
        guard let command else { return ["there is no command: \(words)"] }
        var faults: [String] = []
        for (place, word) in words.enumerated() where word.hasPrefix("--") {
            guard let option = command.allOptions.first(where: { "--\($0.name)" == word }) else {
                faults.append("`\(command.name)` has no option \(word)")
                continue
            }
            let choices = (option.placeholder ?? "").split(separator: "|").map(String.init)
            guard choices.count > 1, words.indices.contains(place + 1) else { continue }
            let value = words[place + 1]
            if value != "…", !value.hasPrefix("--"), !choices.contains(value) {
                faults.append("\(word) of `\(command.name)` cannot be \(value)")
            }
        }
        return faults
    }

    /// Returns the words of a text, without punctuation at their start and end.
    private static func words(_ text: some StringProtocol) -> [String] {
        text.split(whereSeparator: \.isWhitespace).map {
            $0.trimmingCharacters(in: .init(charactersIn: ".,;:()\"'"))
        }
    }

    private static let all = Set(
        (Program.standard.commands.flatMap(\.allOptions).map(\.name) + Setting.all.map(\.name)).map {
            "--\($0)"
        }
    )
}

@Suite("Commands that texts name")
struct NamedCallTests {
    @Test("commands, options and values that do not exist are reported")
    func faults() {
        for text in [
            "`afterlink apps set --on-ambiguity campaign` helps", "`afterlink app set`",
            "give --device-dater", "`afterlink stats --minimum-confidence`",
        ] { #expect(NamedCalls.faults(in: text).count == 1, "\(text)") }
        #expect(
            NamedCalls.faults(in: "`afterlink apps set --on-ambiguity campaignOnly`, --device-data.").isEmpty
        )
    }

    private func advice(_ reason: NoMatchReason, near component: SignalComponent?) -> [String] {
        let moment = Timestamp(milliseconds: 0)
        var facts = CheckFacts(at: moment, outcome: .noMatch, fingerprint: KeyedHash(index: 1, rest: 1))
        facts.reason = reason
        let record = RecordedCheck(
            id: CheckID(high: 1, low: 1),
            app: AppID(high: 1, low: 1),
            isTest: false,
            facts: facts
        )
        var explanation = Explanation(record: record)
        guard let component else { return explanation.advice }
        let click = KnownClick(id: ClickID(high: 1, low: 1), clickedAt: moment, expiresAt: moment)
        explanation.launch = FingerprintInput(form: .d, values: ["a", "b", "c"])
        var near = ExplainedClick(click, .open, hasSameFingerprint: false)
        near.differences = [.init(component, click: "x", launch: "y")]
        explanation.clicks = [near]
        return explanation.advice
    }

    @Test("the commands in an explanation's advice exist", arguments: NoMatchReason.allCases)
    func explanations(reason: NoMatchReason) {
        for text in advice(reason, near: nil) { #expect(NamedCalls.faults(in: text) == [], "\(text)") }
    }

    @Test("the commands in the advice on a differing value exist", arguments: SignalComponent.allCases)
    func components(component: SignalComponent) {
        let advice = advice(.noClick, near: component)
        #expect(advice.contains { $0.hasPrefix("\(component.rawValue): ") })
        for text in advice { #expect(NamedCalls.faults(in: text) == [], "\(text)") }
    }

    @Test("the commands in the warnings on policies exist")
    func policies() {
        let policies = [
            MatchPolicy(onAmbiguity: .campaignOnly), MatchPolicy(minimumConfidence: 0.1),
            MatchPolicy(minimumConfidence: 1), MatchPolicy(rule: .newest, minimumConfidence: 0.9),
            MatchPolicy(usesFingerprints: false),
        ]
        let apps = policies.enumerated().map { number, policy in
            App(
                id: AppID(high: 1, low: UInt64(number)),
                settings: App.Settings(name: "Shop \(number)", policy: policy),
                createdAt: Timestamp(milliseconds: 0)
            )
        }
        let figures = Dictionary(
            uniqueKeysWithValues: apps.map { ($0.id, PolicyFigures(checks: 1000, certainMatches: 0)) }
        )
        let directory = Directory(apps: apps, keys: [])
        let texts = directory.policyWarnings(figures) + directory.warnings(at: Timestamp(milliseconds: 0))
        #expect(texts.count >= policies.count)
        for text in texts { #expect(NamedCalls.faults(in: text) == [], "\(text)") }
    }

    /// This test reads each call up to its first interpolated value.
    @Test("the commands in the texts of the program exist")
    func sources() throws {
        let joint = /"\s*\n\s*\+ "/
        let call = /`afterlink [a-z][^`\n"]*/
        var count = 0
        for path in try Repository.files(under: "Sources") where path.hasSuffix(".swift") {
            let text = try Repository.text(path).replacing(joint, with: "")
            for match in text.matches(of: call) {
                let words = match.output.split(separator: "\\(").first.map(String.init) ?? ""
                #expect(NamedCalls.faults(in: words + "`") == [], "\(path): \(words)")
                count += 1
            }
        }
        #expect(count > 50)
    }
}
