import Attribution
import HTTPServer
import JSON
import Server
import Support
import Testing
import Threads

@Suite("Statistics")
struct ShowStatisticsTests {
    private let service: TestService

    init() async throws { service = try await TestService() }

    @Test("statistics contain totals and groups, the reasons for no match, and the time to install")
    func shows() async throws {
        await service.click(
            #"{"fingerprint":"\#(hex)","deeplink_url":"myapp://promo/item?utm_source=ig","campaign_key":"S","platform":"ios"}"#
        )
        service.clock.advance(seconds: 100)
        await service.check(hex)
        service.clock.advance(seconds: 100)
        await service.check(hex)
        await service.check(String(repeating: "0", count: 64))
        await service.statistics().expect(
            200,
            holds: [
                #""clicks":1"#, #""checks":3"#, #""matches":1"#, #""no_matches":2"#,
                #""no_match_reasons":{"no_click":1,"expired":0,"already_claimed":1,"robot_click":0,"#,
                #""match_rate":0.3333"#, #""conversion_rate":1.0"#, #""campaign":"S""#,
                #""source":"instagram""#,
                #""platform":"ios""#, #""live_clicks":0"#, #""median_seconds":"#, #""p90_seconds":"#,
                #""version":"test""#, #""uptime_seconds":"#, "allows any destination",
            ]
        )
    }

    @Test(
        "statistics accept known filter values, and refuse others",
        arguments: [
            ("campaign=S&interval=hour", 200, ""), ("from=2020-01-01&to=2035-01-01T00:00:00Z", 200, ""),
            ("app=app_unknown", 400, "app"), ("interval=week", 400, "interval"),
            ("from=yesterday", 400, "from"), ("test=maybe", 400, "test"), ("test=false", 200, ""),
            ("from=2026-02-01&to=2026-01-01", 200, ""), ("app=app_00000000000000000000000000", 404, "app"),
        ]
    )
    func filters(query: String, status: Int, field: String) async throws {
        let answer = await service.statistics(query)
        #expect(answer.status == status)
        #expect(answer.member("field") ?? "" == field)
    }

