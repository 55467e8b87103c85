import Attribution
import Foundation
import HTTPServer
import JSON
import Server
import Support
import Testing
import Threads

/// The receivers of Apple's postbacks, and the calls that list and verify them.
@Suite("Apple's postbacks")
struct ApplePostbackEndpointTests {
    static let skan = "/.well-known/skadnetwork/report-attribution/"
    static let kit = "/.well-known/appattribution/report-attribution/"
    private static let list = "/admin/api/apple-postbacks"

    /// An app with the App Store number that the samples contain, and with a schema of conversion values.
    static var shop: App.Settings {
        var settings = App.Settings(name: "Shop")
        settings.links.apple.appStoreID = 525_463_029
        settings.links.apple.bundleIDs = ["com.example.shop"]
        settings.conversionSchemas = [
            #"2020-01-01 {"rules":[{"fineValue":20,"eventName":"sign_up"},{"fineValue":63,"label":"Purchase","coarseValue":"high"}]}"#
        ]
        return settings
    }

    private static func rows(_ service: TestService, query: String? = nil) async throws -> [JSONValue] {
        let answer = await service.send(.get, list, query: query, fields: service.bearer(.admin))
        #expect(answer.status == 200)
        return try JSONValue(parsing: Array(answer.text.utf8)).object?["postbacks"]?.array ?? []
    }

