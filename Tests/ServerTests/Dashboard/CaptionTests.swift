import Attribution
import Foundation
import HTTPServer
import Support
import Testing

@testable import Server

/// The captions of tables, which screen readers list apart from headings.
@Suite("Captions of the dashboard")
struct CaptionTests {
    /// The texts of the elements with one of these names.
    private static func texts(_ names: [String], in page: String) -> [String] {
        names.flatMap { name in
            page.split(separator: "<\(name)").dropFirst().compactMap { part -> String? in
                guard let end = part.firstRange(of: "</\(name)>"), part.first == ">" || part.first == " "
                else { return nil }
                return PageMarkup("<\(name)" + part[..<end.lowerBound]).text
            }
        }
    }

    /// A service with something to show on every page.
    private static func filled() async throws -> TestService {
        var settings = App.Settings(name: "Shop")
        settings.links.hosts = ["go.shop.example"].compactMap { LinkHost($0) }
        let service = try await TestService(settings, replayGrace: 0)
        let link = #"{"slug":"sale","destination":"myapp://sale","campaign_key":"Spring"}"#
        #expect(await service.admin(.post, "/links", link).status == 201)
        let endpoint = #"{"url":"https://example.com/hook","types":["match.created"]}"#
        let id = try #require(await service.admin(.post, "/postbacks", endpoint).member("id"))
        // A launch with both a token and a fingerprint counts in the table of launches by stated probability.
        let click = await service.click(#"{"fingerprint":"\#(hex)","link":"sale"}"#)
        let token = try #require(click.member("token"))
        let check = await service.check(
            query: "fingerprint=\(hex)&token=\(token)",
            fields: ["X-Install-ID": "i"]
        )
        #expect(check.member("status") == "match", "\(check.text)")
        await service.check(String(repeating: "1", count: 64))
        let event = #"{"event_id":"a","name":"purchase","install_id":"i","amount":"10","currency":"EUR"}"#
        let sent = await service.send(
            .post,
            "/v1/events",
            fields: service.bearer(.server).merging(["Content-Type": "application/json"]) { $1 },
            body: #"{"events":[\#(event)]}"#
        )
        #expect(sent.status == 202)
        let skan = "/.well-known/skadnetwork/report-attribution/"
        _ = await service.send(.post, skan, body: AppleSamples.version4)
        #expect(await service.admin(.post, "/postbacks/\(id)/test", "{}").status == 202)
        try service.catchUp()
        return service
    }

    /// Returns whether a path belongs to a route; a name in braces stands for any part.
    private static func fits(_ path: String, _ route: String) -> Bool {
        let (parts, names) = (path.split(separator: "/"), route.split(separator: "/"))
        return parts.count == names.count && zip(parts, names).allSatisfy { $1.hasPrefix("{") || $0 == $1 }
    }

    @Test("on every page to which links lead, no table's caption repeats a heading of the page")
    func everyPage() async throws {
        let browser = await DashboardBrowser.signedIn(to: try await Self.filled())
        var (waiting, seen, captions) = (["/"], Set(["/"]), Set<String>())
        while let address = waiting.popLast() {
            let answer = await browser.get(address)
            guard answer.fieldLines.contains("Content-Type: text/html") else { continue }
            #expect(answer.status == 200, "\(address)")
            let page = answer.text
            let headings = Set(Self.texts(["h1", "h2", "h3"], in: page).map { $0.lowercased() })
            #expect(!headings.isEmpty, "\(address)")
            let own = Self.texts(["caption"], in: page)
            #expect(own.allSatisfy { !headings.contains($0.lowercased()) }, "\(address): \(own)")
            // Two tables of one page have different captions.
            #expect(Set(own).count == own.count, "\(address): \(own)")
            captions.formUnion(own)
            for case let next? in PageMarkup(page).tags.map({ $0.attributes["href"] }) {
                let path = String(next.prefix { $0 != "?" && $0 != "#" })
                guard path.hasPrefix("/"), !path.hasPrefix("/files/"), seen.insert(path).inserted else {
                    continue
                }
                waiting.append(String(next.prefix { $0 != "#" }))
            }
        }
        // Links lead to every page except the skipped ones.
        let paths = Routes.makePages().filter { $0.method == .get }.map(\.path)
        let skipped = ["/healthz", "/enter/{link}", "/sign-in", "/live/now", "/live/stream", "/files/{name}"]
        for path in paths where !skipped.contains(path) && !path.contains("...") {
            #expect(seen.contains { Self.fits($0, path) }, "\(path)")
        }
        for caption in [
            "Events by name and currency", "Matches, events and revenue by link",
            "Launches by stated probability",
            "Matches by time to install", "Clicks and matches by campaign",
            "Recorded launches, the newest first",
            "Clicks, matches and state of each link", "Kind, app and last use of each key",
            "Changes, the newest first", "Deliveries", "Counted postbacks by network",
        ] { #expect(captions.contains(caption), "\(caption)") }
    }
}
