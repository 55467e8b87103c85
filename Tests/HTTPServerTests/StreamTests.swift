import Foundation
import HTTPServer
import Support
import Synchronization
import Testing

@Suite("A streamed response", .blocking)
struct StreamTests {
    private static let get = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n"

    /// Makes pieces until it has made `count`; then it ends, fails, or waits for the gate.
    private final class Pieces: ResponseStream {
        enum End { case whole, failure, waits(Gate) }
        struct Failure: Error {}

        private let (count, byteCount, last): (Int, Int, End)
        private let made: @Sendable (Int) -> Void
        private let ended: @Sendable () -> Void
        private var index = 0

        init(
            _ count: Int,
            of byteCount: Int = 10,
            _ last: End = .whole,
            made: @escaping @Sendable (Int) -> Void = { _ in },
            ended: @escaping @Sendable () -> Void = {}
        ) {
            (self.count, self.byteCount, self.last) = (count, byteCount, last)
            (self.made, self.ended) = (made, ended)
        }

        func next(atMost count: Int) async throws -> [UInt8]? {
            if index == self.count {
                switch last {
                case .whole: return nil
                case .failure: throw Failure()
                case .waits(let gate):
                    await gate.pass()
                    return Array("late".utf8)
                }
            }
            index += 1
            made(index)
            // Real producers of empty pieces wait for their source.
            if byteCount == 0 { await Task.yield() }
            return [UInt8](repeating: UInt8(ascii: "a"), count: min(count, byteCount))
        }

        func interrupt() { if case .waits(let gate) = last { gate.open() } }

        func end() { ended() }
    }

    private static func response(_ stream: Pieces) -> Response {
        var response = Response(.ok, contentType: .plainText)
        response.stream = stream
        return response
    }

