import Attribution
import Testing

@Suite("Link settings of an app")
struct AppLinksTests {
    private static let certificate = (0..<32).map { $0 % 2 == 0 ? "AB" : "09" }.joined(separator: ":")

    private static let whole: AppLinkFields = {
        var fields = AppLinkFields()
        fields[.hosts] = ["go.shop.example", "l.shop.example"]
        fields[.webHosts] = ["shop.example"]
        fields.set(.icon, "https://shop.example/icon.png")
        fields.set(.color, "#1a2b3c")
        fields.set(.iosTeam, "ABCDE12345")
        fields[.iosBundles] = ["com.example.shop", "com.example.shop-beta"]
        fields.set(.iosStoreID, "1234567890")
        fields.set(.iosScheme, "shopapp")
        fields[.iosAppClips] = ["com.example.shop.Clip"]
        fields.set(.webCredentials, "true")
        fields.set(.androidPackage, "com.example.shop")
        fields[.androidCertificates] = [certificate]
        fields.set(.androidScheme, "shopapp")
        fields.set(.iosFallback, "https://apps.apple.com/app/id1234567890")
        fields.set(.androidFallback, "https://shop.example/android")
        fields.set(.huaweiFallback, "https://appgallery.huawei.com/app/C1")
        fields.set(.desktopURL, "https://shop.example/")
        fields[.rules] = ["exclude /terms", "/products/* ?id=?* -- with an id alone"]
        fields.set(.postbackHost, "shop.example")
        fields.set(.appleAds, "true")
        fields.set(.developmentPostbacks, "true")
        return fields
    }()

    @Test("stay the same when they are written as fields and read again, for every field")
    func roundTrip() throws {
        let links = try AppLinks(Self.whole)
        #expect(links.fields == Self.whole)
        #expect(Set(Self.whole.all.map(\.field)) == Set(AppLinkField.allCases))
        #expect(AppLinks(stored: Self.whole) == links)
        #expect(try AppLinks(AppLinkFields()) == AppLinks())
        #expect(AppLinks().fields == AppLinkFields())
        #expect(links.schemes == ["shopapp"])
    }

    @Test("refuse a rule with `#` in its query, but still read it from the database")
    func gluedQuery() throws {
        var fields = AppLinkFields()
        fields[.rules] = ["/a ?q=1#top", "??#b"]
        let error = #expect(throws: FieldProblems.self) { try AppLinks(fields) }
        #expect(error?.all.map(\.field) == ["link_rules", "link_rules"])
        #expect(error?.all.first?.message.contains("\"?q=1#top\"") == true)
        let stored = AppLinks(stored: fields)
        #expect(stored.rules.map(\.text) == ["/a ?q=1#top", "??#b"])
        // A change of another field must not be refused because of a rule that is stored already.
        fields.set(.color, "#1a2b3c")
        #expect(try AppLinks(fields, replacing: stored).rules == stored.rules)
        fields[.rules] += ["/c ?d#e"]
        let added = #expect(throws: FieldProblems.self) { try AppLinks(fields, replacing: stored) }
        #expect(added?.all.count == 1)
    }

    @Test("are not read beyond the first host too many")
    func longLists() {
        var fields = AppLinkFields()
        fields[.hosts] = (0...100).map { "l\($0).shop.example" } + ["a b"]
        let error = #expect(throws: FieldProblems.self) { try AppLinks(fields) }
        #expect(error?.all.count == 1)
    }

    @Test("allow every web host only with `any`")
    func anyHost() throws {
        var fields = AppLinkFields()
        fields[.webHosts] = ["any"]
        let links = try AppLinks(fields)
        #expect(links.webHosts == nil)
        #expect(links.fields == fields)
        #expect(links.allows(webHost: "anywhere.example"))
        #expect(!AppLinks().allows(webHost: "anywhere.example"))
    }

