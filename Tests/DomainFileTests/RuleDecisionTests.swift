import Attribution
import DomainFiles
import Testing

/// Tests the examples and the rules of Apple's documentation.
@Suite("The rule that decides")
struct RuleDecisionTests {
    /// Rules 0 to 3 are the example of "Supporting associated domains"; the other rules test sentences of that article.
    private static let example = """
        {"/": "/buy/*", "comment": "0"},
        {"/": "/help/website/*", "exclude": true, "comment": "1"},
        {"/": "/help/*", "?": {"articleNumber": "????"}, "comment": "2"},
        {"#": "no_universal_links", "exclude": true, "comment": "3"},
        {"/": "/products/*", "?": {"id": "?*", "lang": "tr"}, "comment": "4"},
        {"/": "/search", "?": "q=*", "comment": "5"},
        {"/": "/Case/*", "caseSensitive": false, "comment": "6"},
        {"/": "/ürün/*", "percentEncoded": false, "comment": "7"},
        {"/": "/raw/%C3%BC*", "comment": "8"},
        {"/": "/$(lang)/$(region)/*", "comment": "9"},
        {"/": "/menu/$(food)", "comment": "10"},
        {"/": "/empty", "?": {"x": ""}, "comment": "11"},
        {"/": "/page", "#": "top*", "comment": "12"}
        """

    private static let file = """
        {"applinks": {"substitutionVariables": {"food": ["burrito", "pizza", "s?shi"]},
          "details": [{"appIDs": ["ABCDE12345.com.example.app"], "components": [\(example)]}]}}
        """

    @Test(
        "is the first rule that fits, also if it is an exclusion",
        arguments: [
            ("/buy/1", 0), ("/buy/", 0), ("/buy", nil), ("/buy/a/b?x=y#z", 0),
            ("/buy/1#no_universal_links", 0),
            ("/help/website/1?articleNumber=1234", -1), ("/help/1?articleNumber=1234", 2),
            ("/help/1?articleNumber=123", nil), ("/help/1?articleNumber=12345", nil), ("/help/1", nil),
            ("/help/1?articleNumber=1234&articleNumber=5678", 2),
            ("/help/1?articleNumber=1234&articleNumber=5", nil), ("/help/1?a=b&articleNumber=1234", 2),
            ("/x#no_universal_links", -3), ("/products/1?id=7&lang=tr", 4), ("/products/1?lang=tr&id=7", 4),
            ("/products/1?id=&lang=tr", nil), ("/products/1?lang=tr", nil), ("/products/1?id=7&lang=en", nil),
            ("/products/1?x=y#z", nil), ("/search?q=shoes&page=2", 5), ("/search?q=", 5), ("/search", nil),
            ("/search?p=1&q=2", nil), ("/case/x", 6), ("/CASE/X", 6), ("/BUY/1", nil), ("/ürün/1", 7),
            ("/%C3%BCr%C3%BCn/1", 7), ("/%c3%bcr%c3%bcn/1", 7), ("/raw/%C3%BCx", 8), ("/raw/ü", 8),
            ("/raw/%c3%bcx", nil), ("/tr/TR/home", 9), ("/TR/tr/home", nil), ("/menu/pizza", 10),
            ("/menu/sushi", 10), ("/menu/pie", nil), ("/empty", 11), ("/empty?x", 11), ("/empty?x=", 11),
            ("/empty?x=1", nil), ("/page#top", 12), ("/page#topmost", 12), ("/page", nil),
            ("https://go.example.com/buy/1", 0), ("https://go.example.com", nil),
        ] as [(String, Int?)]
    )
    func decides(url: String, rule: Int?) throws {
        let check = DomainFileValidation(.apple, Array(Self.file.utf8), from: "file")
        let parsed = try #require(AssociationURL(url))
        let decision = try #require(check.decisions(for: parsed).first)
        guard let rule else {
            #expect(decision.outcome == .noRule && decision.place == nil)
            return
        }
        #expect(decision.outcome == (rule < 0 ? .excluded : .opensApp))
        #expect(decision.place == "applinks.details[0].components[\(abs(rule))]")
    }

    @Test(
        "compares only the path, in the form before iOS 13",
        arguments: [
            ("/wwdc/news/", 0), ("/videos/wwdc/2015/x?y=1", 1), ("/videos/wwdc/2010/x", -2),
            ("/videos/wwdc/201x", 3), ("/videos/wwdc/20155", nil), ("/WWDC/news/", nil),
        ] as [(String, Int?)]
    )
    func legacy(url: String, rule: Int?) throws {
        let text = """
            {"applinks": {"apps": [], "details": [{"appID": "9JA89QQLNQ.com.apple.wwdc", "paths":
              ["/wwdc/news/", "/videos/wwdc/2015/*", "NOT /videos/wwdc/2010/*", "/videos/wwdc/201?"]}]}}
            """
        let check = DomainFileValidation(.apple, Array(text.utf8), from: "file")
        let parsed = try #require(AssociationURL(url))
        let decision = try #require(check.decisions(for: parsed).first)
        #expect(decision.place == rule.map { "applinks.details[0].paths[\(abs($0))]" })
        #expect(decision.outcome == (rule.map { $0 < 0 ? .excluded : .opensApp } ?? .noRule))
    }

