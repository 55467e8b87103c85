import Attribution
import HTTPServer
import JSON
import Server
import Testing

@Suite("Authentication of callers")
struct AuthenticationTests {
    private let service: TestService

    init() async throws { service = try await TestService() }

    private static let secret = "app_" + String(repeating: "A", count: 43)
    private static let malformed = [
        nil, "", "Bearer", "Bearer ", "Basic \(secret)", "bearer", secret, "Bearer a b",
        "Bearer \(secret)", "Bearer app_", "Bearer \(String(repeating: "x", count: 4000))",
    ]

    @Test(
        "a missing, malformed, unknown, expired or revoked key gets the same response, and consumes nothing"
    )
    func alike() async throws {
        await service.click()
        var answers: [Answer] = []
        for value in Self.malformed {
            let fields = value.map { ["Authorization": $0] } ?? [:]
            answers.append(await ask(fields.merging(["X-Request-ID": "same"]) { $1 }))
        }
        for end in ["expired", "revoked"] {
            let text = KeyText(kind: .app, random: .system)
            let key = key(text.digest, of: service.app, expired: end == "expired")
            try await service.add(key)
            let fields = ["Authorization": "Bearer \(text.text)", "X-Request-ID": "same"]
            if end == "revoked" {
                #expect(await service.check(String(repeating: "0", count: 64), fields: fields).status == 200)
                try await service.revoke(key.id)
            }
            answers.append(await service.check(hex, fields: fields))
        }
        let first = try #require(answers.first)
        #expect(first.status == 401)
        #expect(first.field("WWW-Authenticate") == "Bearer")
        for answer in answers {
            #expect(answer.status == 401)
            #expect(answer.text == first.text)
            #expect(answer.fieldLines == first.fieldLines)
        }
        #expect(await service.check(hex).text.contains(#""status":"match""#))
    }

    /// Sends a check with these header fields and no others.
    private func ask(_ fields: [String: String]) async -> Answer {
        await service.send(.get, "/v1/deferred-deeplink", query: "fingerprint=\(hex)", fields: fields)
    }

    private func key(_ digest: KeyDigest, of app: AppID, expired: Bool = false) -> APIKey {
        APIKey(
            id: KeyID(at: service.clock.now, random: .system),
            kind: .app,
            app: app,
            label: "",
            digest: digest,
            createdAt: service.clock.now,
            expiresAt: expired ? service.clock.now : nil
        )
    }

    @Test("a missing key takes the same work as a wrong key: a digest and a lookup")
    func sameWork() async throws {
        // No real key is empty. With this empty key in the store, a missing key is accepted if the service looks it up.
        try await service.add(key(KeyDigest(of: ""), of: service.app))
        for fields in [[:], ["Authorization": "Basic abc"], ["Authorization": "Bearer "]] {
            #expect(await ask(fields).status == 200)
        }
    }

    @Test(
        "a valid key of the wrong kind gets 403, and no access",
        arguments: [
            ("/v1/deferred-deeplink", KeyKind.admin), ("/admin/stats", .app), ("/admin/stats", .server),
            ("/admin/stats", .test), ("/metrics", .app),
        ]
    )
    func wrongKind(path: String, kind: KeyKind) async throws {
        let answer = await service.send(.get, path, query: "fingerprint=\(hex)", fields: service.bearer(kind))
        #expect(answer.isRefusal(403, "FORBIDDEN"), "\(answer.text)")
        let kinds = kind == .admin ? "app or server or test" : "admin or read"
        #expect(answer.member("message")?.hasSuffix("make it with a key of kind \(kinds)") == true)
        #expect(answer.field("WWW-Authenticate") == nil)
    }

    @Test("two keys of one app are valid together, and revoking the old key does not affect the new key")
    func rotation() async throws {
        let old = try await service.addApp(App.Settings(name: "Other"))
        let text = KeyText(kind: .app, random: .system)
        try await service.add(key(text.digest, of: old.app))
        let new = ["Authorization": "Bearer \(text.text)"]
        #expect(await service.check(hex, fields: old.bearer).status == 200)
        #expect(await service.check(hex, fields: new).status == 200)
        try await service.revoke(old.key)
        #expect(await service.check(hex, fields: old.bearer).status == 401)
        #expect(await service.check(hex, fields: new).status == 200)
    }
}

@Suite("Keys in URLs")
struct KeyInURLTests {
    private static let places: [@Sendable (String) -> (path: String, query: String?)] = [
        { ("/v1/deferred-deeplink", "fingerprint=\(hex)&key=\($0)") },
        { ("/v1/deferred-deeplink", "api_key=\($0)&fingerprint=\(hex)") },
        { ("/v1/deferred-deeplink", "fingerprint=\(hex)&\($0)") },
        { ("/v1/deferred-deeplink", "fingerprint=\(hex)&auth=Bearer%20\($0)") },
        { ("/v1/deferred-deeplink", "fingerprint=\(hex)&k=\($0.replacing("_", with: "%5F"))") },
        { ("/v1/deferred-deeplink", "fingerprint=\(hex)&k=%\("61")\($0.dropFirst())") },
        { ("/v1/deferred-deeplink", "fingerprint=\(hex)&k=%2561\($0.dropFirst())") },
        { ("/v1/deferred-deeplink/click", "token=\($0)") },
        { ("/resolve/\($0)", nil) }, { ("/admin/stats", "key=\($0)") }, { ("/healthz", "k=\($0)") },
        { ("/nothing/\($0)", nil) }, { ("/\($0)/x", nil) }, { ("/%61\($0.dropFirst())", nil) },
    ]