    @Test(
        "are refused with the name of the wrong field",
        arguments: [
            (AppLinkField.hosts, "https://go.shop.example"), (.rules, "products/*"), (.rules, "exclude"),
            (.hosts, "go.shop.example/x"), (.hosts, "go.shop.example:8443"), (.hosts, "a b"),
            (.hosts, "*.shop.example"), (.postbackHost, "https://shop.example"),
            (.appleAds, "maybe"), (.developmentPostbacks, "yes"),
            (.webHosts, "https://x.example"), (.icon, "http://shop.example/i.png"), (.color, "blue"),
            (.iosTeam, "abcde12345"), (.iosTeam, "ABCDE1234"), (.iosBundles, "shop"),
            (.iosBundles, "com..shop"), (.iosBundles, "com.sh op"), (.iosStoreID, "id"),
            (.iosStoreID, "12a45"), (.iosScheme, "https"), (.iosScheme, "javascript"), (.iosScheme, "my app"),
            (.iosScheme, "1app"), (.androidScheme, "intent"), (.webCredentials, "maybe"),
            (.androidPackage, "shop"), (.androidPackage, "com.1shop"), (.androidCertificates, "AB:CD"),
            (.androidCertificates, String(repeating: "AB:", count: 31) + "GG"),
            (.androidCertificates, "A:BA:" + certificate.dropFirst(5)),
            (.desktopURL, "http://shop.example"), (.iosFallback, "javascript:x"),
        ]
    )
    func refuses(_ field: AppLinkField, _ text: String) {
        var fields = AppLinkFields()
        fields[field] = [text]
        let error = #expect(throws: FieldProblems.self) { try AppLinks(fields) }
        #expect(error?.all.map(\.field) == [field.rawValue])
        #expect(error?.all.first?.message.hasSuffix(".") == true)
    }

    @Test("are stored in the spelling that association files and operating systems use")
    func canonical() throws {
        var fields = AppLinkFields()
        fields[.hosts] = ["GO.Shop.Example", "go.shop.example"]
        fields.set(.iosStoreID, "id1234567890")
        fields.set(.iosScheme, "ShopApp://")
        fields[.androidCertificates] = [
            Self.certificate.lowercased(), String(Self.certificate.filter { $0 != ":" }),
        ]
        let links = try AppLinks(fields)
        #expect(links.hosts.map(\.text) == ["go.shop.example"])
        #expect(links.apple.appStoreID == 1_234_567_890)
        #expect(links.apple.scheme == "shopapp")
        #expect(links.android.certificateFingerprints == [Self.certificate])
    }

    @Test(
        "have hosts as in requests: without the port, in lower case",
        arguments: [
            ("go.shop.example", "go.shop.example"), ("GO.shop.example:8443", "go.shop.example"),
            ("localhost", "localhost"), ("127.0.0.1:8080", "127.0.0.1"), ("[::1]:80", "[::1]"), ("", nil),
            ("GO.Shop.Example.", "go.shop.example"), ("go.shop.example.:443", "go.shop.example"),
            (".", nil), ("go.shop.example..", nil), ("[::1.]", nil), ("a b", nil), ("a/b", nil),
            ("-a", nil), ("ğ.example", nil), ("a:b", nil),
        ]
    )
    func hosts(_ text: String, expected: String?) { #expect(LinkHost(text)?.text == expected) }

    @Test("lead a listed host to the apps that list it, and other hosts to the apps without hosts")
    func directory() throws {
        func app(_ number: UInt64, _ hosts: String...) -> App {
            var links = AppLinks()
            links.hosts = hosts.compactMap { LinkHost($0) }
            let settings = App.Settings(name: "\(number)", links: links)
            return App(id: AppID(high: number, low: 0), settings: settings, createdAt: TestValues.noon)
        }
        let apps = [app(1, "a.example", "b.example"), app(2, "b.example"), app(3), app(4)]
        let directory = Directory(apps: apps, keys: [])
        func numbers(_ apps: [App]) -> [UInt64] { apps.map(\.id.high) }
        #expect(numbers(directory.apps(onHost: LinkHost("a.example"))) == [1])
        #expect(numbers(directory.apps(onHost: LinkHost("b.example"))) == [1, 2])
        #expect(numbers(directory.apps(onHost: LinkHost("c.example"))) == [3, 4])
        #expect(numbers(directory.apps(onHost: nil)) == [3, 4])
        #expect(numbers(directory.neighbours(of: apps[0])) == [1, 2])
        #expect(numbers(directory.neighbours(of: apps[1])) == [1, 2])
        #expect(numbers(directory.neighbours(of: apps[2])) == [3, 4])
    }
}
