import Attribution
import DomainFiles
import Testing

/// A document, and a finding that the test expects about it.
struct FileCase: Sendable, CustomTestStringConvertible {
    let kind: AssociationFinding.Kind
    let place: String
    let bytes: [UInt8]

    init(_ kind: AssociationFinding.Kind, at place: String = "", _ json: String) {
        (self.kind, self.place, bytes) = (kind, place, Array(json.utf8))
    }

    init(_ kind: AssociationFinding.Kind, at place: String = "", bytes: [UInt8]) {
        (self.kind, self.place, self.bytes) = (kind, place, bytes)
    }

    var testDescription: String { "\(kind) at \(place)" }

    private static let handlesURLs = "delegate_permission/common.handle_all_urls"
    static let fingerprint = pairs("AB", 32)

    static func pairs(_ pair: String, _ count: Int) -> String {
        (0..<count).map { _ in pair }.joined(separator: ":")
    }

    /// Apple's file with these members of `applinks`.
    static func links(_ kind: AssociationFinding.Kind, at place: String = "", _ members: String) -> FileCase {
        FileCase(kind, at: "applinks\(place)", #"{"applinks":{\#(members)}}"#)
    }

    /// Apple's file with these substitution variables.
    static func variables(_ kind: AssociationFinding.Kind, at place: String, _ members: String) -> FileCase {
        let variables = #""details":[],"substitutionVariables":{\#(members)}"#
        return .links(kind, at: ".substitutionVariables\(place)", variables)
    }

    /// Apple's file with these app clips; the finding is about the clip at an index.
    static func clips(_ kind: AssociationFinding.Kind, at index: Int = 0, _ apps: String) -> FileCase {
        FileCase(kind, at: "appclips.apps[\(index)]", #"{"appclips":{"apps":[\#(apps)]}}"#)
    }

    /// Apple's file with a detail that contains an app and these members.
    static func detail(
        _ kind: AssociationFinding.Kind,
        at place: String = "",
        _ members: String,
        app: String = #""appIDs":["ABCDE12345.com.example.app"]"#,
        links: String = ""
    ) -> FileCase {
        let members = [app, members].filter { !$0.isEmpty }.joined(separator: ",")
        return .links(kind, at: ".details[0]\(place)", #"\#(links)"details":[{\#(members)}]"#)
    }

    /// Apple's file with one rule or several.
    static func components(
        _ kind: AssociationFinding.Kind,
        at place: String = #"[0]["/"]"#,
        _ components: String
    ) -> FileCase { detail(kind, at: ".components\(place)", #""components":[\#(components)]"#) }

    /// Apple's file with a rule for a path.
    static func path(_ kind: AssociationFinding.Kind, _ path: String) -> FileCase {
        components(kind, #"{"/":"\#(path)"}"#)
    }

    /// Google's file with a statement about a target.
    static func target(_ kind: AssociationFinding.Kind, at place: String = "", _ target: String) -> FileCase {
        FileCase(kind, at: "[0].target\(place)", #"[{"relation":["\#(handlesURLs)"],"target":\#(target)}]"#)
    }

    /// Google's file with a statement about an app with this fingerprint.
    static func app(_ kind: AssociationFinding.Kind, fingerprint: String) -> FileCase {
        target(
            kind,
            at: ".sha256_cert_fingerprints[0]",
            #"{"namespace":"android_app","package_name":"a.b","sha256_cert_fingerprints":["\#(fingerprint)"]}"#
        )
    }

    /// Google's file with a statement that has this relation and is about a site.
    static func site(_ kind: AssociationFinding.Kind, at place: String = "", _ relation: String) -> FileCase {
        let target = #""target":{"namespace":"web","site":"https://a.example"}"#
        return FileCase(kind, at: place, #"[{\#(relation),\#(target)}]"#)
    }

    /// Google's file with a valid statement for each text; the text contains further members of the statement.
    static func statements(_ kind: AssociationFinding.Kind, at place: String, _ more: String...) -> FileCase {
        let statements = more.map { more in
            #"""
            {"relation":["\#(handlesURLs)"],"target":{"namespace":"android_app","package_name":"com.example.app",
             "sha256_cert_fingerprints":["\#(fingerprint)"]}\#(more)}
            """#
        }
        return FileCase(kind, at: place, "[\(statements.joined(separator: ","))]")
    }
}

@Suite("Findings about domain files")
struct DomainFileFindingTests {
    private func validate(_ text: String) -> DomainFileValidation {
        DomainFileValidation(nil, Array(text.utf8), from: "file")
    }

    @Test("do not concern the examples of Apple's and Google's documentation")
    func good() {
        let apple = validate(
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
        let google = validate(
            """
            [{"relation": ["delegate_permission/common.handle_all_urls"],
              "target": {"namespace": "android_app", "package_name": "com.example.app",
                         "sha256_cert_fingerprints": ["\(FileCase.fingerprint)"]},
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
        FileCase(.empty, ""), FileCase(.blank, " \n"), FileCase(.byteOrderMark, "\u{feff}{}"),
        FileCase(.json, at: "line 2, byte 15", "{\n\"applinks\":{},}"),
        FileCase(.json, at: "line 1, byte 2", "{// no\n}"),
        FileCase(.duplicateName, at: "line 1, byte 16", #"{"applinks":{},"applinks":{}}"#),
        FileCase(.utf8, at: "line 1, byte 7", bytes: Array("{\"a\":\"".utf8) + [0xff] + Array("\"}".utf8)),
        FileCase(.signed, bytes: [0x30, 0x82, 0x01, 0x02, 0x06]),
        FileCase(.size, "{" + String(repeating: " ", count: 128 * 1024 - 1) + "}"),
        FileCase(.wrongType, at: "applinks", #"{"applinks":[]}"#), FileCase(.wrongType, "\"applinks\""),
        FileCase(.unknownKey, at: "applink", #"{"applink":{}}"#),
    ]

    private static let apple: [FileCase] = [
        FileCase(.nothingShared, "{}"), FileCase(.noDetails, at: "applinks", #"{"applinks":{}}"#),
        FileCase(.noApps, at: "webcredentials", #"{"webcredentials":{}}"#),
        .detail(.noAppIDs, #""components":[{"/":"*"}]"#, app: ""),
        .links(.legacyAppsNotEmpty, at: ".apps", #""apps":["ABCDE12345.com.example.app"],"details":[]"#),
        .links(.legacyAppsMissing, #""details":[{"appID":"A","paths":["*"]}]"#),
        .detail(.legacyPaths, at: ".paths", #""paths":["*"]"#, links: #""apps":[],"#),
        .detail(.legacyPathForm, at: ".paths[1]", #""paths":["/a","NOT  /b"]"#, links: #""apps":[],"#),
        .links(
            .legacyDetails,
            at: ".details",
            #""apps":[],"details":{"ABCDE12345.com.example.app":{"paths":["*"]}}"#
        ), .detail(.noComponents, ""), .components(.emptyComponents, at: "", ""),
        .clips(.appIDForm, #""com.example.app""#), .clips(.appIDForm, #""ABCDE12345.com.example.*""#),
        .clips(.appIDForm, #""abcde12345.com.example.app""#),
        .clips(.duplicateAppID, at: 1, #""ABCDE12345.a.b","ABCDE12345.a.b""#), .clips(.wrongType, "1"),
        .variables(.variableInVariable, at: ".a", #""a":["$(b)"]"#),
        .variables(.variableName, at: ".a(", #""a(":["b"]"#),
        .links(.wrongType, at: ".defaults.caseSensitive", #""details":[],"defaults":{"caseSensitive":"no"}"#),
    ]

    private static let patterns: [FileCase] = [
        .components(.unknownKey, at: "[0].excluded", #"{"/":"/a","excluded":true}"#),
        .components(.wrongType, at: "[0].exclude", #"{"/":"/a","exclude":"true"}"#),
        .components(.wrongType, #"{"/":["/a"]}"#), .components(.wrongType, at: #"[0]["?"]"#, #"{"?":1}"#),
        .components(.wrongType, at: #"[0]["?"].id"#, #"{"?":{"id":1}}"#),
        .path(.pathWithoutSlash, "products/*"), .path(.wholeURL, "https://a.example/b"),
        .path(.queryInPath, "/a?id=1"), .path(.fragmentInPath, "/a#b"),
        .components(.fragmentWithSign, at: ##"[0]["#"]"##, ##"{"#":"#b"}"##),
        .path(.notPercentEncoded, "/a b"), .path(.notPercentEncoded, "/ürün"),
        .path(.malformedEscape, "/100%"),
        .components(.escapeNeverFits, #"{"/":"/%C3%BC","percentEncoded":false}"#),
        .path(.unknownVariable, "/$(drink)"), .path(.redundantWildcard, "/a/**"),
        // A rule after a rule for everything, after an equal rule, and after a rule that covers it.
        .components(.unreachableRule, at: "[1]", #"{"/":"*"},{"/":"/a"}"#),
        .components(.unreachableRule, at: "[1]", #"{"/":"/a"},{"/":"/a"}"#),
        .components(
            .unreachableRule,
            at: "[1]",
            #"{"/":"/a/*","?":{"x":"*"}},{"/":"/a/b/?*","?":{"y":"1"}}"#
        ), .components(.excludeTooLate, at: "[1]", #"{"/":"/a/*"},{"/":"/a/b","exclude":true}"#),
    ]

    private static let google: [FileCase] = [
        FileCase(.noStatements, "[]"), FileCase(.wrongType, at: "[0]", #"["x"]"#),
        FileCase(.noRelation, at: "[0]", #"[{"target":{}}]"#),
        FileCase(.noTarget, at: "[0]", #"[{"relation":["a/b"]}]"#),
        .site(.relationForm, at: "[0].relation[0]", #""relation":["handle_all_urls"]"#),
        .site(
            .unknownRelation,
            at: "[0].relation[0]",
            #""relation":["delegate_permission/common.handle_all_url"]"#
        ), .site(.unknownKey, at: "[0].relations", #""relations":[],"relation":["a/b"]"#),
        .site(
            .linksToSite,
            at: "[0].relation",
            #""relation":["delegate_permission/common.handle_all_urls"]"#
        ), .site(.noLinkHandling, #""relation":["delegate_permission/common.get_login_creds"]"#),
        .target(.unknownNamespace, at: ".namespace", #"{"namespace":"ios_app"}"#),
        .target(.noPackage, #"{"namespace":"android_app"}"#),
        .target(.packageForm, at: ".package_name", #"{"namespace":"android_app","package_name":"shop"}"#),
        .target(
            .noFingerprints,
            at: ".sha256_cert_fingerprints",
            #"{"namespace":"android_app","package_name":"a.b"}"#
        ), .app(.fingerprintForm, fingerprint: ""), .app(.fingerprintLength, fingerprint: "AB:CD"),
        .app(.fingerprintWithoutColons, fingerprint: String(repeating: "AB", count: 32)),
        .app(.fingerprintSHA1, fingerprint: FileCase.pairs("AB", 20)),
        .app(.fingerprintCase, fingerprint: FileCase.pairs("ab", 32)),
        .app(.fingerprintForm, fingerprint: FileCase.pairs("GB", 32)),
        .target(.noSite, #"{"namespace":"web"}"#),
        .target(.siteForm, at: ".site", #"{"namespace":"web","site":"https://a.example/b"}"#),
        FileCase(.includeForm, at: "[0].include", #"[{"include":"more.json"}]"#),
        FileCase(
            .tooManyIncludes,
            "[" + (0..<11).map { #"{"include":"https://a.example/\#($0)"}"# }.joined(separator: ",") + "]"
        ), .statements(.duplicateStatement, at: "[1]", "", ""),
        .statements(
            .extensionForm,
            at: #"[0].relation_extensions["a/b"]"#,
            #","relation_extensions":{"a/b":{}}"#
        ),
        .statements(
            .unreachableRule,
            at:
                #"[0].relation_extensions["delegate_permission/common.handle_all_urls"].dynamic_app_link_components[1]"#,
            #"""
            ,"relation_extensions":{"delegate_permission/common.handle_all_urls":
              {"dynamic_app_link_components":[{"/":"*"},{"/":"/a"}]}}
            """#
        ),
        .statements(
            .wrongType,
            at:
                #"[0].relation_extensions["delegate_permission/common.handle_all_urls"].dynamic_app_link_components[0]["?"]"#,
            #"""
            ,"relation_extensions":{"delegate_permission/common.handle_all_urls":
              {"dynamic_app_link_components":[{"?":"id=*"}]}}
            """#
        ),
    ]

    @Test("contain the kind and the position of each defect", arguments: cases)
    func defects(file: FileCase) throws {
        let findings = DomainFileValidation(nil, file.bytes, from: "file").findings
        #expect(
            findings.contains { $0.kind == file.kind && $0.place == file.place },
            "\(findings.map { "\($0.kind) at \($0.place)" })"
        )
        for finding in findings { Self.expectSentences(finding) }
    }

    /// Requires texts that end without a full stop and contain no placeholder of a detail.
    private static func expectSentences(_ finding: AssociationFinding) {
        for text in [finding.problem, finding.advice] {
            #expect(!text.isEmpty && !text.hasSuffix("."), "\(finding.kind)")
            #expect(!text.contains(/\{\d\}/), "\(text)")
        }
    }

    /// The kinds that concern the delivery of a file, which need a server.
    private static let delivered: [AssociationFinding.Kind] = [
        .unreachable, .unusableAddress, .certificate, .status, .redirect, .noContentType, .wrongContentType,
        .contentEncoding, .fileName, .rootLocation, .sizeUnknown,
    ]

    @Test("have a row in the table for each kind, and a case in this test unless the kind needs a server")
    func isComplete() {
        let tried = Set(Self.cases.map(\.kind) + Self.delivered)
        #expect(AssociationFinding.Kind.allCases.filter { !tried.contains($0) } == [])
        for kind in AssociationFinding.Kind.allCases {
            let finding = AssociationFinding(kind, "one", "two")
            Self.expectSentences(finding)
            #expect(finding.rule.wholeMatch(of: /[a-z0-9_]+/) != nil)
        }
        let rules = Dictionary(grouping: AssociationFinding.Kind.allCases) { AssociationFinding($0).rule }
        #expect(rules.values.allSatisfy { Set($0.map { AssociationFinding($0).severity }).count == 1 })
    }

    @Test("contain a detail unchanged, even if it looks like the placeholder of another detail")
    func details() {
        let finding = AssociationFinding(.fingerprintLength, "{2}{1}", "7")
        #expect(finding.problem == "\"{2}{1}\" has 7 bytes, and a SHA-256 has 32")
        #expect(AssociationFinding(.emptyComponents).advice == #"Write {"/": "*"} to open all of them"#)
        let size = AssociationFinding(.sizeUnknown).problem
        #expect(size.contains("\(AppleAssociation.maximumByteCount) bytes"))
        #expect(AssociationFinding(.tooManyIncludes, "11").problem.contains("\(AssetLinks.maximumIncludes)"))
    }

    @Test("do not concern a file of the maximum length, nor rules that only overlap")
    func noDefect() {
        let longest = validate("{" + String(repeating: " ", count: 128 * 1024 - 2) + "}")
        #expect(!longest.findings.contains { $0.kind == .size })
        for components in [
            #"{"/":"/a","?":{"x":"1"}},{"/":"/a"}"#, #"{"/":"/A"},{"/":"/a"}"#,
            #"{"/":"/a"},{"/":"/A","caseSensitive":false}"#, #"{"/":"/a/?"},{"/":"/a/*"}"#,
            ##"{"/":"/a","#":"x"},{"/":"/a"}"##, #"{"/":"/%C3%BC"},{"/":"/ü","percentEncoded":false}"#,
        ] {
            let file = FileCase.components(.unreachableRule, components)
            let kinds = DomainFileValidation(nil, file.bytes, from: "file").findings.map(\.kind)
            #expect(!kinds.contains(.unreachableRule) && !kinds.contains(.excludeTooLate), "\(components)")
        }
    }
}
