import Attribution
import HTTPServer
import JSON
import Server
import Testing
import Threads

private let start = MonotonicTime(nanoseconds: 10_000_000_000)

@Suite("Rate limits by address")
struct RateLimitTests {
    private func address(_ number: UInt32) -> PeerAddress { PeerAddress(ipv4: 0xC000_0200 + number, port: 1) }

    @Test("a rate limit is read from N/s:BURST and nothing else")
    func reading() {
        #expect(RateLimit("20/s:500") == RateLimit(perSecond: 20, burst: 500))
        #expect(RateLimit("20/s:500")?.text == "20/s:500")
        for text in ["", "20", "20/s", "20:500", "0/s:5", "5/s:0", "-1/s:5", "20/m:5", "20/s:5:5", "x/s:y"] {
            #expect(RateLimit(text) == nil, "\(text)")
        }
    }

    @Test("the burst passes, the next request gets Retry-After, other addresses are not affected")
    func limits() async throws {
        let service = try await TestService(rateLimits: RateLimits([.checks], "2/s:3"))
        let here = address(1)
        for _ in 0..<3 { #expect(await service.check(hex, peer: here, at: start).status == 200) }
        let refused = await service.check(hex, peer: here, at: start)
        #expect(refused.isRefusal(429, "RATE_LIMIT_EXCEEDED"), "\(refused.text)")
        #expect(refused.field("Retry-After") == "1")
        #expect(refused.field("X-RateLimit-Limit") == "3")
        #expect(refused.field("X-RateLimit-Remaining") == "0")
        #expect(refused.field("X-RateLimit-Reset") == "2")
        #expect(await service.check(hex, peer: address(2), at: start).status == 200)
        let later = start.advanced(by: .milliseconds(500))
        #expect(await service.check(hex, peer: here, at: later).status == 200)
        #expect(await service.check(hex, peer: here, at: later).status == 429)
        #expect(await service.send(.get, "/healthz", peer: here).status == 200)
    }

    @Test("each class of calls has a bucket of its own; a class without a limit has none")
    func classes() async throws {
        let service = try await TestService(rateLimits: RateLimits([.clicks, .admin], "1/s:1"))
        let here = address(1)
        func click() async -> Int { await service.click(peer: here, at: start).status }
        func statistics(_ key: KeyKind) async -> Int {
            let fields = service.bearer(key)
            return await service.send(.get, "/admin/stats", fields: fields, peer: here, at: start).status
        }
        #expect(await click() == 201)
        #expect(await click() == 429)
        for _ in 0..<5 { #expect(await service.check(hex, peer: here, at: start).status == 200) }
        // Guessing keys is limited too.
        #expect(await statistics(.app) == 403)
        #expect(await statistics(.admin) == 429)
    }

    @Test("calls with a valid server key are not limited; calls with a wrong one or an app key are")
    func serverKeys() async throws {
        let service = try await TestService(rateLimits: RateLimits([.checks], "1/s:1"))
        let here = address(1)
        for _ in 0..<5 {
            #expect(await service.check(hex, key: .server, peer: here, at: start).status == 200)
        }
        let guessed = ["Authorization": "Bearer server_\(String(repeating: "A", count: 43))"]
        #expect(await service.check(hex, fields: guessed, peer: here, at: start).status == 429)
        #expect(await service.check(hex, key: .app, peer: here, at: start).status == 429)
    }

    @Test("an IPv6 network of 64 bits counts as one address")
    func networks() async throws {
        let service = try await TestService(rateLimits: RateLimits([.checks], "1/s:1"))
        let network: UInt64 = 0x2001_0DB8_0000_0001
        let first = PeerAddress(high: network, low: 1, port: 1)
        let second = PeerAddress(high: network, low: .max, port: 1)
        let other = PeerAddress(high: network + 1, low: 1, port: 1)
        #expect(await service.check(hex, peer: first, at: start).status == 200)
        #expect(await service.check(hex, peer: second, at: start).status == 429)
        #expect(await service.check(hex, peer: other, at: start).status == 200)
    }

    @Test("the standard limits let a carrier's burst pass, stop a flood, and spare this machine")
    func standard() throws {
        for limitClass in [RateLimitClass.clicks, .checks] {
            let rule = try #require(RateLimits.standard[limitClass])
            let limiter = RateLimiter(rule)
            let carrier = NetworkAddress(ipv4: 0x0A00_0001)
            let refused = (0..<12_000).count { _ in limiter.take(for: carrier, at: start) != nil }
            #expect(refused == 2000)
            let later = start.advanced(by: .seconds(10))
            #expect((0..<6000).count { _ in limiter.take(for: carrier, at: later) != nil } == 1000)
            for loopback in [NetworkAddress(ipv4: 0x7F00_0001), NetworkAddress(high: 0, low: 1)] {
                #expect((0..<50_000).allSatisfy { _ in limiter.take(for: loopback, at: start) == nil })
            }
        }
        #expect(RateLimits.standard[.admin] != nil)
    }

    @Test("a flood of addresses does not fill the memory, and new addresses share one bucket meanwhile")
    func bounded() throws {
        let rule = RateLimits.Rule(try #require(RateLimit("1/s:2")), countsLoopback: true)
        let limiter = RateLimiter(rule)
        for number in UInt32(0)..<300_000 { _ = limiter.take(for: NetworkAddress(ipv4: number), at: start) }
        #expect(limiter.count == RateLimiter.maximumCount)
        #expect(
            limiter.take(for: NetworkAddress(ipv4: 400_000), at: start) != nil,
            "the shared bucket is empty"
        )
        #expect(limiter.take(for: NetworkAddress(ipv4: 0), at: start) == nil, "this address has its own")
        // Full buckets are removed, so that new addresses have buckets of their own again.
        let later = start.advanced(by: .seconds(60))
        for number in UInt32(1_000_000)..<1_001_000 {
            #expect(limiter.take(for: NetworkAddress(ipv4: number), at: later) == nil)
        }
        #expect(limiter.count < RateLimiter.maximumCount)
    }

    @Test("asking whether a request would pass takes no token, and removes full buckets from a full table")
    func questions() throws {
        let rule = RateLimits.Rule(try #require(RateLimit("1/s:1")), countsLoopback: true)
        let limiter = RateLimiter(rule)
        let here = NetworkAddress(ipv4: 400_000)
        for _ in 0..<3 { #expect(limiter.refusal(for: here, at: start) == nil) }
        #expect(limiter.count == 0)
        #expect(limiter.take(for: here, at: start) == nil)
        let refusal = limiter.refusal(for: here, at: start)
        #expect(refusal != nil && refusal == limiter.take(for: here, at: start))
        for number in UInt32(0)..<300_000 { _ = limiter.take(for: NetworkAddress(ipv4: number), at: start) }
        #expect(limiter.count == RateLimiter.maximumCount)
        // Otherwise each question would search a full part of the table again.
        let later = start.advanced(by: .seconds(60))
        for number in UInt32(1_000_000)..<1_001_000 {
            #expect(limiter.refusal(for: NetworkAddress(ipv4: number), at: later) == nil)
        }
        #expect(limiter.count == 0)
    }

    @Test("if a link's QR code gets 429, the log hints at a proxy that --trusted-proxy does not name")
    func unnamedProxyOfVisitors() async throws {
        let service = try await TestService(LinkScenario.shop, rateLimits: RateLimits([.pictures], "1/s:1"))
        try await service.makeLink(#"{"slug":"a","destination":"myapp://x"}"#)
        let fields = ["Host": "go.shop.example", "X-Forwarded-For": "203.0.113.9"]
        for status in [200, 429] {
            let (query, peer) = ("al_go=code", address(1))
            let code = await service.send(.get, "/a", query: query, fields: fields, peer: peer, at: start)
            #expect(code.status == status)
            #expect(code.field("Retry-After") == (status == 429 ? "1" : nil))
        }
        #expect(service.logLines().count { $0.contains("--trusted-proxy") } == 1)
    }

    @Test("the log says at most once a minute that a refused address looks like a proxy, without the address")
    func unnamedProxy() async throws {
        let service = try await TestService(rateLimits: RateLimits([.checks], "1/s:1"))
        for seconds in [0, 0, 20, 20, 59, 59, 60, 60] {
            let moment = start.advanced(by: .seconds(seconds))
            await service.check(hex, fields: ["X-Forwarded-For": "203.0.113.9"], peer: address(1), at: moment)
        }
        let hints = service.logLines().filter { $0.contains("--trusted-proxy") }
        #expect(hints.count == 2)
        #expect(!hints.joined().contains("203.0.113") && !hints.joined().contains("192.0.2"))
        let limits = RateLimits([.checks], "1/s:1")
        let trusting = try await TestService(trustedProxies: ["192.0.2.0/24"], rateLimits: limits)
        for _ in 0..<5 {
            await trusting.check(hex, fields: ["X-Forwarded-For": "203.0.113.9"], peer: address(1), at: start)
        }
        #expect(!trusting.logLines().contains { $0.contains("--trusted-proxy") })
    }
}
