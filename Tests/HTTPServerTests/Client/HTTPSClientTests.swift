import Foundation
import HTTPServer
import Support
import Synchronization
import Testing

/// Calls to a real server over real TLS on the loopback address, which only these tests may call.
@Suite("Calls to servers outside", .blocking)
struct HTTPSClientTests {
    private static let name = "shop.example"
    private static let loopback: HTTPSClient.Lookup = { _, port in
        [PeerAddress(ipv4: 0x7F00_0001, port: port)]
    }
    private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    /// A client that finds every name on the loopback address, and trusts one certificate.
    private func client(
        trusting certificate: TestCertificate?,
        in folder: TemporaryFolder,
        time: Duration = .seconds(Polling.seconds),
        lookup: @escaping HTTPSClient.Lookup = HTTPSClientTests.loopback,
        permits: @escaping @Sendable (PeerAddress) -> Bool = { _ in true }
    ) throws -> HTTPSClient {
        var roots: String?
        if let certificate {
            let path = folder.file("roots.pem")
            try Data(certificate.certificate).write(to: URL(filePath: path))
            roots = path
        }
        return HTTPSClient(
            bounds: HTTPSClient.Bounds(time: time),
            roots: roots,
            lookup: lookup,
            permits: permits
        )
    }

    private func request(_ server: RawTLSServer, host: String = name) throws -> HTTPSRequest {
        try #require(HTTPSRequest(host: host, port: server.port, .get, "/x?y=z"))
    }

    private func failure(_ call: () throws(HTTPSFailure) -> HTTPSResponse) -> HTTPSFailure? {
        do throws(HTTPSFailure) {
            _ = try call()
            return nil
        } catch {
            return error
        }
    }

    private final class SharedText: Sendable {
        private let text = Mutex("")
        var value: String {
            get { text.withLock { $0 } }
            set { text.withLock { $0 = newValue } }
        }
    }

    @Test("send one request, ask for no coding and for a close, and give the answer")
    func asks() throws {
        let folder = try TemporaryFolder()
        let certificate = try TestCertificate(Self.name)
        let head = SharedText()
        let server = try RawTLSServer(certificate) { connection in
            head.value = connection.readHead()
            connection.write(Self.answer)
        }
        let answer = try client(trusting: certificate, in: folder).send(try request(server))
        #expect(answer.status == 200)
        #expect(answer.body == Array("ok".utf8))
        #expect(head.value.hasPrefix("GET /x?y=z HTTP/1.1\r\nHost: shop.example:\(server.port)\r\n"))
        for line in ["Connection: close", "Accept-Encoding: identity"] {
            #expect(head.value.contains("\r\n\(line)\r\n"))
        }
        #expect(!head.value.lowercased().contains("gzip"))
        #expect(server.acceptedCount == 1)
    }