    @Test("is the first rule that fits among all details of an app")
    func perApp() throws {
        let text = """
            {"applinks": {"details": [
              {"appIDs": ["ABCDE12345.a.one"], "components": [{"/": "/a/*"}]},
              {"appIDs": ["ABCDE12345.a.two", "ABCDE12345.a.one"], "components": [{"/": "/b/*"}]}]}}
            """
        let check = DomainFileValidation(.apple, Array(text.utf8), from: "file")
        let decisions = check.decisions(for: try #require(AssociationURL("/b/1")))
        #expect(decisions.map(\.app) == ["ABCDE12345.a.one", "ABCDE12345.a.two"])
        #expect(decisions.map(\.place) == Array(repeating: "applinks.details[1].components[0]", count: 2))
    }

    @Test("on Android is a rule for Android 15, or the app's manifest if there are no rules")
    func android() throws {
        let app = { (package: String, more: String) in
            """
            {"relation": ["delegate_permission/common.handle_all_urls"], "target": {"namespace": "android_app",
             "package_name": "\(package)", "sha256_cert_fingerprints": []}\(more)}
            """
        }
        let rules = """
            , "relation_extensions": {"delegate_permission/common.handle_all_urls": {"dynamic_app_link_components":
              [{"/": "/terms", "exclude": true}, {"?": {"app": "1"}}]}}
            """
        let text = "[\(app("a.one", "")),\(app("a.two", rules))]"
        let check = DomainFileValidation(.google, Array(text.utf8), from: "file")
        let outcomes = { (url: String) in
            check.decisions(for: try #require(AssociationURL(url))).map(\.outcome)
        }
        #expect(try outcomes("/terms?app=1") == [.byManifest, .excluded])
        #expect(try outcomes("/x?app=1") == [.byManifest, .opensApp])
        #expect(try outcomes("/x") == [.byManifest, .noRule])
    }

    /// Source: Android, "<uri-relative-filter-group>", and `UriRelativeFilter` of its source.
    @Test(
        "on Android compares decoded characters, needs the items and the fragment that it names, and has no variables",
        arguments: [
            ("/caf%C3%A9/1", 0), ("/café/1", 0), ("/raw/%C3%BC", nil), ("/web?off=1", 2), ("/web?off=", 2),
            ("/web", 3), ("/item?id=7&id=x", 4), ("/item?id=x", nil), ("/item?other=7", nil), ("/page#a", 5),
            ("/page", nil), ("/star/b/c", 6), ("/star/b/b/c", nil), ("/star/b/cc", nil), ("/star/c", nil),
            ("/one/b/c/", 7), ("/one/", nil), ("/$(lang)", 8), ("/tr", nil),
        ] as [(String, Int?)]
    )
    func androidParts(url: String, rule: Int?) throws {
        let fingerprint = [String](repeating: "AB", count: 32).joined(separator: ":")
        let text = """
            [{"relation": ["delegate_permission/common.handle_all_urls"], "target": {"namespace": "android_app",
             "package_name": "a.one", "sha256_cert_fingerprints": ["\(fingerprint)"]},
             "relation_extensions": {"delegate_permission/common.handle_all_urls": {"dynamic_app_link_components":
              [{"/": "/café/*"}, {"/": "/raw/%C3%BC"}, {"/": "/web", "?": {"off": "*"}, "exclude": true},
               {"/": "/web"}, {"/": "/item", "?": {"id": "7"}}, {"/": "/page", "#": "*"},
               {"/": "/star/*/c"}, {"/": "/one/?*"}, {"/": "/$(lang)"}]}}}]
            """
        let check = DomainFileValidation(.google, Array(text.utf8), from: "file")
        let address = try #require(AssociationURL(url))
        let decision = try #require(check.decisions(for: address).first)
        #expect(decision.place.map { String($0.suffix(3)) } == rule.map { "[\($0)]" })
        #expect(decision.outcome == (rule == nil ? .noRule : rule == 2 ? .excluded : .opensApp))
        #expect(check.findings.map(\.kind) == [.escapeNeverFits], "no rule is unreachable")
    }

    @Test(
        "needs a URL or an absolute path",
        arguments: ["", "products", "ftp://a.example/b", "https://", "/a b", "mailto:a@b.example", "/a\nb"]
    )
    func noURL(text: String) { #expect(AssociationURL(text) == nil) }
}
