import Attribution
import Dispatch
import Foundation
import HTTPServer
import JSON
import Server
import Support
import Synchronization
import Testing

/// A TLS server on the loopback address that stands for Apple's or a shop's server, and a client that reaches it by any
/// host name.
private struct OtherServer {
    let server: RawTLSServer
    let client: HTTPSClient
    private let folder: TemporaryFolder

    /// - Parameters:
    ///   - name: the name in the certificate.
    ///   - answer: returns the response to a request's head and body.
    /// - Throws: if the system refuses a socket or a file.
    init(_ name: String, _ answer: @escaping @Sendable (_ head: String, _ body: String) -> String) throws {
        let certificate = try TestCertificate(name)
        folder = try TemporaryFolder()
        let roots = folder.file("roots.pem")
        try Data(certificate.certificate).write(to: URL(filePath: roots))
        let server = try RawTLSServer(certificate) { connection in
            let request = connection.readRequest()
            connection.write(answer(request.head, request.body))
        }
        self.server = server
        let port = server.port
        client = HTTPSClient(
            bounds: HTTPSClient.Bounds(time: .seconds(Polling.seconds)),
            roots: roots,
            lookup: { _, _ in [PeerAddress(ipv4: 0x7F00_0001, port: port)] },
            permits: { _ in true }
        )
    }

    static func response(_ status: String, _ body: String = "", more: String = "") -> String {
        "HTTP/1.1 \(status)\r\n\(more)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }
}

@Suite("The exchange with Apple Ads", .blocking)
struct AppleAdsTests {
    private static let path = "/v1/apple-ads/attribution"
    private static let attributed =
        #"{"attribution":true,"orgId":40669820123456789,"campaignId":542370539,"conversionType":"Download","claimType":"Click","adGroupId":542317095,"countryOrRegion":"US","keywordId":87675432,"adId":542317136}"#

    private static var shop: App.Settings {
        var settings = ApplePostbackEndpointTests.shop
        settings.links.apple.usesAppleAds = true
        return settings
    }

    /// Sends bodies to a service for which Apple gives these answers in turn, and the last answer again.
    ///
    /// - Returns: the service's responses, the bodies that Apple got, and the service.
    private static func call(
        _ answers: [String],
        _ bodies: [String],
        settings: App.Settings = shop,
        key: KeyKind = .app
    ) async throws -> (texts: [String], tokens: [String], service: TestService) {
        let calls = Calls()
        let apple = try OtherServer("ads.example") { head, body in
            let number = calls.tokens.withLock { tokens in
                tokens.append(body)
                return tokens.count - 1
            }
            #expect(head.hasPrefix("POST /api/v1/ HTTP/1.1"))
            #expect(!head.lowercased().contains("authorization"))
            return answers[min(number, answers.count - 1)]
        }
        let service = try await TestService(settings) { settings in
            settings.appleAds = AppleAdsExchange(
                apple.client,
                address: "https://ads.example/api/v1/",
                pause: .milliseconds(1)
            )
        }
        var texts: [String] = []
        for body in bodies {
            let fields = service.bearer(key).merging(["Content-Type": "application/json"]) { first, _ in first
            }
            texts.append(await service.send(.post, path, fields: fields, body: body).text)
        }
        return (texts, calls.tokens.withLock { $0 }, service)
    }

    /// The bodies that Apple has got.
    private final class Calls: Sendable { let tokens = Mutex<[String]>([]) }

