import Foundation
import HTTPServer
import Support
import Synchronization
import Testing

/// Calls a real server over real TLS on the loopback address, which only these tests permit.
@Suite("Calls to other servers", .blocking)
struct HTTPSClientTests {
    private static let name = "shop.example"
    private static let loopback: HTTPSClient.Lookup = { _, port in
        [PeerAddress(ipv4: 0x7F00_0001, port: port)]
    }
    private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    private let folder: TemporaryFolder
    private let certificate: TestCertificate

    init() throws {
        folder = try TemporaryFolder()
        certificate = try TestCertificate(Self.name)
    }

    /// Creates a client that trusts one certificate; nil means the certificates that this machine trusts.
    ///
    /// By default, every name has the loopback address.
    private func client(
        trusting certificate: TestCertificate?,
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
        let bounds = HTTPSClient.Bounds(time: time)
        return HTTPSClient(bounds: bounds, roots: roots, lookup: lookup, permits: permits)
    }

    /// Starts a server that sends a text in response to each request.
    private func server(answering text: String = Self.answer) throws -> RawTLSServer {
        try RawTLSServer(certificate) { connection in
            _ = connection.readHead()
            connection.write(text)
        }
    }

    private func request(_ server: RawTLSServer, host: String = name) throws -> HTTPSRequest {
        try #require(HTTPSRequest(host: host, port: server.port, .get, "/x?y=z"))
    }

    /// Returns the error of a call; nil if there is a response.
    private func failure(_ client: HTTPSClient, _ request: HTTPSRequest) -> HTTPSFailure? {
        do throws(HTTPSFailure) {
            _ = try client.send(request)
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

    @Test("send one request without content codings, ask for a close, and return the response")
    func asks() throws {
        let head = SharedText()
        let server = try RawTLSServer(certificate) { connection in
            head.value = connection.readHead()
            connection.write(Self.answer)
        }
        let answer = try client(trusting: certificate).send(try request(server))
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
                let answer = try client(trusting: certificate).send(post)
                #expect(String(decoding: answer.body, as: UTF8.self) == "{\"a\":1}|post")
            }
        )
    }

    @Test("accept chunks, and a response that ends with the connection")
    func framings() throws {
        for (text, isClean) in [
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", false),
            ("HTTP/1.0 200 OK\r\n\r\nok", true),
        ] {
            let server = try RawTLSServer(certificate) { connection in
                _ = connection.readHead()
                connection.write(text)
                if isClean { connection.sendCloseNotify() }
            }
            let answer = try client(trusting: certificate).send(try request(server))
            #expect(answer.body == Array("ok".utf8))
        }
    }

    @Test("fail if the end of the response is cut off")
    func truncation() throws {
        for text in ["HTTP/1.1 200 OK\r\n\r\npart", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart", ""] {
            let server = try server(answering: text)
            #expect(try failure(client(trusting: certificate), request(server)) == .endedEarly)
        }
    }

    @Test("follow no redirect, and return it like any other response")
    func redirects() throws {
        let fields = "Location: https://shop.example/y\r\nContent-Length: 0"
        let server = try server(answering: "HTTP/1.1 302 Found\r\n\(fields)\r\n\r\n")
        let answer = try client(trusting: certificate).send(try request(server))
        #expect(answer.status == 302)
        #expect(answer.field("location") == "https://shop.example/y")
        #expect(server.acceptedCount == 1)
    }

    // MARK: - Certificates

    @Test("accept no certificate of an unknown authority or another name, nor one that is not valid now")
    func certificates() throws {
        let expired = try TestCertificate(Self.name, validFrom: -7200, validUntil: -3600)
        let early = try TestCertificate(Self.name, validFrom: 3600)
        let cases: [(TestCertificate, TestCertificate?, String, String)] = [
            (certificate, nil, Self.name, "self-signed"),
            (certificate, try TestCertificate(Self.name), Self.name, "self-signed"),
            (certificate, certificate, "other.example", "hostname mismatch"),
            (certificate, certificate, "127.0.0.1", "IP address mismatch"),
            (expired, expired, Self.name, "expired"), (early, early, Self.name, "not yet valid"),
        ]
        for (presented, trusted, host, words) in cases {
            let head = SharedText()
            let server = try RawTLSServer(presented) { connection in
                head.value = connection.readHead()
                connection.write(Self.answer)
            }
            let failed = try failure(client(trusting: trusted), request(server, host: host))
            guard case .certificate(let reason) = failed else {
                Issue.record("\(String(describing: failed)) instead of \(words)")
                continue
            }
            #expect(reason.contains(words), "\(reason)")
            #expect(head.value.isEmpty, "the client sends no byte of the request")
        }
    }

    @Test("use only TLS")
    func plain() throws {
        let head = SharedText()
        let server = try RawTLSServer(nil) { connection in
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            head.value = connection.readHead()
        }
        #expect(try failure(client(trusting: nil), request(server)) == .tls)
        #expect(!head.value.contains("GET"))
    }

