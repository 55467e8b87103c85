import Foundation
import Support
import Testing

extension BrowserVisitor {
    /// A visitor at a computer.
    static let computer = BrowserVisitor(
        agent: "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
            + "Chrome/126.0.0.0 Safari/537.36",
        hints: Hints(platform: "Windows", platformVersion: "15.0.0", model: "", isMobile: false),
        screen: (1280, 800),
        pixelRatio: 1,
        touchPoints: 0,
        isMobile: false,
        languages: ["en-GB", "en"],
        timezone: "Europe/London"
    )
}

extension BrowserJourneys {
    @Suite("The look of the page")
    struct Looks {
        struct Look: Sendable, CustomTestStringConvertible {
            let name: String
            /// The journey of the phone; nil for a computer.
            var journey: String?
            var languages: [String] = ["en-GB"]
            var isDark = false
            /// Whether the link has ended.
            var isEnded = false

            var testDescription: String { name }
        }

        static let all = [
            Look(name: "phone-light", journey: "safari"),
            Look(name: "phone-dark", journey: "safari", isDark: true),
            Look(name: "phone-arabic", journey: "samsung", languages: ["ar-EG"]),
            Look(name: "phone-in-app", journey: "wechat", languages: ["zh-CN"]),
            Look(name: "tablet", journey: "ipaddesktop", languages: ["ru-RU"]),
            Look(name: "desktop-light", languages: ["de-DE"]), Look(name: "desktop-dark", isDark: true),
            Look(name: "desktop-arabic", languages: ["ar-EG"]),
            Look(name: "ended-dark", journey: "chrome", isDark: true, isEnded: true),
        ]

        /// The directory of pictures for people; nil for none.
        private static let folder = ProcessInfo.processInfo.environment["AFTERLINK_SCREENSHOTS"]

        @Test(
            "the page has the visitor's colours, language and direction, fits the screen and loads no foreign files",
            arguments: all
        )
        func look(_ look: Look) throws {
            let link = try LinkStage.current.link(
                "look-\(look.name)",
                #","preview_title":"Summer sale: up to 40 % off","preview_description":"#
                    + #""Two weeks of everything for the beach, for tents and for long evenings outside.""#
            )
            var visitor = try look.journey.map { try Journey.named($0).visitor } ?? .computer
            visitor.languages = look.languages
            visitor.isDark = look.isDark
            let tab = try link.visit(by: visitor)
            defer { tab.close() }
            try tab.open(look.isEnded ? "\(LinkStage.origin)/no-such-link" : link.url)
            if !look.isEnded { _ = try tab.click() }
            try tab.value(of: "Promise.all([...document.images].map(one => one.decode())).then(() => '')")

            let paper = try tab.value(of: "getComputedStyle(document.body).backgroundColor")
            #expect(paper == (look.isDark ? "rgb(20, 22, 26)" : "rgb(255, 255, 255)"))
            let language = try #require(look.languages.first).prefix(2)
            #expect(try tab.value(of: "document.documentElement.lang") == language)
            #expect(
                try tab.value(of: "getComputedStyle(document.body).direction")
                    == (language == "ar" ? "rtl" : "ltr")
            )
            let width = try tab.value(of: "String(document.documentElement.scrollWidth <= screen.width)")
            #expect(width == "true", "the page is wider than the screen")
            if try tab.buttons().hasPrefix("store") {
                // On the app's green, white has a contrast of 5.1 and the dark ink a contrast of 3.5.
                let ink = try tab.value(of: "getComputedStyle(document.querySelector('a.first')).color")
                #expect(ink == "rgb(255, 255, 255)")
            }
            if let folder = Self.folder {
                let file = URL(filePath: folder).appending(path: "\(look.name).png")
                try Data(try tab.screenshot()).write(to: file)
            }
            #expect(tab.askedHosts.isSubset(of: [LinkStage.host, "shop.example", "apps.apple.com"]))
            #expect(tab.complaints.isEmpty)
        }
    }
}
