import Attribution
import DomainFiles
import Testing

/// A document, and what is to be found in it: the rule, its place, and words that tell what to do.
struct FileCase: Sendable, CustomTestStringConvertible {
    let name: String
    let json: String
    let rule: AssociationRule
    let place: String

    init(_ name: String, _ rule: AssociationRule, at place: String = "", _ json: String) {
        (self.name, self.rule, self.place, self.json) = (name, rule, place, json)
    }

    var testDescription: String { name }

    /// One rule, or several, in an otherwise good file of Apple's.
    static func components(
        _ name: String,
        _ rule: AssociationRule,
        at place: String,
        _ components: String
    ) -> FileCase {
        FileCase(
            name,
            rule,
            at: "applinks.details[0].components\(place)",
            #"{"applinks":{"details":[{"appIDs":["ABCDE12345.com.example.app"],"components":[\#(components)]}]}}"#
        )
    }

    /// One statement in a file of Google's.
    static func target(_ name: String, _ rule: AssociationRule, at place: String, _ target: String)
        -> FileCase
    {
        FileCase(
            name,
            rule,
            at: "[0].target\(place)",
            #"[{"relation":["delegate_permission/common.handle_all_urls"],"target":\#(target)}]"#
        )
    }
}

@Suite("Domain files held against the rules")
struct DomainFileTests {
    private static let fingerprint = (0..<32).map { _ in "AB" }.joined(separator: ":")

    private func check(_ text: String, _ kind: DomainFile? = nil) -> DomainFileCheck {
        DomainFileCheck(kind, Array(text.utf8), from: "file")
    }

    @Test("are found good where they are as the documentation shows them")
    func good() {
        let apple = check(
            """
            {"applinks": {"defaults": {"caseSensitive": false},
              "substitutionVariables": {"food": ["burrito", "sushi*"]},
              "details": [
                {"appIDs": ["ABCDE12345.com.example.app", "ABCDE12345.com.example.app2"],
                 "defaults": {"percentEncoded": true},
                 "components": [
                  {"#": "no_universal_links", "exclude": true, "comment": "stays"},
                  {"/": "/buy/*", "comment": "any path below /buy/"},
                  {"/": "/help/website/*", "exclude": true},
                  {"/": "/help/*", "?": {"articleNumber": "????"}},
                  {"/": "/$(food)/$(lang)", "?": "*sale*"}]}]},
             "webcredentials": {"apps": ["ABCDE12345.com.example.app"]},
             "appclips": {"apps": ["ABCDE12345.com.example.app.Clip"]},
             "activitycontinuation": {"apps": ["ABCDE12345.com.example.app"]}}
            """
        )
        #expect(apple.kind == .apple)
        #expect(apple.findings == [])
        let google = check(
            """
            [{"relation": ["delegate_permission/common.handle_all_urls"],
              "target": {"namespace": "android_app", "package_name": "com.example.app",
                         "sha256_cert_fingerprints": ["\(Self.fingerprint)"]},
              "relation_extensions": {"delegate_permission/common.handle_all_urls": {
                "dynamic_app_link_components": [
                  {"/": "/path1", "exclude": true, "comments": "stays"},
                  {"#": "app*"}, {"?": {"dynamic": "2"}}]}}},
             {"relation": ["delegate_permission/common.get_login_creds"],
              "target": {"namespace": "web", "site": "https://www.example.com"}},
             {"include": "https://example.com/included.json"}]
            """
        )
        #expect(google.kind == .google)
        #expect(google.findings == [])
    }

    static let cases: [FileCase] = written + apple + patterns + google