    @Test("a key anywhere in a URL gets 400, is in no log, and consumes nothing", arguments: 0..<places.count)
    func refused(place: Int) async throws {
        let service = try await TestService()
        await service.click()
        let key = service.keyText(.app)
        let (path, query) = Self.places[place](key)
        for method in [HTTPServer.Method.get, .post, .options] {
            let fields = service.bearer(.app).merging(["Content-Type": "application/json"]) { $1 }
            let answer = await service.send(method, path, query: query, fields: fields, body: "{}")
            #expect(answer.isRefusal(400, "KEY_IN_URL"), "\(answer.text)")
            #expect(answer.text.contains("Authorization: Bearer"))
            #expect(!answer.text.contains(key.dropFirst(4)) && !answer.fieldLines.contains(key.dropFirst(4)))
        }
        #expect(!service.logLines().joined().contains(key.dropFirst(4)))
        #expect(await service.check(hex).text.contains(#""status":"match""#))
    }

    @Test("keys of every kind are recognised in a URL", arguments: KeyKind.allCases)
    func kinds(kind: KeyKind) async throws {
        let service = try await TestService()
        let query = "fingerprint=\(hex)&apiKey=\(service.keyText(kind))"
        let answer = await service.send(.get, "/v1/deferred-deeplink", query: query)
        #expect(answer.member("error_code") == "KEY_IN_URL")
    }

    @Test(
        "no key is found in a URL that contains none",
        arguments: [
            "fingerprint=\(hex)&idfa=6D92078A-8246-4BA4-AE5B-76104861E7DC",
            "fingerprint=\(hex)&utm_source=app_store",
            "fingerprint=\(hex)&x=app_\(String(repeating: "a", count: 42))",
            "fingerprint=\(hex)&x=app_\(String(repeating: "a", count: 44))",
            "fingerprint=\(hex)&x=app_01jz8w6t7n3k5m9q2r4v6x8y0z", "fingerprint=\(hex)&x=100%25_of_it",
        ]
    )
    func innocent(query: String) async throws {
        let service = try await TestService()
        #expect(await service.ask(query).status == 200)
        #expect(await service.send(.get, "/resolve/app_summer_2025").status == 200)
    }
}

@Suite("No match")
struct NoMatchTests {
    @Test(
        "checks get the same bytes for no click, an expired, claimed or robot's click; test keys get a reason"
    )
    func alike() async throws {
        let service = try await TestService(replayGrace: 0)
        let names = ["unknown", "expired", "consumed", "robot"]
        let fingerprints = ["1", "2", "3", "4"].map { String(repeating: $0, count: 64) }
        func click(_ number: Int, _ key: KeyKind, _ agent: String, window: Int) async {
            await service.click(
                #"{"fingerprint":"\#(fingerprints[number])","deeplink_url":"myapp://promo/item","#
                    + #""attribution_window_seconds":\#(window)}"#,
                fields: service.bearer(key).merging(["User-Agent": agent]) { $1 }
            )
        }
        for key in [KeyKind.app, .test] {
            await click(1, key, "B/1", window: 60)
            await click(2, key, "B/1", window: 3600)
            await click(3, key, "facebookexternalhit/1.1", window: 3600)
            #expect(await service.check(fingerprints[2], key: key).text.contains(#""status":"match""#))
        }
        service.clock.advance(seconds: 120)
        var live: Set<String> = []
        var reasons: [String?] = []
        for fingerprint in fingerprints {
            let answer = await service.check(fingerprint, fields: ["X-Request-ID": "same"])
            #expect(answer.status == 200)
            live.insert(answer.fieldLines + "\n" + answer.text)
            reasons.append(await service.check(fingerprint, key: .test).member("reason"))
        }
        #expect(live.count == 1, "\(live)")
        #expect(live.first?.contains("reason") == false)
        #expect(live.first?.contains("Cache-Control: no-store") == true)
        #expect(live.first?.hasSuffix(#"{"status":"no_match","matched":false}"#) == true)
        #expect(reasons == ["no_click", "expired", "already_claimed", "robot_click"], "\(names)")
    }
}

extension TestService {
    /// Sends a check with a valid key and this query.
    fileprivate func ask(_ query: String) async -> Answer {
        await send(.get, "/v1/deferred-deeplink", query: query, fields: bearer(.app))
    }
}
