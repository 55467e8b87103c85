import Attribution
import DomainFiles
import Testing

/// Tests files of the maximum length for which a comparison of every rule with every other would take minutes.
@Suite("Domain files of strangers")
struct HostileFileTests {
    private static let url = AssociationURL("/" + String(repeating: "a", count: 2000))
    private static let app = "ABCDE12345.com.example.app"

    private func file(
        _ paths: [String],
        apps: [String] = [app],
        variables: [SubstitutionVariable] = []
    ) -> AppleAssociation {
        var file = AppleAssociation()
        let components = paths.map { AssociationComponent(path: $0) }
        file.details = [AppleAssociation.Detail(appIDs: apps, components: components)]
        file.variables = variables
        return file
    }

    @Test("with thousands of rules and apps are evaluated in bounded time")
    func rules() throws {
        let url = try #require(AssociationURL("/" + String(repeating: "a", count: 200)))
        let apps = (0..<2000).map { "ABCDE12345.com.example.app\($0)" }
        let rules = (0..<3000).map { "/b*\($0)" } + ["/a*"]
        let decisions = file(rules, apps: apps).decisions(for: url)
        #expect(decisions.count == 2000 && decisions.allSatisfy { $0.outcome == .opensApp })
        #expect(decisions.map(\.app) == apps)
        _ = file(rules, apps: apps).findings
    }

    @Test("with long rules are evaluated only up to a limit")
    func longRules() throws {
        let url = try #require(Self.url)
        let rules = (0..<900).map { "/" + String(repeating: "*a?", count: 40) + "\($0)" }
        let file = file(rules + ["/a*"])
        // The outcome of a rule beyond the limit is unknown.
        let decision = try #require(file.decisions(for: url).first)
        #expect(decision.outcome == .tooComplex && decision.rule?.isEmpty == false)
        #expect(!file.findings.contains { $0.kind == .excludeTooLate })
    }

    @Test(
        "have an unknown outcome if a pattern before the first rule that fits needs over two million steps",
        arguments: [
            (["/b", "/a*"], [.opensApp]), (["X", "/a*"], [.tooComplex]), (["/a*", "X"], [.opensApp]),
            (["/b", "X"], [.tooComplex]), (["/b"], [.noRule]),
        ] as [([String], [RuleDecision.Outcome])]
    )
    func tooComplex(paths: [String], outcomes: [RuleDecision.Outcome]) throws {
        let url = try #require(Self.url)
        let long = "/" + String(repeating: "*a", count: 600)
        let paths = paths.map { $0 == "X" ? long : $0 }
        let decisions = file(paths).decisions(for: url)
        #expect(decisions.map(\.outcome) == outcomes)
        #expect(
            decisions.map(\.rule) == outcomes.map { $0 == .tooComplex ? long : $0 == .opensApp ? "/a*" : nil }
        )
        // The outcomes are the same for `paths`, the form before iOS 13.
        var legacy = AppleAssociation()
        legacy.details = [AppleAssociation.Detail(appIDs: [Self.app], components: nil, paths: paths)]
        #expect(legacy.decisions(for: url).map(\.outcome) == outcomes)
    }

    @Test("have a known outcome if another part of the rule with the long pattern does not fit")
    func oneLongPart() throws {
        let url = try #require(Self.url)
        var file = AppleAssociation()
        let long = AssociationComponent(path: "/" + String(repeating: "*a", count: 600), fragment: "top")
        file.details = [AppleAssociation.Detail(appIDs: [Self.app], components: [long])]
        #expect(file.decisions(for: url).map(\.outcome) == [.noRule])
    }

    @Test("with variables of many values have an unknown outcome, found in bounded time")
    func variables() throws {
        let url = try #require(Self.url)
        let texts = (0..<100).map { String(repeating: "*a", count: 400) + "\($0)" }
        let empty = [String](repeating: "", count: 30_000)
        let variables = [
            SubstitutionVariable(name: "v", values: texts), SubstitutionVariable(name: "e", values: empty),
        ]
        let rules = (0..<4000).map { "$(v)$(v)$(e)\($0)" }
        let file = file(rules, variables: variables)
        #expect(file.decisions(for: url).map(\.outcome) == [.tooComplex])
        _ = file.findings
    }

    @Test("with tens of thousands of variables without an end are read in linear time")
    func openVariables() {
        let opened = String(repeating: "$(", count: 60_000)
        #expect(WildcardPattern(opened).unknownVariables.isEmpty)
        #expect(WildcardPattern(opened + "digit)").unknownVariables.isEmpty)
        let findings = file([opened + "drink)"]).findings
        #expect(findings.count { $0.kind == .unknownVariable } == 1)
    }

    @Test("have findings about unreachable rules only among the first 500 rules")
    func order() {
        let rules = ["/a/*"] + (0..<600).map { "/a/\($0)" }
        let unreachable = file(rules).findings.filter { $0.kind == .unreachableRule }
        #expect(unreachable.count == 499)
    }
}
