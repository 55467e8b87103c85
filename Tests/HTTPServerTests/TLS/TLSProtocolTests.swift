import HTTPServer
import Support
import Synchronization
import Testing

@Suite("TLS", .blocking)
struct TLSProtocolTests {
    @Test("answers requests on one connection, with Strict-Transport-Security")
    func keepsAlive() async throws {
        let wasSecure = Mutex<[Bool]>([])
        try await TLSServer.run(answer: { request in
            wasSecure.withLock { $0.append(request.isSecure) }
            return Response(.ok, text: Machine.line(request))
        }) { server in
            let client = try server.connect()
            for _ in 0..<3 {
                let answer = try client.ask(TLSServer.get)
                #expect(answer.body == "GET /x")
                #expect(answer.field("strict-transport-security") == "max-age=31536000")
            }
            #expect(server.statistics.handshakes == 1 && server.statistics.resumedHandshakes == 0)
            #expect(server.statistics.acceptedConnections == 1)
            #expect(server.statistics.certificateExpiry == server.termination.certificate.notAfter)
        }
        #expect(wasSecure.withLock { $0 } == [true, true, true])
        try await TestServer.run { server in
            let client = try server.connect()
            #expect(try client.ask(TLSServer.get).field("strict-transport-security") == nil)
        }
    }

    @Test(
        "supports only TLS 1.2 and 1.3, with every kind of key",
        arguments: TLSClientSettings.Version.allCases
    )
    func versions(version: TLSClientSettings.Version) async throws {
        for kind in [TestCertificate.KeyKind.p256, .p384, .rsa(bits: 2048)] {
            try await TLSServer.run(TestCertificate("localhost", kind)) { server in
                guard version.rawValue >= TLSClientSettings.Version.tls12.rawValue else {
                    #expect(throws: RawClient.Failure.self) { try server.connect(TLSClientSettings(version)) }
                    #expect(await Polling.eventually { server.statistics.failedHandshakes == 1 })
                    return
                }
                let visitor = try server.visit(TLSClientSettings(version))
                #expect(visitor.tlsVersion == version)
            }
        }
    }

    @Test(
        "accepts only authenticated encryption with forward secrecy",
        arguments: [
            (list: "ECDHE-ECDSA-AES128-GCM-SHA256", taken: true),
            (list: "ECDHE-ECDSA-AES256-GCM-SHA384", taken: true),
            (list: "ECDHE-ECDSA-CHACHA20-POLY1305", taken: true),
            (list: "ECDHE-ECDSA-AES128-SHA256", taken: false),
            (list: "ECDHE-ECDSA-AES256-SHA", taken: false),
            (list: "ECDHE-ECDSA-AES128-CCM8", taken: false),
            (list: "ECDHE-RSA-AES128-SHA:AES128-GCM-SHA256:AES128-SHA", taken: false),
            (list: "AECDH-AES128-SHA:aNULL:eNULL", taken: false),
        ]
    )
    func suites(list: String, taken: Bool) async throws {
        var settings = TLSClientSettings(.tls12)
        settings.cipherList = list + ":@SECLEVEL=0"
        try await TLSServer.run { server in
            if taken {
                let visitor = try server.visit(settings)
                #expect(visitor.cipherName == list)
            } else {
                #expect(throws: RawClient.Failure.self) { try server.connect(settings) }
            }
        }
    }