    // MARK: - Addresses

    @Test("do not connect if any address of the name is not permitted")
    func addresses() throws {
        let server = try server()
        let inside = try client(trusting: certificate, permits: { $0.ipv4 != 0x7F00_0001 })
        #expect(try failure(inside, request(server)) == .addressRefused)
        let both = try client(
            trusting: certificate,
            lookup: { _, port in
                [PeerAddress(ipv4: 0x7F00_0001, port: port), PeerAddress(ipv4: 0x0A00_0001, port: port)]
            },
            permits: { $0.ipv4 == 0x7F00_0001 }
        )
        #expect(try failure(both, request(server)) == .addressRefused)
        #expect(server.acceptedCount == 0)
    }

    @Test("look a name up once, and connect to the address that was checked")
    func pinned() throws {
        let server = try server()
        let lookups = Mutex(0)
        let counted = try client(trusting: certificate) { _, port in
            let isFirst = lookups.withLock { count in
                count += 1
                return count == 1
            }
            // No server listens at the address of a second look-up.
            return [PeerAddress(ipv4: isFirst ? 0x7F00_0001 : 0x7F00_0002, port: isFirst ? port : 1)]
        }
        #expect(try counted.send(try request(server)).status == 200)
        #expect(lookups.withLock { $0 } == 1)
    }

    @Test("try the next address of a name if one does not accept, and fail if none accepts")
    func severalAddresses() throws {
        let server = try server()
        let closed = PeerAddress(ipv4: 0x7F00_0001, port: 1)
        let second = try client(trusting: certificate) { [closed] + Self.loopback($0, $1) }
        #expect(try second.send(try request(server)).status == 200)
        let first = try client(trusting: certificate) { _, _ in [closed] }
        #expect(try failure(first, request(server)) == .notReached)
        let unknown = try client(trusting: certificate) { _, _ in [] }
        #expect(try failure(unknown, request(server)) == .unknownHost)
    }

    // MARK: - Limits

    @Test("have limits of five seconds and 64 KiB by default")
    func standardBounds() {
        #expect(HTTPSClient.Bounds().time == .seconds(5))
        #expect(HTTPSClient.Bounds().bodyByteCount == 64 * 1024)
    }

    @Test("end in time, whichever step the server does not answer")
    func times() throws {
        let wait: @Sendable (RawTLSServer.Connection) -> Void = { connection in
            _ = connection.readHead()
            waitWithoutEnd()
        }
        let silent = try RawTLSServer(nil, serve: wait)
        let mute = try RawTLSServer(certificate, serve: wait)
        // This server sends one byte at a time; the limit applies to the whole response.
        let slow = try RawTLSServer(certificate) { connection in
            _ = connection.readHead()
            connection.write("HTTP/1.1 200 OK\r\n\r\n")
            while connection.write("a") { usleep(10_000) }
        }
        for server in [silent, mute, slow] {
            let failed = try failure(client(trusting: certificate, time: .seconds(1)), request(server))
            // On a busy machine, a good handshake may also take a second.
            guard case .timedOut(let stage) = failed, stage == .handshake || stage == .answer else {
                Issue.record("\(String(describing: failed))")
                continue
            }
        }
        let stuck = try client(trusting: certificate, time: .milliseconds(200)) { _, _ in
            waitWithoutEnd()
            return []
        }
        #expect(try failure(stuck, request(mute)) == .timedOut(stage: .name))
    }

    @Test("read no more than the limit, whatever the framing of the response")
    func lengths() throws {
        let heads = [
            "HTTP/1.1 200 OK\r\nContent-Length: 65537\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        ]
        for head in heads {
            let server = try RawTLSServer(certificate) { connection in
                _ = connection.readHead()
                connection.write(head)
                let piece = String(repeating: "a", count: 0x1000)
                // The client ends the loop when it closes the connection.
                while connection.write(head.contains("chunked") ? "1000\r\n\(piece)\r\n" : piece) {}
            }
            #expect(try failure(client(trusting: certificate), request(server)) == .tooLarge)
        }
    }

    @Test(
        "refuse hosts and targets whose bytes would change the request",
        arguments: [
            ("", "/"), ("a b", "/"), ("a\r\nX: y", "/"), ("user@a", "/"), ("a:443", "/"), ("a/b", "/"),
            ("a%00", "/"), ("a.example", ""), ("a.example", "x"), ("a.example", "/ x"),
            ("a.example", "/\r\nX: y"), ("a.example", "/#x"), ("a.example", "/ü"), ("::zz", "/"),
        ]
    )
    func malformed(host: String, target: String) { #expect(HTTPSRequest(host: host, .get, target) == nil) }

    @Test("refuse fields that contain line breaks")
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

/// Waits longer than any test; the thread ends with the process.
private func waitWithoutEnd() { sleep(600) }