    @Test("are received on every host, with and without the slash, and listed with their verification")
    func receive() async throws {
        let service = try await TestService(Self.shop)
        let bodies = [
            (Self.skan, AppleSamples.version4), (String(Self.skan.dropLast()), AppleSamples.version3),
            (Self.kit, AppleSamples.adAttributionKit),
            (Self.skan, AppleSamples.version3.replacing("\"campaign-id\":42", with: "\"campaign-id\":43")),
            (Self.skan, AppleSamples.version21.replacing("\"2.1\"", with: "\"2.0\"")),
        ]
        for (path, body) in bodies {
            let answer = await service.send(.post, path, fields: ["Host": "shop.example"], body: body)
            #expect(answer.status == 200 && answer.text == #"{"status":"ok"}"#)
        }
        let rows = try await Self.rows(service)
        func texts(_ name: String) -> [String?] { rows.map { $0.object?[name]?.string } }
        #expect(texts("verification") == ["unverifiable", "invalid", "valid", "valid", "valid"])
        #expect(
            texts("environment") == ["production", "production", "development", "production", "production"]
        )
        #expect(texts("app_store_id")[2] == "10738027756")
        #expect(
            texts("app") == [service.app.text, service.app.text, nil, service.app.text, service.app.text]
        )
        #expect(texts("event")[3] == "sign_up" && texts("event")[4] == "Purchase")
        #expect(rows.map { $0.object?["counted"]?.bool } == [false, false, false, true, true])
        #expect(try await Self.rows(service, query: "verification=invalid").count == 1)
        #expect(try await Self.rows(service, query: "app=\(service.app.text)").count == 4)
        #expect(try await Self.rows(service, query: "environment=development").count == 1)
    }

    @Test("for development are counted only if the app's settings say so", arguments: [true, false])
    func development(isOptedIn: Bool) async throws {
        var settings = Self.shop
        settings.links.apple.appStoreID = 10_738_027_756
        settings.links.apple.countsDevelopmentPostbacks = isOptedIn
        let service = try await TestService(settings)
        #expect(await service.send(.post, Self.kit, body: AppleSamples.adAttributionKit).status == 200)
        let rows = try await Self.rows(service)
        #expect(rows.map { $0.object?["counted"]?.bool } == [isOptedIn])
        let export = await service.admin(.get, "/export/apple_postbacks.csv").text
        #expect(export.contains(",development,\(isOptedIn)"), "\(export)")
    }

    @Test("are counted once, although a later body that differs is stored, too")
    func repeated() async throws {
        let service = try await TestService(Self.shop)
        let other = AppleSamples.version4.replacing("\"conversion-value\":63", with: "\"conversion-value\":1")
        for body in [AppleSamples.version4, other, AppleSamples.version4, other] {
            #expect(await service.send(.post, Self.skan, body: body).status == 200)
        }
        let rows = try await Self.rows(service)
        #expect(rows.map { $0.object?["counted"]?.bool } == [false, true])
        #expect(rows.map { $0.object?["conversion_value"]?.int64 } == [1, 63])
    }

    @Test(
        "that are malformed get 400, and too long ones 413",
        arguments: [
            (skan, "", 400), (skan, "[]", 400), (skan, "{}", 400), (skan, "{\"a\":1,\"a\":2}", 400),
            (kit, AppleSamples.version4, 400), (skan, AppleSamples.adAttributionKit, 400),
            (skan, AppleSamples.version4.replacing("false", with: "\"false\""), 400),
            (skan, AppleSamples.version4 + String(repeating: " ", count: 8192), 413),
        ]
    )
    func malformed(path: String, body: String, status: Int) async throws {
        let service = try await TestService()
        #expect(await service.send(.post, path, body: body).status == status)
        #expect(try await Self.rows(service).isEmpty)
    }

    @Test("a GET explains the path, and the rate limit of postbacks does not restrict clicks")
    func limits() async throws {
        let service = try await TestService(rateLimits: RateLimits([.applePostbacks], "1/s:2"))
        let moment = MonotonicTime.now()
        #expect(await service.send(.get, Self.kit, at: moment).text.contains("Apple's devices"))
        func post() async -> Int {
            await service.send(.post, Self.skan, body: AppleSamples.version4, at: moment).status
        }
        #expect(await post() == 200)
        #expect(await post() == 429)
        #expect(await service.click(at: moment).status == 201)
    }

    @Test("a verification on request stores nothing, and needs a key")
    func verify() async throws {
        let service = try await TestService(Self.shop)
        let path = Self.list + "/verify"
        let fields = service.bearer(.admin).merging(["Content-Type": "application/json"]) { first, _ in first
        }
        let answer = await service.send(.post, path, fields: fields, body: AppleSamples.version3)
        #expect(answer.status == 200 && answer.text.contains(#""verification":"valid""#))
        #expect(answer.text.contains(#""event":"sign_up""#))
        let forged = AppleSamples.version3.replacing("\"did-win\":true", with: "\"did-win\":false")
        let refused = await service.send(.post, path, fields: fields, body: forged)
        #expect(refused.text.contains(#""verification":"invalid""#))
        #expect(await service.send(.post, path, fields: fields, body: "{}").status == 400)
        #expect(await service.send(.post, path, body: AppleSamples.version3).status == 401)
        #expect(try await Self.rows(service).isEmpty)
    }

    @Test("the conversion schema in force is served by bundle id, the highest value first")
    func configuration() async throws {
        let service = try await TestService(Self.shop)
        func config(_ query: String?) async -> String {
            await service.send(.get, "/v1/skan/config", query: query).text
        }
        #expect(await config(nil) == #"{"enabled":false}"#)
        #expect(await config("bundle_id=com.example.other") == #"{"enabled":false}"#)
        let first = await config("bundle_id=com.example.shop")
        #expect(first.hasPrefix(#"{"enabled":true,"schema":{"schemaVersion":1,"rules":[{"fineValue":63"#))
        let body =
            #"{"conversion_schemas":[{"since":"2020-01-01","schema":{"rules":[]}},{"since":"2021-01-01","schema":{"mode":"revenue","currency":"EUR","rules":[{"fineValue":1,"min":0,"max":5,"coarseValue":"low","lockWindow":false}]}},{"since":"2999-01-01","schema":{"rules":[]}}]}"#
        let fields = service.bearer(.admin).merging(["Content-Type": "application/json"]) { first, _ in first
        }
        let path = "/admin/api/apps/\(service.app.text)"
        let changed = await service.send(.patch, path, fields: fields, body: body)
        #expect(changed.status == 200 && changed.text.contains(#""since":"2999-01-01""#))
        let second = await config("bundle_id=com.example.shop")
        #expect(
            second.hasPrefix(
                #"{"enabled":true,"schema":{"schemaVersion":2,"mode":"revenue","currency":"EUR""#
            )
        )
        for wrong in [
            #"{"since":"2021","schema":{"rules":[]}}"#, #"{"since":"2021-01-01","schema":{}}"#,
            #"{"since":"2021-01-01","schema":{"rules":[{"fineValue":64}]}}"#,
            #"{"since":"2021-01-01","schema":{"rules":[{"fineValue":1},{"fineValue":1}]}}"#,
            #"{"since":"2021-01-01","schema":{"rules":[{"fineValue":1,"maximum":2}]}}"#,
            #"{"since":"2021-01-01","schema":{"mode":"other","rules":[]}}"#,
            #"{"since":"2021-01-01","schema":{"modus":null,"rules":[]}}"#,
        ] {
            let body = #"{"conversion_schemas":[\#(wrong)]}"#
            let answer = await service.send(.patch, path, fields: fields, body: body, to: .undescribed)
            #expect(answer.status == 422)
        }
    }

    @Test("members of a conversion schema that are null count as not sent")
    func nullMembers() async throws {
        let service = try await TestService(Self.shop)
        let rule = #"{"label":null,"fineValue":1,"coarseValue":null,"lockWindow":null,"min":0,"max":null}"#
        let schema = #"{"mode":null,"currency":null,"accumulateRevenue":null,"rules":[\#(rule)]}"#
        let body = #"{"conversion_schemas":[{"since":"2021-01-01","schema":\#(schema)}]}"#
        let changed = await service.admin(.patch, "/apps/\(service.app.text)", body)
        let stored = #"[{"since":"2021-01-01","schema":{"rules":[{"fineValue":1,"min":0}]}}]"#
        changed.expect(200, holds: [#""conversion_schemas":\#(stored)"#])
        let client = await service.send(.get, "/v1/skan/config", query: "bundle_id=com.example.shop")
        #expect(client.text.hasSuffix(#""rules":[{"fineValue":1,"min":0}]}}"#), "\(client.text)")
    }

    @Test("the page shows networks, decoded values and signatures, and development only with test traffic")
    func page() async throws {
        let service = try await TestService(Self.shop)
        for (path, body) in [
            (Self.skan, AppleSamples.version4), (Self.skan, AppleSamples.version3),
            (Self.skan, AppleSamples.lostVersion3), (Self.kit, AppleSamples.adAttributionKit),
            (Self.skan, AppleSamples.version21),
        ] { _ = await service.send(.post, path, body: body) }
        let browser = await DashboardBrowser.signedIn(to: service)
        let page = await browser.get("/apple?period=7d").text
        let rows = PageMarkup.table("Counted postbacks by network", in: page).dropFirst()
        #expect(rows.count == 4)
        #expect(
            rows.contains([
                "com.example", "SKAdNetwork", "Shop", "5239", "days 0–2", "Purchase (value 63)", "1",
            ])
        )
        #expect(rows.contains { $0[5] == "not won" })
        #expect(!page.contains("development.adattributionkit</th>"))
        let test = await browser.get("/apple?period=7d&test=true").text
        let apart = PageMarkup.table("Counted postbacks by network", in: test).dropFirst()
        #expect(apart.map { $0[0] } == ["development.adattributionkit"])
        let signatures = PageMarkup.table("Signatures", in: page).dropFirst()
        #expect(signatures.contains(["SKAdNetwork", "production", "verified", "4"]))
        #expect(await browser.get("/").text.contains("/apple"))
    }

    @Test("the page's lines to copy have its span and its traffic's environment", arguments: [false, true])
    func linesToCopy(countsDevelopment: Bool) async throws {
        var settings = Self.shop
        settings.links.apple.countsDevelopmentPostbacks = countsDevelopment
        let service = try await TestService(settings)
        _ = await service.send(.post, Self.skan, body: AppleSamples.version4)
        let browser = await DashboardBrowser.signedIn(to: service)
        let live: String? = countsDevelopment ? nil : "production"
        for (isTest, environment) in [(false, live), (true, "development")] {
            let page = await browser.get("/apple?period=7d&test=\(isTest)").text
            let lines = page.components(separatedBy: "<pre").dropFirst()
                .compactMap { $0.components(separatedBy: "</pre>").first }
                .filter { $0.contains("apple-postbacks") }
            #expect(lines.count == 6)
            let commands = lines.filter { $0.contains(">afterlink apple-postbacks list ") }
            #expect(commands.count { $0.contains(" --from 20") && $0.contains(" --to 20") } == 3)
            // Only the table by network depends on the traffic.
            #expect(lines.dropFirst(2).allSatisfy { !$0.contains("environment") })
            guard let environment else {
                #expect(lines.prefix(2).allSatisfy { !$0.contains("environment") })
                continue
            }
            #expect(lines[0].contains("environment=\(environment)"))
            #expect(lines[1].hasSuffix(" --environment \(environment)"))
        }
    }
}