    @Test("returns identifiers as texts, counts an installation once, and neither stores nor logs its token")
    func attributed() async throws {
        // These tokens are so long that no identifier of the list contains them by chance.
        let appleTokens = ["the-first-token", "the-second-token"]
        let bodies = appleTokens.map { #"{"token":"\#($0)","device_id":"D"}"# }
        let (texts, tokens, service) = try await Self.call(
            [OtherServer.response("200 OK", Self.attributed)],
            bodies
        )
        #expect(tokens == appleTokens)
        let object = try #require(try JSONValue(parsing: Array(texts[0].utf8)).object)
        #expect(object["status"]?.string == "attributed")
        let attribution = try #require(object["attribution"]?.object)
        #expect(attribution["attribution"]?.bool == true)
        #expect(attribution["org_id"]?.string == "40669820123456789")
        #expect(attribution["keyword_id"]?.string == "87675432")
        let list = await service.send(.get, "/admin/api/apple-postbacks", fields: service.bearer(.admin)).text
        #expect(
            list.contains(#""framework":"apple_ads""#) && list.contains(#""source_identifier":"542370539""#)
        )
        #expect(list.components(separatedBy: "received_at").count == 2)
        let seen = list + service.logLines().joined()
        #expect(!appleTokens.contains { seen.contains($0) })
    }

    @Test("is listed and exported for an app that is not in the App Store, too")
    func withoutStore() async throws {
        var settings = Self.shop
        settings.links.apple.appStoreID = nil
        let body = #"{"token":"t","device_id":"D"}"#
        let answers = [OtherServer.response("200 OK", Self.attributed)]
        let service = try await Self.call(answers, [body], settings: settings).service
        let query = "app=\(service.app.text)"
        let list = await service.admin(.get, "/apple-postbacks", query: query).text
        #expect(list.contains(#""app":"\#(service.app.text)""#) && list.contains(#""app_store_id":"""#))
        let export = await service.admin(.get, "/export/apple_postbacks.csv", query: query).text
        #expect(export.contains(",\(service.app.text),,apple_ads,"), "\(export)")
    }

    @Test("tries three times while Apple has no record, and then asks the client to come again")
    func missing() async throws {
        let none = OtherServer.response("404 Not Found")
        let (texts, tokens, _) = try await Self.call([none], [#"{"token":"t"}"#])
        #expect(tokens == ["t", "t", "t"])
        #expect(texts == [#"{"status":"pending","retry_after_seconds":300}"#])
        let late = OtherServer.response("200 OK", #"{"attribution":false}"#)
        let (other, again, _) = try await Self.call([none, none, late], [#"{"token":"t"}"#])
        #expect(other == [#"{"status":"organic"}"#] && again.count == 3)
    }

    @Test(
        "has a final answer for invalid tokens, and none while Apple fails",
        arguments: [
            ("400 Bad Request", "", #"{"status":"invalid"}"#),
            ("500 Oops", "", #"{"status":"pending","retry_after_seconds":300}"#),
            ("200 OK", "{}", #"{"status":"pending","retry_after_seconds":300}"#),
        ]
    )
    func failures(status: String, body: String, expected: String) async throws {
        let (texts, _, _) = try await Self.call([OtherServer.response(status, body)], [#"{"token":"t"}"#])
        #expect(texts == [expected])
    }

    @Test("asks a client to come again while the maximum number of exchanges is under way")
    func bound() async throws {
        let calls = Calls()
        let (begun, begins) = AsyncStream<Void>.makeStream()
        let gate = DispatchSemaphore(value: 0)
        let apple = try OtherServer("ads.example") { _, body in
            calls.tokens.withLock { $0.append(body) }
            begins.yield()
            gate.wait()
            return OtherServer.response("200 OK", #"{"attribution":false}"#)
        }
        let service = try await TestService(Self.shop) { settings in
            settings.appleAds = AppleAdsExchange(
                apple.client,
                address: "https://ads.example/api/v1/",
                maximumConcurrentCount: 1
            )
        }
        @Sendable func send(_ token: String) async -> String {
            let fields = service.bearer(.app).merging(["Content-Type": "application/json"]) { $1 }
            return await service.send(.post, Self.path, fields: fields, body: #"{"token":"\#(token)"}"#).text
        }
        async let first = send("first")
        for await _ in begun { break }
        #expect(await send("second") == #"{"status":"pending","retry_after_seconds":300}"#)
        gate.signal()
        let answered = await first
        #expect(answered == #"{"status":"organic"}"#)
        gate.signal()
        #expect(await send("second") == #"{"status":"organic"}"#)
        // Apple got the second token once, and not for the request that was put off.
        #expect(calls.tokens.withLock { $0 } == ["first", "second"])
    }

    @Test("does not call Apple for apps without Apple Ads, without a key, or for old tokens")
    func unsupported() async throws {
        let answer = [OtherServer.response("200 OK", Self.attributed)]
        let off = try await Self.call(answer, [#"{"token":"t"}"#], settings: App.Settings(name: "Shop"))
        #expect(off.texts == [#"{"status":"unsupported"}"#] && off.tokens.isEmpty)
        let bodies = [
            #"{"token":"t","token_issued_at":1}"#, #"{"unsupported":true}"#, #"{"token":""}"#, "x",
        ]
        let (texts, tokens, service) = try await Self.call(answer, bodies)
        #expect(
            texts == ["expired", "unsupported", "invalid", "unsupported"].map { #"{"status":"\#($0)"}"# }
        )
        #expect(tokens.isEmpty)
        let plain = await service.send(.post, Self.path, body: #"{"token":"t"}"#)
        #expect(plain.status == 200 && plain.text == #"{"status":"unsupported"}"#)
    }
}

@Suite("The probe of a shop's domain", .blocking)
struct ApplePostbackProbeTests {
    /// Returns the text of the page after the probe of a domain whose server passes on what `change` returns for a
    /// body; for nil, the server passes on nothing.
    private func probe(
        status: String = "200 OK",
        more: String = "",
        _ change: @escaping @Sendable (String) -> String?
    ) async throws -> String {
        var settings = App.Settings(name: "Shop")
        settings.links.apple.postbackHost = LinkHost("shop.example")
        let service = ServiceBox()
        let shop = try OtherServer("shop.example") { head, body in
            if let passed = change(body), let path = head.split(separator: " ").dropFirst().first {
                service.pass(String(path), passed)
            }
            return OtherServer.response(status, "{}", more: more)
        }
        let running = try await TestService(settings) { $0.outgoing = OutgoingRequests(shop.client) }
        service.service.withLock { $0 = running }
        let browser = await DashboardBrowser.signedIn(to: running)
        let form = "token=\(await browser.formToken())&app=\(running.app.text)"
        let page = await browser.post("/domains/probe", form).text
        service.service.withLock { $0 = nil }
        return PageMarkup(page).text
    }

    private final class ServiceBox: Sendable {
        let service = Mutex<TestService?>(nil)

        /// Passes a body to the service; blocks.
        func pass(_ path: String, _ body: String) {
            guard let service = service.withLock({ $0 }) else { return }
            let done = DispatchSemaphore(value: 0)
            Task.detached {
                _ = await service.send(.post, path, body: body)
                done.signal()
            }
            done.wait()
        }
    }

    @Test("succeeds only if the body arrives at this service unchanged")
    func reached() async throws {
        let passed = try await probe { $0 }
        #expect(passed.components(separatedBy: "arrived here unchanged").count == 3, "\(passed)")
        let byItself = try await probe { _ in nil }
        #expect(byItself.contains("returns 200 by itself"))
        let changed = try await probe { $0.replacing("\\/", with: "/") }
        #expect(changed.contains("other bytes"))
        let redirected = try await probe(status: "301 Moved", more: "Location: https://www.shop.example/\r\n")
        { _ in nil }
        #expect(redirected.contains("redirects to https://www.shop.example/"))
        let blocked = try await probe(status: "403 Forbidden") { _ in nil }
        #expect(blocked.contains("status 403"))
    }
}
