import HTTPServer
import Support
import Testing

@Suite("TLS sessions and certificates", .blocking)
struct TLSResumptionTests {
    private static let versions = [TLSClientSettings.Version.tls12, .tls13]

    @Test("a session is resumed by any loop", arguments: versions)
    func resumes(version: TLSClientSettings.Version) async throws {
        try await TLSServer.run(nil, { $0.loopCount = 4 }) { server in
            var session = try #require(try server.visit(TLSClientSettings(version)).tlsSession)
            // The kernel chooses the loop of a connection; of twenty connections, each of the four loops gets some.
            for _ in 0..<20 {
                let client = try server.visit(TLSClientSettings(version, resuming: session))
                #expect(client.isResumed && client.tlsVersion == version)
                session = try #require(client.tlsSession)
            }
            #expect(server.statistics.handshakes == 21 && server.statistics.resumedHandshakes == 20)
        }
    }

    @Test("a session of another server is not resumed, and the handshake is a full one", arguments: versions)
    func otherServer(version: TLSClientSettings.Version) async throws {
        let certificate = try TestCertificate()
        var session: SavedTLSSession?
        try await TLSServer.run(certificate) { session = try $0.visit(TLSClientSettings(version)).tlsSession }
        try await TLSServer.run(certificate) { server in
            let client = try server.visit(TLSClientSettings(version, resuming: session))
            #expect(!client.isResumed)
        }
    }

    @Test("another certificate is presented from the next handshake on", arguments: versions)
    func replaces(version: TLSClientSettings.Version) async throws {
        try await TLSServer.run(TestCertificate("old")) { server in
            let open = try server.visit(TLSClientSettings(version))
            let session = try #require(open.tlsSession)
            #expect(open.serverName == "old")
            let replacement = try TestCertificate("new")
            #expect(try server.show(replacement))
            #expect(try open.ask(TLSServer.get).status == 200)
            let visitor = try server.visit(TLSClientSettings(version))
            #expect(visitor.serverName == "new")
            // The previous key may have been stolen, so sessions under it must not be resumed.
            let returning = try server.visit(TLSClientSettings(version, resuming: session))
            #expect(!returning.isResumed && returning.serverName == "new")
            #expect(server.statistics.certificateExpiry == server.termination.certificate.notAfter)
        }
    }

    @Test("sessions can be resumed after the same certificate was loaded again", arguments: versions)
    func reloads(version: TLSClientSettings.Version) async throws {
        let certificate = try TestCertificate()
        try await TLSServer.run(certificate) { server in
            let session = try #require(try server.visit(TLSClientSettings(version)).tlsSession)
            #expect(try !server.show(certificate))
            let visitor = try server.visit(TLSClientSettings(version, resuming: session))
            #expect(visitor.isResumed)
        }
    }

    @Test("a handshake that started with the old certificate ends with that certificate")
    func replacedMeanwhile() async throws {
        try await TLSServer.run(TestCertificate("old")) { server in
            let replacement = try TestCertificate("new")
            let relay = try SlowRelay(to: server.port) {
                #expect(Polling.until { server.statistics.receivedBytes == 1 })
                #expect(throws: Never.self) { try server.show(replacement) }
            }
            let early = try RawClient(port: relay.port, tls: TLSClientSettings())
            #expect(early.serverName == "old")
            #expect(try early.ask(TLSServer.get).status == 200)
            #expect(try server.visit().serverName == "new")
        }
    }

    @Test("a connection that has sent no byte gets the certificate that was loaded meanwhile")
    func replacedBefore() async throws {
        try await TLSServer.run(TestCertificate("old")) { server in
            let silent = try server.connectWithoutTLS()
            #expect(await Polling.eventually { server.statistics.openConnections == 1 })
            _ = try server.show(try TestCertificate("new"))
            try silent.beginTLS()
            #expect(silent.serverName == "new")
            #expect(try silent.ask(TLSServer.get).status == 200)
        }
    }

    @Test("an unusable certificate or key is refused with its cause, and the previous certificate stays")
    func refusals() async throws {
        let good = try TestCertificate("good")
        let other = try TestCertificate("other")
        let locked = try TestCertificate("locked", password: "secret")
        let weak = try TestCertificate("weak", .rsa(bits: 1024))
        let garbage = Array("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".utf8)
        try await TLSServer.run(good) { server in
            for (certificate, key, cause) in [
                ([], good.key, TLSError.Cause.certificateNotPEM),
                (Array("hello".utf8), good.key, .certificateNotPEM),
                (garbage, good.key, .certificateNotPEM),
                (good.key, good.key, .certificateNotPEM),
                (good.certificate + garbage, good.key, .certificateNotPEM),
                (good.certificate, [], .keyNotPEM),
                (good.certificate, good.certificate, .keyNotPEM),
                (locked.certificate, locked.key, .keyEncrypted),
                (good.certificate, other.key, .keyDoesNotFit),
                (good.certificate, weak.key, .keyDoesNotFit),
                (weak.certificate, weak.key, .certificateUnusable),
            ] {
                let error = #expect(throws: TLSError.self) {
                    try server.termination.replace(certificatePEM: certificate, keyPEM: key)
                }
                #expect(error?.cause == cause)
            }
            let visitor = try server.visit()
            #expect(visitor.serverName == "good")
        }
    }

    @Test("a chain after the certificate is accepted, and key and certificate may be in one file")
    func chain() async throws {
        let own = try TestCertificate("own")
        let file = own.key + own.certificate + (try TestCertificate("above")).certificate
        let termination = try TLSTermination(certificatePEM: file, keyPEM: file)
        try await TLSServer.run(own, { $0.tls = termination }) { server in
            let visitor = try server.visit()
            #expect(visitor.serverName == "own")
        }
    }

    @Test("the summary of a certificate contains its validity")
    func summary() throws {
        let certificate = try TestCertificate(validFrom: -1_000, validUntil: 5_000)
        let summary = try CertificateSummary(pem: certificate.certificate)
        #expect(summary.notAfter - summary.notBefore == 6_000)
        #expect(summary.notBefore > 1_700_000_000)
        #expect(throws: TLSError.self) { try CertificateSummary(pem: certificate.key) }
    }
}