    private static let written: [FileCase] = [
        FileCase("nothing", .empty, ""),
        FileCase("blanks", .empty, " \n"),
        FileCase("a byte order mark", .byteOrderMark, "\u{feff}{}"),
        FileCase("a comma too many", .json, at: "line 2, byte 15", "{\n\"applinks\":{},}"),
        FileCase("a comment", .json, at: "line 1, byte 2", "{// no\n}"),
        FileCase("two of a name", .duplicateName, at: "line 1, byte 16", #"{"applinks":{},"applinks":{}}"#),
        FileCase("a list for Apple's links", .wrongType, at: "applinks", #"{"applinks":[]}"#),
        FileCase("a string", .wrongType, "\"applinks\""),
        FileCase("a misspelt service", .unknownKey, at: "applink", #"{"applink":{}}"#),
    ]

    private static let apple: [FileCase] = [
        FileCase("no app", .nothingShared, "{}"),
        FileCase("no details", .missingAppID, at: "applinks", #"{"applinks":{}}"#),
        FileCase("credentials without apps", .missingAppID, at: "webcredentials", #"{"webcredentials":{}}"#),
        FileCase(
            "a detail without an app",
            .missingAppID,
            at: "applinks.details[0]",
            #"{"applinks":{"details":[{"components":[{"/":"*"}]}]}}"#
        ),
        FileCase(
            "apps that are not empty",
            .legacyApps,
            at: "applinks.apps",
            #"{"applinks":{"apps":["ABCDE12345.com.example.app"],"details":[]}}"#
        ),
        FileCase(
            "paths without apps",
            .legacyApps,
            at: "applinks",
            #"{"applinks":{"details":[{"appID":"ABCDE12345.com.example.app","paths":["*"]}]}}"#
        ),
        FileCase(
            "paths alone",
            .legacyPaths,
            at: "applinks.details[0].paths",
            #"{"applinks":{"apps":[],"details":[{"appID":"ABCDE12345.com.example.app","paths":["*"]}]}}"#
        ),
        FileCase(
            "a path without a slash",
            .legacyPathForm,
            at: "applinks.details[0].paths[1]",
            #"{"applinks":{"apps":[],"details":[{"appID":"ABCDE12345.com.example.app","paths":["/a","NOT  /b"]}]}}"#
        ),
        FileCase(
            "details as an object",
            .legacyDetails,
            at: "applinks.details",
            #"{"applinks":{"apps":[],"details":{"ABCDE12345.com.example.app":{"paths":["*"]}}}}"#
        ),
        FileCase(
            "neither components nor paths",
            .noRules,
            at: "applinks.details[0]",
            #"{"applinks":{"details":[{"appIDs":["ABCDE12345.com.example.app"]}]}}"#
        ),
        .components("no rules", .noRules, at: "", ""),
        FileCase(
            "a bundle id alone",
            .appIDForm,
            at: "appclips.apps[0]",
            #"{"appclips":{"apps":["com.example.app"]}}"#
        ),
        FileCase(
            "an app id with a wildcard",
            .appIDForm,
            at: "appclips.apps[0]",
            #"{"appclips":{"apps":["ABCDE12345.com.example.*"]}}"#
        ),
        FileCase(
            "a team in small letters",
            .appIDForm,
            at: "appclips.apps[0]",
            #"{"appclips":{"apps":["abcde12345.com.example.app"]}}"#
        ),
        FileCase(
            "an app twice",
            .duplicateAppID,
            at: "appclips.apps[1]",
            #"{"appclips":{"apps":["ABCDE12345.a.b","ABCDE12345.a.b"]}}"#
        ),
        FileCase(
            "a number among apps",
            .wrongType,
            at: "appclips.apps[0]",
            #"{"appclips":{"apps":[1]}}"#
        ),
        FileCase(
            "a variable within another",
            .variableForm,
            at: "applinks.substitutionVariables.a",
            #"{"applinks":{"details":[],"substitutionVariables":{"a":["$(b)"]}}}"#
        ),
        FileCase(
            "a variable with a bracket",
            .variableForm,
            at: "applinks.substitutionVariables.a(",
            #"{"applinks":{"details":[],"substitutionVariables":{"a(":["b"]}}}"#
        ),
        FileCase(
            "defaults that are a word",
            .wrongType,
            at: "applinks.defaults.caseSensitive",
            #"{"applinks":{"details":[],"defaults":{"caseSensitive":"no"}}}"#
        ),
    ]

    private static let patterns: [FileCase] = [
        .components("a misspelt key", .unknownKey, at: "[0].excluded", #"{"/":"/a","excluded":true}"#),
        .components("exclude as a word", .wrongType, at: "[0].exclude", #"{"/":"/a","exclude":"true"}"#),
        .components("a path that is a list", .wrongType, at: #"[0]["/"]"#, #"{"/":["/a"]}"#),
        .components("a query that is a number", .wrongType, at: #"[0]["?"]"#, #"{"?":1}"#),
        .components("an item that is a number", .wrongType, at: #"[0]["?"].id"#, #"{"?":{"id":1}}"#),
        .components("a path without a slash", .pathForm, at: #"[0]["/"]"#, #"{"/":"products/*"}"#),
        .components("a whole URL", .pathForm, at: #"[0]["/"]"#, #"{"/":"https://a.example/b"}"#),
        .components("a query in the path", .partsMixedUp, at: #"[0]["/"]"#, #"{"/":"/a?id=1"}"#),
        .components("a fragment in the path", .partsMixedUp, at: #"[0]["/"]"#, #"{"/":"/a#b"}"#),
        .components("a fragment with its sign", .partsMixedUp, at: ##"[0]["#"]"##, ##"{"#":"#b"}"##),
        .components("a blank in a path", .notPercentEncoded, at: #"[0]["/"]"#, #"{"/":"/a b"}"#),
        .components("a letter in a path", .notPercentEncoded, at: #"[0]["/"]"#, #"{"/":"/ürün"}"#),
        .components("half an escape", .malformedEscape, at: #"[0]["/"]"#, #"{"/":"/100%"}"#),
        .components(
            "an escape that is read",
            .escapeNeverFits,
            at: #"[0]["/"]"#,
            #"{"/":"/%C3%BC","percentEncoded":false}"#
        ),
        .components("an unknown variable", .unknownVariable, at: #"[0]["/"]"#, #"{"/":"/$(drink)"}"#),
        .components("two stars", .redundantWildcard, at: #"[0]["/"]"#, #"{"/":"/a/**"}"#),
        .components("a rule behind everything", .unreachableRule, at: "[1]", #"{"/":"*"},{"/":"/a"}"#),
        .components("the same rule again", .unreachableRule, at: "[1]", #"{"/":"/a"},{"/":"/a"}"#),
        .components(
            "a rule within another",
            .unreachableRule,
            at: "[1]",
            #"{"/":"/a/*","?":{"x":"*"}},{"/":"/a/b/?*","?":{"y":"1"}}"#
        ),
        .components(
            "an exclusion too late",
            .excludeTooLate,
            at: "[1]",
            #"{"/":"/a/*"},{"/":"/a/b","exclude":true}"#
        ),
    ]

    private static let google: [FileCase] = [
        FileCase("no statements", .noStatements, "[]"),
        FileCase("a statement that is a text", .wrongType, at: "[0]", #"["x"]"#),
        FileCase("no relation", .relationForm, at: "[0]", #"[{"target":{}}]"#),
        FileCase("no target", .namespace, at: "[0]", #"[{"relation":["a/b"]}]"#),
        FileCase(
            "a relation without its kind",
            .relationForm,
            at: "[0].relation[0]",
            #"[{"relation":["handle_all_urls"],"target":{"namespace":"web","site":"https://a.example"}}]"#
        ),
        FileCase(
            "a misspelt relation",
            .unknownRelation,
            at: "[0].relation[0]",
            #"""
            [{"relation":["delegate_permission/common.handle_all_url"],
              "target":{"namespace":"web","site":"https://a.example"}}]
            """#
        ),
        FileCase(
            "a misspelt key",
            .unknownKey,
            at: "[0].relations",
            #"[{"relations":[],"relation":["a/b"],"target":{"namespace":"web","site":"https://a.example"}}]"#
        ),
        .target("an unknown namespace", .namespace, at: ".namespace", #"{"namespace":"ios_app"}"#),
        .target("no package", .packageForm, at: "", #"{"namespace":"android_app"}"#),
        .target(
            "a package of one word",
            .packageForm,
            at: ".package_name",
            #"{"namespace":"android_app","package_name":"shop","sha256_cert_fingerprints":["\#(fingerprint)"]}"#
        ),
        .target(
            "no fingerprint",
            .noFingerprints,
            at: ".sha256_cert_fingerprints",
            #"{"namespace":"android_app","package_name":"a.b"}"#
        ),
        .target("no site", .siteForm, at: "", #"{"namespace":"web"}"#),
        .target(
            "a site with a path",
            .siteForm,
            at: ".site",
            #"{"namespace":"web","site":"https://a.example/b"}"#
        ),
        FileCase(
            "links that a site opens",
            .linksToSite,
            at: "[0].relation",
            #"""
            [{"relation":["delegate_permission/common.handle_all_urls"],
              "target":{"namespace":"web","site":"https://a.example"}}]
            """#
        ),
        FileCase(
            "an include that is no address",
            .includeForm,
            at: "[0].include",
            #"[{"include":"more.json"}]"#
        ),
        FileCase(
            "too many includes",
            .tooManyIncludes,
            "[" + (0..<11).map { #"{"include":"https://a.example/\#($0)"}"# }.joined(separator: ",") + "]"
        ),
        FileCase(
            "nobody opens links",
            .noLinkHandling,
            #"""
            [{"relation":["delegate_permission/common.get_login_creds"],
              "target":{"namespace":"web","site":"https://a.example"}}]
            """#
        ),
        FileCase(
            "the same statement again",
            .duplicateStatement,
            at: "[1]",
            "[" + Array(repeating: app(#""#), count: 2).joined(separator: ",") + "]"
        ),
        FileCase(
            "an extension of another relation",
            .extensionForm,
            at: #"[0].relation_extensions["a/b"]"#,
            "[" + app(#","relation_extensions":{"a/b":{}}"#) + "]"
        ),
        FileCase(
            "rules in the wrong order",
            .unreachableRule,
            at:
                #"[0].relation_extensions["delegate_permission/common.handle_all_urls"].dynamic_app_link_components[1]"#,
            "["
                + app(
                    #"""
                    ,"relation_extensions":{"delegate_permission/common.handle_all_urls":
                      {"dynamic_app_link_components":[{"/":"*"},{"/":"/a"}]}}
                    """#
                ) + "]"
        ),
    ]

    private static func app(_ more: String) -> String {
        #"""
        {"relation":["delegate_permission/common.handle_all_urls"],"target":{"namespace":"android_app",
         "package_name":"com.example.app","sha256_cert_fingerprints":["\#(fingerprint)"]}\#(more)}
        """#
    }

    @Test("are told every rule that they break, where, and what to do", arguments: cases)
    func breaks(file: FileCase) throws {
        let found = check(file.json)
        let finding = try #require(
            found.findings.first { $0.rule == file.rule && $0.place == file.place },
            "\(found.findings.map { "\($0.rule.rawValue) at \($0.place)" })"
        )
        #expect(!finding.problem.isEmpty && !finding.problem.hasSuffix("."))
        #expect(!finding.advice.isEmpty && !finding.advice.hasSuffix("."))
    }

    @Test(
        "are told what is wrong with a certificate's fingerprint",
        arguments: [
            ("", "is no fingerprint"), ("AB:CD", "has 2 bytes"),
            (String(repeating: "AB", count: 32), "lacks its colons"),
            ((0..<20).map { _ in "AB" }.joined(separator: ":"), "is a SHA-1"),
            ((0..<32).map { _ in "ab" }.joined(separator: ":"), "small letters"),
            ((0..<32).map { _ in "GB" }.joined(separator: ":"), "is no fingerprint"),
        ]
    )
    func fingerprints(text: String, words: String) throws {
        let found = check(
            #"""
            [{"relation":["delegate_permission/common.handle_all_urls"],"target":{"namespace":"android_app",
              "package_name":"com.example.app","sha256_cert_fingerprints":["\#(text)"]}}]
            """#
        )
        let finding = try #require(found.findings.first { $0.rule == .fingerprintForm })
        #expect(finding.problem.contains(words))
        #expect(finding.place == "[0].target.sha256_cert_fingerprints[0]")
    }

    @Test("are told of bytes that are no text, a signature, and a length that nobody reads")
    func bytes() {
        let wrong = DomainFileCheck(
            .apple,
            Array("{\"a\":\"".utf8) + [0xff] + Array("\"}".utf8),
            from: "file"
        )
        #expect(wrong.findings.map(\.rule) == [.utf8])
        let signed = DomainFileCheck(.apple, [0x30, 0x82, 0x01, 0x02, 0x06], from: "file")
        #expect(signed.findings.map(\.rule) == [.signed])
        let long = check("{" + String(repeating: " ", count: 128 * 1024) + "}")
        #expect(long.findings.contains { $0.rule == .size })
        let longest = check("{" + String(repeating: " ", count: 128 * 1024 - 2) + "}")
        #expect(!longest.findings.contains { $0.rule == .size })
    }

    @Test("have a case for every rule but those of their delivery, which are tried with a server")
    func isComplete() {
        let tried = Set(Self.cases.map(\.rule)).union([
            .utf8, .signed, .size, .fingerprintForm, .unreachable, .certificate, .status, .redirect,
            .contentType,
            .contentEncoding, .fileName, .location,
        ])
        #expect(AssociationRule.allCases.filter { !tried.contains($0) } == [])
    }

    @Test("do not call rules unreachable that others only touch")
    func reachable() {
        let components = [
            #"{"/":"/a","?":{"x":"1"}},{"/":"/a"}"#, #"{"/":"/A"},{"/":"/a"}"#,
            #"{"/":"/a"},{"/":"/A","caseSensitive":false}"#, #"{"/":"/a/?"},{"/":"/a/*"}"#,
            ##"{"/":"/a","#":"x"},{"/":"/a"}"##, #"{"/":"/%C3%BC"},{"/":"/ü","percentEncoded":false}"#,
        ]
        for text in components {
            let file = FileCase.components("", .unreachableRule, at: "", text)
            let rules = check(file.json).findings.map(\.rule)
            #expect(!rules.contains(.unreachableRule) && !rules.contains(.excludeTooLate), "\(text)")
        }
    }
}