    @Test("is sent in chunks, and the requests behind it on the connection get their responses")
    func isChunked() async throws {
        try await TestServer.answering {
            $0.path == "/x" ? Self.response(Pieces(3)) : Response(.ok, text: "b")
        } during: { server in
            let client = try server.connect()
            client.send(Self.get + "GET /y HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            let text = try client.rest()
            #expect(text.contains("Transfer-Encoding: chunked\r\n"))
            let first = try #require(text.components(separatedBy: "\r\n\r\n").first)
            #expect(!first.contains("Content-Length"))
            let chunk = "a\r\naaaaaaaaaa\r\n"
            #expect(text.contains("\r\n\r\n" + chunk + chunk + chunk + "0\r\n\r\nHTTP/1.1 200 OK\r\n"))
            #expect(text.hasSuffix("\r\n\r\nb"))
        }
    }

    @Test("has neither a length nor chunks over HTTP/1.0, and the connection closes after it")
    func isPlain() async throws {
        try await TestServer.answering { _ in
            Self.response(Pieces(2))
        } during: { server in
            let client = try server.connect()
            client.send("GET /x HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            let text = try client.rest()
            #expect(!text.contains("Content-Length") && !text.contains("chunked"))
            #expect(text.contains("Connection: close\r\n"))
            #expect(text.hasSuffix("\r\n\r\n" + String(repeating: "a", count: 20)))
        }
    }

    @Test("has no body for HEAD, and its producer ends without making a piece")
    func hasNoBody() async throws {
        let counts = Mutex((made: 0, ended: 0))
        try await TestServer.answering { request in
            guard request.path == "/x" else { return Response(.ok, text: "b") }
            return Self.response(
                Pieces(3, made: { _ in counts.withLock { $0.made += 1 } }) {
                    counts.withLock { $0.ended += 1 }
                }
            )
        } during: { server in
            let client = try server.connect()
            client.send(
                "HEAD /x HTTP/1.1\r\nHost: a\r\n\r\nGET /y HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
            )
            let text = try client.rest()
            #expect(text.contains("chunked") && text.hasSuffix("\r\n\r\nb"))
            #expect(!text.contains("aaaa"))
            #expect(counts.withLock { $0.made } == 0)
            #expect(counts.withLock { $0.ended } == 1)
        }
    }

    @Test("waits for a slow reader, with a bounded number of bytes on their way")
    func waitsForReader() async throws {
        let made = Mutex(0)
        let ended = Mutex(0)
        let (count, size) = (2_000, 60_000)
        try await TestServer.answering { _ in
            let report: @Sendable (Int) -> Void = { number in made.withLock { $0 = number } }
            return Self.response(Pieces(count, of: size, made: report, ended: { ended.withLock { $0 += 1 } }))
        } during: { server in
            let client = try RawClient(port: server.server.port, receiveBufferByteCount: 32 * 1024)
            client.send("GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            // The kernel's buffers take some pieces; then the count does not change until the client reads.
            var last = -1
            #expect(
                await Polling.eventually {
                    defer { last = made.withLock(\.self) }
                    return last > 0 && made.withLock(\.self) == last
                }
            )
            #expect(last < count / 4)
            #expect(ended.withLock(\.self) == 0)
            let text = try client.rest()
            #expect(text.utf8.count > count * size)
            #expect(text.hasSuffix("\r\n0\r\n\r\n"))
            #expect(made.withLock(\.self) == count)
            #expect(ended.withLock(\.self) == 1)
        }
    }

    @Test("ends without the last chunk if its producer fails")
    func isCutByFailure() async throws {
        try await TestServer.answering { _ in
            Self.response(Pieces(2, .failure))
        } during: { server in
            let client = try server.connect()
            client.send(Self.get)
            #expect(try client.rest().hasSuffix("a\r\naaaaaaaaaa\r\na\r\naaaaaaaaaa\r\n"))
            let old = try server.connect()
            old.send("GET /x HTTP/1.0\r\n\r\n")
            _ = try old.rest()
            #expect(old.wasReset)
        }
    }

    @Test("ends without the last chunk when the server stops, although its producer waits")
    func isCutByStop() async throws {
        try await TestServer.answering { _ in
            Self.response(Pieces(1, .waits(Gate())))
        } during: { server in
            let client = try server.connect()
            client.send(Self.get)
            #expect(await Polling.eventually { server.server.statistics.sentBytes > 100 })
            let stop = Background.start { server.server.stop(within: .seconds(600)) }
            #expect(try client.rest().hasSuffix("a\r\naaaaaaaaaa\r\n"))
            #expect(await Polling.eventually { stop.isOpen })
        }
    }

    @Test("ends when the client has closed, although its producer waits")
    func noticesPeer() async throws {
        let ended = Mutex(0)
        try await TestServer.answering { _ in
            Self.response(Pieces(1, .waits(Gate()), ended: { ended.withLock { $0 += 1 } }))
        } during: { server in
            let client = try server.connect()
            client.send(Self.get)
            #expect(await Polling.eventually { server.server.statistics.sentBytes > 100 })
            #expect(ended.withLock(\.self) == 0)
            client.close()
            #expect(await Polling.eventually { server.server.statistics.openConnections == 0 })
            #expect(ended.withLock(\.self) == 1)
        }
    }

    @Test("ends after a reset by the client and when the server stops, although its pieces are empty")
    func isCutWhileEmpty() async throws {
        let ended = Mutex(0)
        try await TestServer.answering { _ in
            Self.response(Pieces(.max, of: 0, ended: { ended.withLock { $0 += 1 } }))
        } during: { server in
            let client = try server.connect()
            client.send(Self.get)
            #expect(await Polling.eventually { server.server.statistics.sentBytes > 100 })
            client.reset()
            #expect(await Polling.eventually { server.server.statistics.openConnections == 0 })
            #expect(ended.withLock(\.self) == 1)
            let other = try server.connect()
            let sent = server.server.statistics.sentBytes
            other.send(Self.get)
            #expect(await Polling.eventually { server.server.statistics.sentBytes > sent })
            let stop = Background.start { server.server.stop(within: .seconds(600)) }
            #expect(!(try other.rest()).hasSuffix("0\r\n\r\n"))
            #expect(await Polling.eventually { stop.isOpen })
            #expect(ended.withLock(\.self) == 2)
        }
    }

    @Test("is dropped if its reader takes nothing for the write timeout")
    func timesOut() async throws {
        let ended = Mutex(0)
        try await TestServer.run(
            { $0.timeouts.write = .milliseconds(50) },
            answer: { _ in Self.response(Pieces(2_000, of: 60_000, ended: { ended.withLock { $0 += 1 } })) },
            during: { server in
                let client = try RawClient(port: server.server.port, receiveBufferByteCount: 32 * 1024)
                client.send(Self.get)
                #expect(await Polling.eventually { server.server.statistics.sentBytes > 0 })
                #expect(await Polling.eventually { server.server.statistics.openConnections == 0 })
                #expect(ended.withLock(\.self) == 1)
                client.close()
            }
        )
    }

    @Test("works over TLS, and ends without a close_notify if its producer fails")
    func isEncrypted() async throws {
        try await TLSServer.run(
            answer: { request in
                Self.response(request.path == "/x" ? Pieces(200, of: 60_000) : Pieces(2, .failure))
            },
            during: { server in
                let client = try server.connect()
                client.send("GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                let text = try client.rest()
                #expect(text.utf8.count > 200 * 60_000)
                #expect(text.hasSuffix("\r\n0\r\n\r\n"))
                #expect(client.receivedCloseNotify)
                let other = try server.connect()
                other.send("GET /y HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                #expect(!(try other.rest()).hasSuffix("0\r\n\r\n"))
                #expect(!other.receivedCloseNotify)
            }
        )
    }
}
