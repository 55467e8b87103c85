import Attribution
import Testing

@Suite("Dynamic Links of Firebase")
struct FirebaseLinkTests {
    private static let app: AppLinks = {
        var links = AppLinks()
        links.hosts = [LinkHost("go.shop.example")].compactMap { $0 }
        links.webHosts = ["shop.example"]
        links.apple.bundleIDs = ["com.example.shop"]
        links.apple.appStoreID = 1_234_567_890
        links.apple.scheme = "shopapp"
        links.android.package = "com.example.shop"
        return links
    }()

    private static func link(_ values: [FirebaseLink.Parameter: String]) -> FirebaseLink {
        var link = FirebaseLink()
        for (parameter, value) in values { link[parameter] = value }
        return link
    }

    @Test("correspond to the fields of a link, parameter by parameter")
    func fields() throws {
        let link = Self.link([
            .link: " https://shop.example/promo ", .androidFallback: "https://shop.example/a",
            .iosFallback: "https://shop.example/i", .desktopFallback: "https://shop.example/d",
            .socialTitle: "T", .socialDescription: "D", .socialImage: "https://shop.example/p.png",
            .utmSource: "s", .utmMedium: "m", .utmCampaign: "c", .utmTerm: "t", .utmContent: "o",
            .androidMinimumVersion: "12", .iosMinimumVersion: "1.2",
        ])
        var expected = LinkFields()
        for (field, text) in [
            (LinkField.destination, "https://shop.example/promo"),
            (.androidFallback, "https://shop.example/a"), (.iosFallback, "https://shop.example/i"),
            (.desktopURL, "https://shop.example/d"),
            (.previewTitle, "T"), (.previewDescription, "D"), (.previewImage, "https://shop.example/p.png"),
            (.utmSource, "s"), (.utmMedium, "m"), (.utmCampaign, "c"), (.utmTerm, "t"), (.utmContent, "o"),
            (.campaignKey, "c"), (.metadata, #"{"amv":"12","imv":"1.2"}"#),
        ] { expected.set(field, text) }
        #expect(link.fields(of: Self.app) == expected)
        let app = App.Settings(name: "a", links: Self.app)
        #expect(try Link.Settings(expected).problems(for: app, at: TestValues.noon).isEmpty)
        #expect(link.leftOut(of: Self.app).isEmpty)
        #expect(Self.link([.utmSource: "  "]) == FirebaseLink())
    }

    @Test("keep the parameters for Apple's store in links to that store")
    func storePage() {
        let parameters: [FirebaseLink.Parameter: String] = [
            .link: "https://shop.example/x", .provider: "1", .storeCampaign: "a b&c", .affiliate: "x",
            .mediaType: "8",
        ]
        let page = "https://apps.apple.com/app/id1234567890?pt=1&at=x&ct=a%20b%26c&mt=8"
        #expect(Self.link(parameters).fields(of: Self.app).text(.iosFallback) == page)
        #expect(Self.link(parameters).leftOut(of: Self.app).isEmpty)
        let own = parameters.merging([.appStoreID: "55555"]) { $1 }
        let fallback = Self.link(own).fields(of: AppLinks()).text(.iosFallback)
        #expect(fallback?.hasPrefix("https://apps.apple.com/app/id55555?") == true)
        // The link's own fallback does not lead to the store.
        let elsewhere = Self.link(parameters.merging([.iosFallback: "https://shop.example/i"]) { $1 })
        #expect(elsewhere.fields(of: Self.app).text(.iosFallback) == "https://shop.example/i")
        #expect(elsewhere.leftOut(of: Self.app) == [.provider, .affiliate, .storeCampaign, .mediaType])
        #expect(Self.link(parameters).fields(of: AppLinks()).text(.iosFallback) == nil)
    }

    @Test("list the parameters that have no counterpart in a link's fields")
    func leftOut() {
        let all: [(FirebaseLink.Parameter, String, Bool)] = [
            (.ipadFallback, "https://shop.example/i", true), (.forcedRedirect, "1", true),
            (.forcedRedirect, "0", false), (.forcedRedirect, "false", false),
            (.iosScheme, "SHOPAPP", false), (.iosScheme, "other", true),
            (.androidMinimumVersion, "a\"b", true), (.androidMinimumVersion, "12", false),
        ]
        for (parameter, text, isLeftOut) in all {
            let link = Self.link([.link: "https://shop.example/x", parameter: text])
            #expect(link.leftOut(of: Self.app) == (isLeftOut ? [parameter] : []), "\(parameter) \(text)")
        }
        #expect(Self.link([.iosMinimumVersion: "1\",\"x\":\"2"]).fields(of: Self.app).text(.metadata) == nil)
    }

    @Test("are refused if they name another app")
    func apps() {
        let own = Self.link([
            .androidPackage: "com.example.shop", .iosBundle: "com.example.shop", .appStoreID: "1234567890",
        ])
        #expect(own.problems(for: Self.app).isEmpty)
        #expect(own.names(Self.app))
        for parameter in [FirebaseLink.Parameter.androidPackage, .iosBundle, .ipadBundle, .appStoreID] {
            let link = Self.link([parameter: "77777"])
            #expect(link.problems(for: Self.app).map(\.field) == [parameter.rawValue])
            #expect(link.problems(for: Self.app).first?.message.contains("afterlink apps set --") == true)
            // An app without these settings accepts links that name any app.
            #expect(link.problems(for: AppLinks()).isEmpty)
            #expect(!link.names(Self.app) && !link.names(AppLinks()))
        }
        #expect(Self.link([.ipadBundle: "com.example.shop"]).names(Self.app))
    }
}