    @Test("send a body with its length")
    func posts() async throws {
        let folder = try TemporaryFolder()
        let certificate = try TestCertificate(Self.name)
        try await TLSServer.run(
            certificate,
            answer: { request in Response(.ok, body: request.body + Array("|\(request.method)".utf8)) },
            during: { server in
                let post = try #require(
                    HTTPSRequest(
                        host: Self.name,
                        port: server.port,
                        .post,
                        "/hook",
                        fields: [FieldLine(name: "Content-Type", value: "application/json")],
                        body: Array("{\"a\":1}".utf8)
                    )
                )
                let answer = try client(trusting: certificate, in: folder).send(post)
                #expect(String(decoding: answer.body, as: UTF8.self) == "{\"a\":1}|post")
            }
        )
    }

    @Test("take chunks, and an answer that goes to the connection's end")
    func framings() throws {
        let folder = try TemporaryFolder()
        let certificate = try TestCertificate(Self.name)
        for (text, isClean) in [
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", false),
            ("HTTP/1.0 200 OK\r\n\r\nok", true),
        ] {
            let server = try RawTLSServer(certificate) { connection in
                _ = connection.readHead()
                connection.write(text)
                if isClean { connection.sendCloseNotify() }
            }
            let answer = try client(trusting: certificate, in: folder).send(try request(server))
            #expect(answer.body == Array("ok".utf8))
        }
    }

    @Test("take an answer whose end was cut off for none")
    func truncation() throws {
        let folder = try TemporaryFolder()
        let certificate = try TestCertificate(Self.name)
        for text in ["HTTP/1.1 200 OK\r\n\r\npart", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart", ""] {
            let server = try RawTLSServer(certificate) { connection in
                _ = connection.readHead()
                connection.write(text)
            }
            let call = try client(trusting: certificate, in: folder)
            let asked = try request(server)
            #expect(failure { () throws(HTTPSFailure) in try call.send(asked) } == .endedEarly)
        }
    }

    @Test("follow no redirect: it is an answer as any other")
    func redirects() throws {
        let folder = try TemporaryFolder()
        let certificate = try TestCertificate(Self.name)
        let server = try RawTLSServer(certificate) { connection in
            _ = connection.readHead()
            connection.write(
                "HTTP/1.1 302 Found\r\nLocation: https://shop.example/y\r\nContent-Length: 0\r\n\r\n"
            )
        }
        let answer = try client(trusting: certificate, in: folder).send(try request(server))
        #expect(answer.status == 302)
        #expect(answer.field("location") == "https://shop.example/y")
        #expect(server.acceptedCount == 1)
    }

    // MARK: - Who answers

    @Test("accept no certificate that nobody vouches for, of another name, of another time")
    func certificates() throws {
        let folder = try TemporaryFolder()
        let good = try TestCertificate(Self.name)
        let cases: [(TestCertificate, TestCertificate?, String, String)] = [
            (good, nil, Self.name, "self-signed"),
            (good, try TestCertificate(Self.name), Self.name, "self-signed"),
            (good, good, "other.example", "hostname mismatch"),
            (good, good, "127.0.0.1", "IP address mismatch"),
        ]
        for (shown, trusted, host, words) in cases { try expectRefusal(shown, trusted, host, words, folder) }
        let expired = try TestCertificate(Self.name, validFrom: -7200, validUntil: -3600)
        try expectRefusal(expired, expired, Self.name, "expired", folder)
        let early = try TestCertificate(Self.name, validFrom: 3600)
        try expectRefusal(early, early, Self.name, "not yet valid", folder)
    }

    private func expectRefusal(
        _ shown: TestCertificate,
        _ trusted: TestCertificate?,
        _ host: String,
        _ words: String,
        _ folder: TemporaryFolder
    ) throws {
        let head = SharedText()
        let server = try RawTLSServer(shown) { connection in
            head.value = connection.readHead()
            connection.write(Self.answer)
        }
        let call = try client(trusting: trusted, in: folder)
        let asked = try request(server, host: host)
        let failed = failure { () throws(HTTPSFailure) in try call.send(asked) }
        guard case .certificate(let reason) = failed else {
            Issue.record("\(String(describing: failed)) instead of \(words)")
            return
        }
        #expect(reason.contains(words), "\(reason)")
        #expect(head.value.isEmpty, "nothing is sent to whoever is not the one")
    }

    @Test("speak TLS alone")
    func plain() throws {
        let folder = try TemporaryFolder()
        let head = SharedText()
        let server = try RawTLSServer(nil) { connection in
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            head.value = connection.readHead()
        }
        let call = try client(trusting: nil, in: folder)
        let asked = try request(server)
        #expect(failure { () throws(HTTPSFailure) in try call.send(asked) } == .tls)
        #expect(!head.value.contains("GET"))
    }

    // MARK: - Where they go

    @Test("go to no address that is not permitted, and to none of a name that has one")
    func addresses() throws {
        let folder = try TemporaryFolder()
        let certificate = try TestCertificate(Self.name)
        let server = try RawTLSServer(certificate) { connection in
            _ = connection.readHead()
            connection.write(Self.answer)
        }
        let asked = try request(server)
        let inside = try client(trusting: certificate, in: folder, permits: { $0.ipv4 != 0x7F00_0001 })
        #expect(failure { () throws(HTTPSFailure) in try inside.send(asked) } == .addressRefused)
        let both = try client(
            trusting: certificate,
            in: folder,
            lookup: { _, port in
                [PeerAddress(ipv4: 0x7F00_0001, port: port), PeerAddress(ipv4: 0x0A00_0001, port: port)]
            },
            permits: { $0.ipv4 == 0x7F00_0001 }
        )
        #expect(failure { () throws(HTTPSFailure) in try both.send(asked) } == .addressRefused)
        #expect(server.acceptedCount == 0, "nobody was called")
    }

    @Test("look a name up once, and go to the very address that was looked at")
    func pinned() throws {
        let folder = try TemporaryFolder()
        let certificate = try TestCertificate(Self.name)
        let server = try RawTLSServer(certificate) { connection in
            _ = connection.readHead()
            connection.write(Self.answer)
        }
        // A second look-up would lead elsewhere, where nobody answers.
        let counted = CountedLookup()
        let call = try client(trusting: certificate, in: folder, lookup: { _, port in counted.next(port) })
        #expect(try call.send(try request(server)).status == 200)
        #expect(counted.count == 1)
    }

    private final class CountedLookup: Sendable {
        private let lookups = Mutex(0)

        var count: Int { lookups.withLock { $0 } }
        func next(_ port: UInt16) -> [PeerAddress] {
            let number = lookups.withLock { number in
                number += 1
                return number
            }
            return [PeerAddress(ipv4: number == 1 ? 0x7F00_0001 : 0x7F00_0002, port: number == 1 ? port : 1)]
        }
    }

    @Test("try a name's next address where one does not answer, and say where none does or there is none")
    func severalAddresses() throws {
        let folder = try TemporaryFolder()
        let certificate = try TestCertificate(Self.name)
        let server = try RawTLSServer(certificate) { connection in
            _ = connection.readHead()
            connection.write(Self.answer)
        }
        let second = try client(
            trusting: certificate,
            in: folder,
            lookup: { _, port in
                // Nobody listens at the first one's port.
                [PeerAddress(ipv4: 0x7F00_0001, port: 1), PeerAddress(ipv4: 0x7F00_0001, port: port)]
            }
        )
        #expect(try second.send(try request(server)).status == 200)
        let nobody = try client(
            trusting: certificate,
            in: folder,
            lookup: { _, _ in [PeerAddress(ipv4: 0x7F00_0001, port: 1)] }
        )
        let asked = try request(server)
        #expect(failure { () throws(HTTPSFailure) in try nobody.send(asked) } == .notReached)
        let unknown = try client(trusting: certificate, in: folder, lookup: { _, _ in [] })
        #expect(failure { () throws(HTTPSFailure) in try unknown.send(asked) } == .unknownHost)
    }

    // MARK: - How long and how much

    @Test("have five seconds and 64 KiB where nothing else is said")
    func standardBounds() {
        #expect(HTTPSClient.Bounds().time == .seconds(5))
        #expect(HTTPSClient.Bounds().bodyByteCount == 64 * 1024)
    }

    @Test("end in time, wherever the other end lets them wait")
    func times() throws {
        let folder = try TemporaryFolder()
        let certificate = try TestCertificate(Self.name)
        let wait: @Sendable (RawTLSServer.Connection) -> Void = { connection in
            _ = connection.readHead()
            waitWithoutEnd()
        }
        let silent = try RawTLSServer(nil, serve: wait)
        let mute = try RawTLSServer(certificate, serve: wait)
        // Bytes keep coming, one at a time: it is the whole that has its time.
        let slow = try RawTLSServer(certificate) { connection in
            _ = connection.readHead()
            connection.write("HTTP/1.1 200 OK\r\n\r\n")
            while connection.write("a") { usleep(10_000) }
        }
        for server in [silent, mute, slow] {
            let call = try client(trusting: certificate, in: folder, time: .seconds(1))
            let asked = try request(server)
            let failed = failure { () throws(HTTPSFailure) in try call.send(asked) }
            // On a busy machine a good handshake, too, may take as long.
            guard case .timedOut(let stage) = failed, stage == .handshake || stage == .answer else {
                Issue.record("\(String(describing: failed))")
                continue
            }
        }
        let stuck = try client(
            trusting: certificate,
            in: folder,
            time: .milliseconds(200),
            lookup: { _, _ in
                waitWithoutEnd()
                return []
            }
        )
        let asked = try request(mute)
        #expect(failure { () throws(HTTPSFailure) in try stuck.send(asked) } == .timedOut(stage: .name))
    }

    @Test("read no more than the limit, however an answer tells its length")
    func lengths() throws {
        let folder = try TemporaryFolder()
        let certificate = try TestCertificate(Self.name)
        let heads = [
            "HTTP/1.1 200 OK\r\nContent-Length: 65537\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        ]
        for head in heads {
            let server = try RawTLSServer(certificate) { connection in
                _ = connection.readHead()
                connection.write(head)
                let piece = String(repeating: "a", count: 0x1000)
                // Endless, until nobody reads any more.
                while connection.write(head.contains("chunked") ? "1000\r\n\(piece)\r\n" : piece) {}
            }
            let call = try client(trusting: certificate, in: folder)
            let asked = try request(server)
            #expect(failure { () throws(HTTPSFailure) in try call.send(asked) } == .tooLarge)
        }
    }

    @Test(
        "are not made of what could mean something else on the wire",
        arguments: [
            ("", "/"), ("a b", "/"), ("a\r\nX: y", "/"), ("user@a", "/"), ("a:443", "/"), ("a/b", "/"),
            ("a%00", "/"), ("a.example", ""), ("a.example", "x"), ("a.example", "/ x"),
            ("a.example", "/\r\nX: y"), ("a.example", "/#x"), ("a.example", "/ü"), ("::zz", "/"),
        ]
    )
    func malformed(host: String, target: String) {
        #expect(HTTPSRequest(host: host, .get, target) == nil)
    }

    @Test("are not made with fields that hold line breaks")
    func fields() {
        for (name, value) in [("A", "b\r\nC: d"), ("A: b\r\nC", "d"), ("", "x"), ("A", "b\0")] {
            #expect(
                HTTPSRequest(host: "a.example", .get, "/", fields: [FieldLine(name: name, value: value)])
                    == nil
            )
        }
        #expect(HTTPSRequest(host: "[2001:db8::1]", .get, "/")?.host == "2001:db8::1")
        #expect(HTTPSRequest(host: "203.0.113.9", .get, "/") != nil)
    }
}

/// Longer than any test waits; the thread ends with the process.
private func waitWithoutEnd() { sleep(600) }
