import Attribution
import DomainFiles
import Testing

@Suite("Domain files of apps")
struct AssociationGenerationTests {
    private static let fingerprint = (0..<32).map { _ in "AB" }.joined(separator: ":")

    static func app(
        _ name: String,
        number: UInt64 = 1,
        hosts: [String] = ["go.example.com"],
        rules: [String] = [],
        _ change: (inout AppLinks) -> Void = { _ in }
    ) throws -> App {
        var links = AppLinks()
        links.hosts = hosts.compactMap { LinkHost($0) }
        links.apple.teamID = "ABCDE12345"
        links.apple.bundleIDs = ["com.example.\(name)"]
        links.android.package = "com.example.\(name)"
        links.android.certificateFingerprints = [fingerprint]
        links.rules = try rules.map { try LinkRule(parsing: $0) }
        change(&links)
        let settings = App.Settings(name: name, links: links)
        return App(
            id: AppID(high: 1, low: number),
            settings: settings,
            createdAt: Timestamp(milliseconds: Int64(number))
        )
    }

    private func outcome(_ apps: [App], _ url: String) throws -> [RuleDecision.Outcome] {
        AppleAssociation(apps: apps).decisions(for: try #require(AssociationURL(url))).map(\.outcome)
    }

    @Test(
        "open every slug if the app has no rules, and never the service's paths",
        arguments: [
            ("/summer25", RuleDecision.Outcome.opensApp), ("/go/summer25?x=1", .opensApp),
            ("/summer25/qr.svg", .excluded), ("/go/summer25/qr.png", .excluded),
            ("/v1/collector.js", .excluded), ("/openapi.json", .excluded),
            ("/a/b/c/d/qr.png?size=64", .excluded),
            ("/admin", .excluded), ("/.well-known/assetlinks.json", .excluded), ("/vip", .opensApp),
            ("/administration", .opensApp), ("/healthz", .excluded), ("/", .opensApp),
        ]
    )
    func opens(url: String, expected: RuleDecision.Outcome) throws {
        #expect(try outcome([Self.app("shop")], url) == [expected])
    }

    @Test("put exclusions first, whatever order the operator chose")
    func excludesFirst() throws {
        let app = try Self.app("shop", rules: ["/help/contact", "/products/*", "exclude /help/*"])
        let components = try #require(AppleAssociation(apps: [app]).details.first?.components)
        let lastExclude = try #require(components.lastIndex { $0.excludes })
        let firstOther = try #require(components.firstIndex { !$0.excludes })
        #expect(lastExclude < firstOther)
        #expect(components.suffix(2).map(\.path) == ["/help/contact", "/products/*"])
        #expect(try outcome([app], "/products/1") == [.opensApp])
        #expect(try outcome([app], "/help/contact") == [.excluded])
        #expect(try outcome([app], "/other") == [.noRule])
        let stays = try Self.app("shop", rules: ["exclude /terms"])
        #expect(try outcome([stays], "/terms") == [.excluded])
        #expect(
            try outcome([stays], "/other") == [.opensApp],
            "if the app has only exclusions, all other URLs open it"
        )
    }

    @Test("contain all apps and app clips of a host, and the same apps give the same file")
    func apps() throws {
        let apps = [
            try Self.app("shop", number: 1) { links in
                links.apple.bundleIDs = ["com.example.shop", "com.example.shop.beta"]
                links.apple.appClipIDs = ["com.example.shop.Clip"]
                links.apple.sharesWebCredentials = true
            },
            try Self.app("news", number: 2),
            try Self.app("none", number: 3) { links in
                links.apple.teamID = nil
                links.android.certificateFingerprints = []
            },
        ]
        let file = AppleAssociation(apps: apps)
        #expect(
            file.details.map(\.appIDs) == [
                ["ABCDE12345.com.example.shop", "ABCDE12345.com.example.shop.beta"],
                ["ABCDE12345.com.example.news"],
            ]
        )
        #expect(file.appClips == ["ABCDE12345.com.example.shop.Clip"])
        #expect(file.webCredentials == ["ABCDE12345.com.example.shop", "ABCDE12345.com.example.shop.beta"])
        #expect(AppleAssociation(apps: apps) == file)
        let host = try #require(LinkHost("go.example.com"))
        let statements = AssetLinks(host: host, apps: apps).statements
        #expect(
            statements.map(\.target) == [
                .site("https://go.example.com"),
                .app(package: "com.example.shop", fingerprints: [Self.fingerprint]),
                .app(package: "com.example.news", fingerprints: [Self.fingerprint]),
            ]
        )
        #expect(statements[1].relations == [AssetLinks.handlesURLs, AssetLinks.sharesCredentials])
        #expect(statements[2].relations == [AssetLinks.handlesURLs])
        let directory = Directory(
            apps: apps + [try Self.app("far", number: 4, hosts: ["b.example.com"])],
            keys: []
        )
        #expect(directory.apps(listing: host).count == 3)
    }

    @Test("contain for Android either all rules or none")
    func androidRules() throws {
        let host = try #require(LinkHost("go.example.com"))
        let rules = { (texts: [String]) in
            AssetLinks(host: host, apps: [try Self.app("shop", rules: texts)]).statements.first?.components
        }
        #expect(try rules([]) == nil)
        #expect(try rules(["exclude /terms"])?.contains { $0.path == "/terms" && $0.excludes } == true)
        #expect(try rules(["exclude /terms", "/a ignore-case"]) == nil)
        #expect(try rules(["/$(lang)/*"]) == nil)
        #expect(try rules(["/p/* ?id=?* #top"])?.last?.fragment == "top")
        let file = AssetLinks(host: host, apps: [try Self.app("shop", rules: ["exclude /terms"])])
        for (url, outcome) in [
            ("/summer25/qr.svg", RuleDecision.Outcome.excluded), ("/a/b/c/d/qr.png", .excluded),
            ("/a/b/c/d", .opensApp), ("/terms", .excluded),
        ] {
            #expect(file.decisions(for: try #require(AssociationURL(url))).map(\.outcome) == [outcome])
        }
        // Android compares decoded characters, and has no setting for that.
        #expect(
            try rules(["/ürün/* decoded -- shop"])?.last == AssociationComponent(path: "/ürün/*"),
            "a decoded rule means the same on Android, which knows no comments"
        )
        for rule in ["/%C3%BCr%C3%BCn/*", "/a ?x=%20", "/a ?%20=x"] { #expect(try rules([rule]) == nil) }
        // Android compares a pattern of the query with single items, and needs the item or the fragment.
        for rule in ["/a ??*", "/a ?x=*", "/a ?x=", "/a #*"] { #expect(try rules([rule]) == nil) }
    }

    @Test("are generated without findings")
    func areSound() throws {
        let apps = [
            try Self.app("shop", rules: ["exclude /terms ?web=1", "/p/* ?id=?*", "/ürün/* decoded", "*"]),
            try Self.app("news", number: 2),
        ]
        #expect(AppleAssociation(apps: apps).findings.isEmpty)
        let host = try #require(LinkHost("go.example.com"))
        #expect(AssetLinks(host: host, apps: apps).findings.isEmpty)
    }
}