    @Test("accepts the suites of TLS 1.3, except those with short tags")
    func suitesOf13() async throws {
        try await TLSServer.run { server in
            for name in ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"] {
                var settings = TLSClientSettings(.tls13)
                settings.cipherSuites = name
                let visitor = try server.visit(settings)
                #expect(visitor.cipherName == name)
            }
            var settings = TLSClientSettings(.tls13)
            settings.cipherSuites = "TLS_AES_128_CCM_8_SHA256"
            #expect(throws: RawClient.Failure.self) { try server.connect(settings) }
        }
    }

    @Test(
        "exchanges keys over X25519, P-256 and P-384",
        arguments: [("X25519", true), ("P-256", true), ("P-384", true), ("P-521", false), ("X448", false)]
    )
    func groups(name: String, taken: Bool) async throws {
        try await TLSServer.run { server in
            for version in [TLSClientSettings.Version.tls12, .tls13] {
                // With TLS 1.2, the curve of the certificate must be among the client's groups.
                var settings = TLSClientSettings(version)
                settings.groups = name
                guard version == .tls13 || name == "P-256" || !taken else { continue }
                if taken {
                    _ = try server.visit(settings)
                } else {
                    #expect(throws: RawClient.Failure.self) { try server.connect(settings) }
                }
            }
        }
    }

    @Test(
        "selects http/1.1, serves clients without a protocol, and refuses clients with only other protocols",
        arguments: [
            (offered: [], settled: String?.none, refused: false),
            (offered: ["http/1.1"], settled: "http/1.1", refused: false),
            (offered: ["h2", "http/1.1"], settled: "http/1.1", refused: false),
            (offered: ["h2"], settled: nil, refused: true),
            (offered: ["http/1.0", "spdy/3"], settled: nil, refused: true),
        ]
    )
    func applicationProtocols(offered: [String], settled: String?, refused: Bool) async throws {
        try await TLSServer.run { server in
            for version in [TLSClientSettings.Version.tls12, .tls13] {
                var settings = TLSClientSettings(version)
                settings.protocols = offered
                guard refused else {
                    let visitor = try server.visit(settings)
                    #expect(visitor.applicationProtocol == settled)
                    continue
                }
                let failure = #expect(throws: RawClient.Failure.self) { try server.connect(settings) }
                guard case .handshake(let reason)? = failure else {
                    Issue.record("not refused in the handshake")
                    return
                }
                #expect(reason == "tlsv1 alert no application protocol")
            }
        }
    }

    @Test("does not renegotiate, and updates keys on request")
    func renegotiation() async throws {
        try await TLSServer.run { server in
            let client = try server.visit(TLSClientSettings(.tls12))
            #expect(!client.renegotiate())
            let other = try server.visit(TLSClientSettings(.tls13))
            for _ in 0..<100 {
                other.updateKeys()
                #expect(try other.ask(TLSServer.get).status == 200)
            }
        }
    }

    @Test("transfers bodies and long responses", arguments: [TLSClientSettings.Version.tls12, .tls13])
    func traffic(version: TLSClientSettings.Version) async throws {
        let long = [UInt8]((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 % 251) })
        try await TLSServer.run(answer: { request in
            request.path == "/long"
                ? Response(.ok, contentType: .png, body: long)
                : Response(.ok, contentType: .png, body: request.body)
        }) { server in
            let client = try server.connect(TLSClientSettings(version))
            let body = String(repeating: "0123456789abcdef", count: 4096)
            client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.utf8.count)\r\n\r\n" + body)
            #expect(try client.answer().body == body)
            client.send("GET /long HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try client.answerByteCount() == long.count)
            client.send(String(repeating: TLSServer.get, count: 64))
            for _ in 0..<64 { #expect(try client.answer().status == 200) }
            client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
            #expect(try client.answer().status == 100)
            #expect(try client.ask("hi").body == "hi")
        }
    }

    @Test("sends a close_notify after the last response, and handles the client's close_notify")
    func ends() async throws {
        try await TLSServer.run { server in
            let closing = try server.connect()
            _ = try closing.ask("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            #expect(try closing.rest() == "" && closing.receivedCloseNotify)

            let malformed = try server.connect()
            #expect(try malformed.ask("GET / HTTP/1.1\r\nHost : a\r\n\r\n").status == 400)
            #expect(try malformed.rest() == "" && malformed.receivedCloseNotify)

            let ending = try server.visit()
            ending.endTLS()
            #expect(try ending.rest() == "" && ending.receivedCloseNotify)

            // The server does not count a request that is cut off, with or without a close_notify after it.
            for endsTLS in [true, false] {
                let before = server.statistics.requests
                let half = try server.connect()
                half.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf")
                if endsTLS { half.endTLS() } else { half.endSending() }
                #expect(try half.answer().status == 400)
                #expect(server.statistics.requests == before)
            }
        }
    }

    @Test("a graceful stop ends idle connections with a close_notify, and finishes current requests")
    func stops() async throws {
        let gate = Gate()
        try await TLSServer.run(answer: { request in
            if request.path == "/slow" { await gate.pass() }
            return Response(.ok)
        }) { server in
            let idle = try server.visit()
            let busy = try server.connect()
            busy.send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(await Polling.eventually { gate.waitingCount == 1 })
            let webServer = server.webServer
            let stopped = Background.start { webServer.stop(within: .seconds(600)) }
            #expect(try idle.rest() == "" && idle.receivedCloseNotify)
            gate.open()
            let answer = try busy.answer()
            #expect(answer.status == 200 && answer.field("connection") == "close")
            #expect(try busy.rest() == "" && busy.receivedCloseNotify)
            await stopped.pass()
        }
    }

    @Test("answers a connection above the limit with 503 over TLS")
    func tooMany() async throws {
        try await TLSServer.run(nil, { $0.maximumConnections = 1 }) { server in
            let first = try server.visit()
            let second = try server.connect()
            let answer = try second.answer()
            #expect(answer.status == 503 && answer.field("retry-after") != nil)
            #expect(try first.ask(TLSServer.get).status == 200)
        }
    }
}