    @Test("statistics cover the time between two given times, in either order")
    func eitherEnd() async throws {
        await service.click(#"{"fingerprint":"\#(hex)","deeplink_url":"myapp://x"}"#)
        let (before, after) = ("2026-09-01", "2026-10-31")
        for query in ["from=\(before)&to=\(after)", "from=\(after)&to=\(before)"] {
            let answer = await service.statistics(query)
            #expect(answer.text.contains(#""totals":{"clicks":1,"#), "\(query)")
        }
    }

    @Test("a repeated response does not lower the match rate")
    func matchRateLeavesReplaysOut() async throws {
        await service.click()
        await service.check(hex)
        await service.check(hex)
        let counts = [#""checks":2"#, #""matches":1"#, #""replays":1"#, #""match_rate":1.0"#]
        await service.statistics().expect(200, holds: counts)
    }

    @Test("there is no match rate if a filter by platform finds more matches than launches")
    func matchRateOfPlatform() async throws {
        let (one, two) = (String(repeating: "1", count: 64), String(repeating: "2", count: 64))
        for fingerprint in [one, two] {
            await service.click(
                #"{"fingerprint":"\#(fingerprint)","deeplink_url":"myapp://x","platform":"android"}"#
            )
            await service.check(fingerprint)
        }
        await service.resolve(
            #"{"fingerprint":"\#(String(repeating: "3", count: 64))","platform":"android"}"#
        )
        let counts = [#""checks":1"#, #""matches":2"#, #""match_rate":null"#]
        await service.statistics("platform=android").expect(200, holds: counts)
    }
}

@Suite("Health, metrics and the log")
struct OperationsTests {
    @Test(
        "the service is always alive, and is ready while the store accepts writes and the server does not stop"
    )
    func readiness() async throws {
        let service = try await TestService()
        #expect(await service.send(.get, "/readyz").status == 200)
        service.storeAcceptsWrites = false
        let refused = await service.send(.get, "/readyz")
        #expect(refused.status == 503 && refused.member("reason") == "the store refuses writes")
        #expect(refused.field("Retry-After") == "1")
        #expect(await service.send(.get, "/healthz").status == 200)
        service.storeAcceptsWrites = true
        service.service.beginStopping()
        #expect(await service.send(.get, "/readyz").member("reason") == "stopping")
        #expect(await service.send(.get, "/healthz").text == #"{"status":"ok"}"#)
    }

    @Test("metrics count requests by route and status, clicks, checks and matches")
    func metrics() async throws {
        let service = try await TestService()
        await service.click()
        await service.check(hex)
        await service.send(.post, "/nothing")
        await service.send(.get, "/metrics", fields: service.bearer(.admin)).expect(
            200,
            holds: [
                "text/plain; version=0.0.4; charset=utf-8",
                #"afterlink_http_requests_total{route="POST /v1/deferred-deeplink/click",status="201"} 1"#,
                #"afterlink_http_requests_total{route="",status="404"} 1"#, "afterlink_clicks_total 1\n",
                "afterlink_matches_total 1\n", "# TYPE afterlink_http_request_duration_seconds histogram",
                #"afterlink_build_info{version="test"} 1"#, "afterlink_store_accepts_writes 1",
                #"afterlink_http_errors_total{code="NOT_FOUND"} 1"#,
                #"afterlink_no_matches_total{reason="no_click"} 0"#,
                "afterlink_log_dropped_lines_total 0",
            ],
            lacks: [hex]
        )
    }

    @Test("the log has one JSON line for each request, without key, fingerprint, query or address")
    func requestLog() async throws {
        let service = try await TestService()
        await service.click()
        await service.check(hex, fields: ["X-Request-ID": "trace-7"])
        let lines = service.logLines()
        #expect(lines.count == 2)
        let line = try #require(lines.last)
        for part in [
            #""request_id":"trace-7""#, #""method":"GET""#, #""route":"/v1/deferred-deeplink""#,
            #""status":200"#,
            #""duration_us":"#, #""bytes":"#, #""app":"app_"#, #""outcome":"match""#, #""time":"20"#,
        ] {
            #expect(line.contains(part), "\(part)")
        }
        for secret in [hex, service.keyText(.app), "127.0.0.1", "myapp"] {
            #expect(!lines.joined().contains(secret))
        }
    }

    @Test("the client behind a proxy is the rightmost untrusted hop, so that strangers never share a visit")
    func trustedProxies() async throws {
        let trusting = try await TestService(trustedProxies: ["127.0.0.0/8"])
        #expect(await trusting.click(fields: ["X-Forwarded-For": "6.6.6.6, 203.0.113.1"]).status == 201)
        #expect(await trusting.click(fields: ["X-Forwarded-For": "7.7.7.7, 203.0.113.1"]).status == 200)
        #expect(await trusting.click(fields: ["X-Forwarded-For": "203.0.113.2"]).status == 201)
        let plain = try await TestService()
        #expect(await plain.click(fields: ["X-Forwarded-For": "203.0.113.1"]).status == 201)
        #expect(await plain.click(fields: ["X-Forwarded-For": "203.0.113.2"]).status == 200)
    }
}

@Suite("Proxies")
struct ProxyTests {
    @Test(
        "Forwarded has the effect of X-Forwarded-For from a trusted proxy; X-Forwarded-Proto changes no response"
    )
    func forwarded() async throws {
        let trusting = try await TestService(trustedProxies: ["127.0.0.0/8"])
        let node = #"for=6.6.6.6, for="[2001:db8::1]:80";proto=https"#
        #expect(await trusting.click(fields: ["Forwarded": node]).status == 201)
        #expect(await trusting.click(fields: ["Forwarded": #"for="[2001:db8::1]""#]).status == 200)
        #expect(await trusting.click(fields: ["Forwarded": "for=203.0.113.2"]).status == 201)
        // If the two fields disagree, the client's address is the connection's.
        let unclear = ["Forwarded": "for=203.0.113.3", "X-Forwarded-For": "203.0.113.4"]
        #expect(await trusting.click(fields: unclear).status == 201)
        #expect(await trusting.click().status == 200)
        for path in ["/healthz", "/v1/skan/config", "/nothing", "/v1/deferred-deeplink"] {
            let plain = await trusting.send(.get, path, fields: ["X-Request-ID": "same"])
            for proto in ["http", "https", "javascript"] {
                let fields = ["X-Request-ID": "same", "X-Forwarded-Proto": proto]
                let answer = await trusting.send(.get, path, fields: fields)
                #expect(answer.text == plain.text && answer.fieldLines == plain.fieldLines)
            }
        }
    }
}

@Suite("A store that cannot be read")
struct UnreadableStoreTests {
    private static func answer(
        _ method: HTTPServer.Method,
        _ path: String,
        fields: [FieldLine] = [],
        body: String = ""
    ) async throws -> (status: Int, text: String, fields: [String]) {
        let key = try #require(ServerKey(bytes: Array(repeating: 7, count: ServerKey.byteCount)))
        let service = Service(
            settings: ServiceSettings(version: "test"),
            clock: .fixed(Timestamp(milliseconds: 0)),
            random: .system,
            keyring: Keyring(server: ServerKeys(key), addresses: try TestKeys.addresses()),
            log: try Log(format: .json, clock: .fixed(Timestamp(milliseconds: 0))) { _ in },
            storeHealth: { StoreHealth() },
            connections: { .zero }
        )
        let handler = service.makeHandler(Stores(UnreadableStore()))
        let request = Request(
            method,
            path: path,
            query: "fingerprint=\(hex)",
            fields: fields,
            body: Array(body.utf8),
            peer: TestService.peer,
            firstByteAt: .now()
        )
        let response = await handler.respond(to: request)
        return (
            response.status.code, String(decoding: response.body, as: UTF8.self),
            response.fields.map { "\($0.name): \($0.value)" }
        )
    }

    @Test("without a readable store, the process is alive but not ready, and calls without a store work")
    func alive() async throws {
        #expect(try await Self.answer(.get, "/healthz").status == 200)
        #expect(try await Self.answer(.get, "/v1/skan/config").status == 200)
        let readiness = try await Self.answer(.get, "/readyz")
        #expect(readiness.status == 503)
        #expect(readiness.text == #"{"status":"not_ready","reason":"the store cannot be read"}"#)
    }

    @Test("without a readable store, checks get 503, not 401 and never no_match")
    func checks() async throws {
        let bearer = FieldLine(name: "Authorization", value: "Bearer app_0123456789012345678901234567890123")
        #expect(try await Self.answer(.get, "/v1/deferred-deeplink", fields: [bearer]).status == 503)
    }

    @Test("Apple's postbacks get 500, because devices repeat a postback after that status alone")
    func postbacks() async throws {
        for path in [ApplePostbackEndpointTests.skan, String(ApplePostbackEndpointTests.skan.dropLast())] {
            let answer = try await Self.answer(.post, path, body: AppleSamples.version4)
            #expect(answer.status == 500 && answer.text.contains("UNAVAILABLE"))
            #expect(!answer.fields.contains { $0.hasPrefix("Retry-After") })
        }
    }

    @Test("without a readable store, a link's visitors get a page that asks them to wait; programs get 503")
    func links() async throws {
        let fields = [
            FieldLine(name: "Accept", value: "text/html"), FieldLine(name: "Accept-Language", value: "de"),
        ]
        let page = try await Self.answer(.get, "/summer25", fields: fields)
        #expect(page.status == 503)
        #expect(page.text.contains("<h1>Einen Moment bitte</h1>"))
        #expect(page.fields.contains { $0.hasPrefix("Retry-After: ") })
        let program = try await Self.answer(.get, "/summer25")
        #expect(program.status == 503 && program.text.contains("UNAVAILABLE"))
    }

    @Test("without a readable store, another origin's page can read its 503, and no permission is cached")
    func pages() async throws {
        let origin = FieldLine(name: "Origin", value: "https://shop.example")
        for method in [HTTPServer.Method.post, .options, .delete] {
            let answer = try await Self.answer(method, "/v1/deferred-deeplink/click", fields: [origin])
            #expect(answer.status == 503)
            #expect(answer.fields.contains("Access-Control-Allow-Origin: *"))
            #expect(answer.fields.contains { $0.hasPrefix("Retry-After: ") })
            #expect(!answer.fields.contains { $0.hasPrefix("Access-Control-Max-Age") })
        }
    }
}

private let failure = StoreError(.inputOutput, "for the test")

/// A store whose calls all fail with an input/output error.
private final class UnreadableStore: LoopStore {
    func beginTurn(with connectionCount: Int) {}
    func endTurn() {}
    func record(_ batch: EventBatch) throws(StoreError) -> [EventOutcome] { throw failure }
    func events(_ query: EventQuery) throws(StoreError) -> EventReport { throw failure }
    func eventSums(of groups: EventGroups, _ query: EventQuery) throws(StoreError) -> [String: EventSums] {
        throw failure
    }
    func end(of table: ExportTable, at now: Timestamp) throws(StoreError) -> ExportCursor { throw failure }
    func export(_ query: ExportQuery) throws(StoreError) -> ExportPage { throw failure }
    func endpoints() throws(StoreError) -> [EndpointStatus] { throw failure }
    func create(_ endpoint: PostbackEndpoint, by actor: AuditActor) throws(StoreError) { throw failure }
    func change(_ endpoint: EndpointID, _ change: EndpointChange, by actor: AuditActor) throws(StoreError) {
        throw failure
    }
    func sendSample(_ type: PostbackType, to endpoint: EndpointID, by actor: AuditActor) throws(StoreError)
        -> OutboxEventID
    { throw failure }
    func replay(_ replay: PostbackReplay, to endpoint: EndpointID, by actor: AuditActor) throws(StoreError)
        -> Int
    {
        throw failure
    }
    func deliveries(_ query: DeliveryQuery) throws(StoreError) -> DeliveryPage { throw failure }
    func publish(_ type: PostbackType, of app: AppID, data: String) throws(StoreError) { throw failure }
    func held(_ subject: DataSubject) throws(StoreError) -> HeldData { throw failure }
    func store(_ postback: StoredApplePostback) throws(StoreError) -> ApplePostbackOutcome { throw failure }
    func applePostbacks(_ query: ApplePostbackQuery) throws(StoreError) -> ApplePostbackPage { throw failure }
    func applePostbackSums(from start: Timestamp, to end: Timestamp) throws(StoreError)
        -> [ApplePostbackSum]
    { throw failure }
    func start(_ probe: AppleProbe, at now: Timestamp) throws(StoreError) { throw failure }
    func noteArrival(ofProbe nonce: String, _ digest: KeyDigest) throws(StoreError) { throw failure }
    func arrival(ofProbe nonce: String) throws(StoreError) -> AppleProbe.Arrival { throw failure }
    func erase(_ subject: DataSubject, _ record: Erasure) throws(StoreError) -> Erasure { throw failure }
    func erasures(atMost limit: Int) throws(StoreError) -> [Erasure] { throw failure }
    func holdings() throws(StoreError) -> [TableHolding] { throw failure }
    func start(_ session: DashboardSession) throws(StoreError) { throw failure }
    func start(_ session: DashboardSession, by link: KeyDigest) throws(StoreError) -> Bool { throw failure }
    func create(_ link: SignInLink) throws(StoreError) { throw failure }
    func noteUse(of session: KeyDigest, at now: Timestamp) throws(StoreError) { throw failure }
    func end(_ session: KeyDigest, by actor: AuditActor) throws(StoreError) { throw failure }
    func endAll(but session: KeyDigest, by actor: AuditActor) throws(StoreError) { throw failure }
    func sessions() throws(StoreError) -> [DashboardSession] { throw failure }
    func setDashboard(_ url: String) throws(StoreError) { throw failure }
    func dashboards() throws(StoreError) -> [(server: Int64, url: String)] { throw failure }
    func audit(_ query: AuditQuery) throws(StoreError) -> AuditPage { throw failure }
    func note(_ change: AuditedChange, by actor: AuditActor) throws(StoreError) { throw failure }
    func session(_ digest: KeyDigest) throws(StoreError) -> DashboardSession? { throw failure }
    func link(_ slug: LinkSlug, of apps: [AppID]) throws(StoreError) -> LinkListing? { throw failure }
    func link(_ id: LinkID) throws(StoreError) -> LinkListing? { throw failure }
    func slugs(of links: [LinkID]) throws(StoreError) -> [LinkID: LinkSlug] { throw failure }
    func links(_ query: LinkQuery) throws(StoreError) -> LinkPage { throw failure }
    func sharedSlug(of app: AppID, and other: AppID) throws(StoreError) -> LinkSlug? { throw failure }
    func liveLink(ofCampaign key: CampaignKey, of apps: [AppID], at now: Timestamp) throws(StoreError)
        -> LinkListing?
    { throw failure }
    func create(_ links: [NewLink], by actor: AuditActor) throws(LinkStoreError) { throw .store(failure) }
    func update(_ link: Link, ifUpdatedAt: Timestamp?, by actor: AuditActor) throws(LinkStoreError) {
        throw .store(failure)
    }
    func delete(_ link: LinkID, by actor: AuditActor) throws(LinkStoreError) { throw .store(failure) }
    func checks(_ query: CheckQuery) throws(StoreError) -> CheckPage { throw failure }
    func explanation(of check: CheckReference, by explainer: Explainer) throws(StoreError) -> Explanation? {
        throw failure
    }
    func material(ofClick id: ClickID) throws(StoreError) -> ClickExplanationInput? { throw failure }
    func directory() throws(StoreError) -> Directory { throw failure }
    func create(_ app: App, with keys: [APIKey], by actor: AuditActor) throws(StoreError) { throw failure }
    func update(_: AppID, from: App.Settings?, to: App.Settings, by _: AuditActor) throws(StoreError) {
        throw failure
    }
    func create(_ key: APIKey, by actor: AuditActor) throws(StoreError) { throw failure }
    func revoke(_ key: KeyID, at now: Timestamp, by actor: AuditActor) throws(StoreError) { throw failure }
    func noteUse(of key: KeyID, at now: Timestamp) {}
    func record(_ click: NewClick) throws(StoreError) -> RecordOutcome { throw failure }
    func view(for check: Check) throws(StoreError) -> CheckView { throw failure }
    func claim(_ choice: ClickChoice, for check: Check, _ basis: CheckBasis) throws(StoreError)
        -> ClaimOutcome
    { throw failure }
    func matchingModel(of app: AppID, isTest: Bool, at: Timestamp) throws(StoreError) -> MatchingModel {
        throw failure
    }
    func resetLearning(of app: AppID, isTest: Bool, by actor: AuditActor) throws(StoreError) { throw failure }
    func receipt(for claim: Claim) -> any Receipt { UnwatchedReceipt() }
    func recordOutcome(_ report: CheckReport, of check: Check) {}
    func statistics(_ query: StatisticsQuery, at: Timestamp) throws(StoreError) -> StatisticsReport {
        throw failure
    }
    func campaigns(_ query: CampaignQuery) throws(StoreError) -> CampaignPage { throw failure }
    func matchRates(of app: AppID, days: Int, at now: Timestamp) throws(StoreError) -> DriftHistory {
        throw failure
    }
    func runningServers() throws(StoreError) -> [RunningServer] { throw failure }
    func policyGrid(of app: AppID) throws(StoreError) -> PolicyGrid? { throw failure }
    func isPolicyGridRequested(of app: AppID) -> Bool { false }
    func requestPolicyGrid(of app: AppID) {}
    func countCollisions(
        of app: AppID,
        isTest: Bool,
        window: AttributionWindow,
        at now: Timestamp,
        progress: (Double) -> Void
    ) throws(StoreError) -> CollisionReport? { throw failure }
}

private struct UnwatchedReceipt: Receipt {
    func willRespond() {}
    func delivered() {}
    func failed() {}
}
