import Foundation
import HTTPServer
import Support
import Testing

/// Tests the server as a separate process, with thousands of peers and with peers that fail.
@Suite("The echo server with many peers", .blocking(first: true), .serialized)
struct CrowdedEchoServerTests {
    private let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

    /// The maximum number of connections that a test opens at once: 10,000, or about half the limit of descriptors if
    /// that is less.
    private static var crowdCount: Int {
        var limit = rlimit()
        // The system fills the local value.
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 500 }
        return max(200, min(10_000, Int(clamping: limit.rlim_cur) / 2 - 200))
    }

    @Test("needs at most 16 KiB for each of 10,000 idle connections, and answers another one in a second")
    func idleCrowd() throws {
        let process = try EchoProcess()
        defer { process.kill() }
        let other = try RawClient(port: process.port)
        _ = try other.ask(get)
        // The server's function for /nested makes nested calls, whose memory the connection must not keep.
        let asked = "GET /nested HTTP/1.1\r\nHost: a\r\n\r\n"
        let before = process.figures.residentByteCount
        var crowd: [RawClient] = []
        for _ in 0..<Self.crowdCount {
            let client = try RawClient(port: process.port)
            client.send(asked)
            crowd.append(client)
            #expect(try client.answer().status == 200)
        }
        let perConnection = (process.figures.residentByteCount - before) / crowd.count
        #expect(perConnection <= 16 * 1024)
        for _ in 0..<20 {
            let watch = ServerStopwatch(of: process.identifier)
            let newcomer = try RawClient(port: process.port)
            #expect(try newcomer.ask(get).status == 200)
            #expect(try other.ask(get).status == 200)
            #expect(watch.elapsed < .seconds(2), "one second for each of two responses")
        }
        // A reset frees the ports at once for the next tests.
        for client in crowd { client.reset() }
    }

    @Test("needs at most 4 KiB for a silent connection, also over TLS", arguments: [false, true])
    func silentCrowd(overTLS: Bool) throws {
        let process = try EchoProcess(certificate: overTLS ? TestCertificate() : nil)
        defer { process.kill() }
        let visitor = try process.visit(overTLS: overTLS)
        let (memory, descriptors) = (process.figures.residentByteCount, process.figures.descriptorCount)
        let count = Self.crowdCount / 2
        let crowd = try (0..<count).map { _ in try RawClient(port: process.port) }
        #expect(Polling.until { process.figures.descriptorCount >= descriptors + count })
        #expect((process.figures.residentByteCount - memory) / count <= 4 * 1024)
        #expect(try visitor.ask(get).status == 200)
        for client in crowd { client.reset() }
    }

    @Test("needs at most 16 KiB for an idle connection over TLS")
    func idleOverTLS() throws {
        let process = try EchoProcess(certificate: TestCertificate())
        defer { process.kill() }
        // The first handshakes also allocate memory that all connections share.
        for _ in 0..<20 { try process.visit(overTLS: true).close() }
        let before = process.figures.residentByteCount
        let crowd = try (0..<1_000).map { _ in try process.visit(overTLS: true) }
        #expect((process.figures.residentByteCount - before) / crowd.count <= 16 * 1024)
        for client in crowd { client.reset() }
    }

    @Test(
        "returns the memory of many concurrent requests while their connections are open",
        .enabled(if: crowdCount >= 2_000, "the limit of descriptors is too low"),
        // While workers are ending, a loop returns memory only after 512 of them. With 800 requests, neither of the two
        // loops has 512 workers.
        arguments: [800, 2_000]
    )
    func flood(count: Int) throws {
        let process = try EchoProcess()
        defer { process.kill() }
        let crowd = try (0..<count).map { _ in try RawClient(port: process.port) }
        for client in crowd { client.send(get) }
        for client in crowd { #expect(try client.answer().status == 200) }
        let before = process.figures.residentByteCount
        for client in crowd { client.send("GET /nested?\(crowd.count) HTTP/1.1\r\nHost: a\r\n\r\n") }
        for client in crowd { #expect(try client.answer().status == 200) }
        let growth = process.figures.peakResidentByteCount - before
        #expect(growth > crowd.count * 8 * 1024)
        #expect(Polling.until { process.figures.residentByteCount - before < growth / 8 })
        for client in crowd { client.reset() }
    }

    @Test("keeps no descriptor, and less than 1.5 MB of memory, after 2,000 resets")
    func resets() throws {
        let process = try EchoProcess()
        defer { process.kill() }
        let requests = [get, "GET / HT", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 900\r\n\r\nhalf", ""]
        func reset(_ count: Int) throws {
            for number in 0..<count {
                let client = try RawClient(port: process.port)
                client.send(requests[number % requests.count])
                client.reset()
            }
        }
        let descriptors = process.figures.descriptorCount
        try reset(500)
        #expect(Polling.until { process.figures.descriptorCount == descriptors })
        let before = process.figures.residentByteCount
        try reset(2_000)
        #expect(Polling.until { process.figures.descriptorCount == descriptors })
        // A leak of one kilobyte for each reset would be two megabytes.
        #expect(process.figures.residentByteCount - before < 1_500_000)
        let client = try RawClient(port: process.port)
        #expect(try client.ask(get).status == 200)
    }

    @Test("ignores SIGPIPE, which a peer that has closed its connection would cause")
    func ignoresSIGPIPE() throws {
        let process = try EchoProcess()
        defer { process.kill() }
        #expect(process.figures.ignores(SIGPIPE))
    }

    @Test("sends the response to a client that still sends a refused body", arguments: [70_000, 600_000])
    func answersEagerSenders(length: Int) throws {
        let process = try EchoProcess()
        defer { process.kill() }
        for _ in 0..<20 {
            let client = try RawClient(port: process.port)
            client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(length)\r\n\r\n")
            let answer = try client.ask(String(repeating: "a", count: length))
            #expect(answer.status == 413)
            #expect(try client.rest() == "")
        }
    }

    @Test(
        "serves open connections while accepting fails, without spinning, and then accepts again",
        arguments: [EMFILE, ENFILE, ENOBUFS, ENOMEM, ECONNABORTED, EPROTO]
    )
    func failingAccept(error: Int32) throws {
        let network = try FailingAccept()
        let process = try EchoProcess(environment: network.environment)
        defer { process.kill() }
        let first = try RawClient(port: process.port)
        #expect(try first.ask(get).status == 200)
        try network.fail(with: error)
        let waiting = try (0..<8).map { _ in try RawClient(port: process.port) }
        for client in waiting { client.send(get) }
        #expect(try process.ticksOfServing(first) < 50, "50 ticks are half a core for a second")
        try network.fail(with: 0)
        for client in waiting { #expect(try client.answer().status == 200) }
    }

    @Test("answers the connections in its backlog when it stops")
    func backlogAtStop() throws {
        let network = try FailingAccept()
        let process = try EchoProcess(environment: network.environment)
        defer { process.kill() }
        let first = try RawClient(port: process.port)
        #expect(try first.ask(get).status == 200)
        try network.fail(with: EMFILE)
        let waiting = try (0..<8).map { _ in try RawClient(port: process.port) }
        for client in waiting { client.send(get) }
        #expect(waiting.allSatisfy { $0.isSilent(milliseconds: 20) })
        // The server accepts again before the stop or after it; in both cases, it answers all clients.
        try network.fail(with: 0)
        process.send(SIGTERM)
        for client in waiting { #expect(try client.answer().status == 200) }
        #expect(process.exitStatus() == 0)
    }
}

extension EchoProcess {
    /// Opens a connection, sends a request on it, and reads the response.
    fileprivate func visit(overTLS: Bool) throws -> RawClient {
        let client = try overTLS ? RawClient(port: port, tls: TLSClientSettings()) : RawClient(port: port)
        guard try client.ask("GET /nested HTTP/1.1\r\nHost: a\r\n\r\n").status == 200 else {
            throw RawClient.Failure.malformed("not 200")
        }
        return client
    }
}

/// Makes the accept of a server fail on command, with a library that is preloaded into the server.
private final class FailingAccept {
    let environment: [String: String]
    private let folder = try? TemporaryFolder()
    private let number: FileHandle

    init() throws {
        let folder = try #require(folder)
        let library = folder.file("accept.so")
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Faults/accept.c").path
        let compiler = try Process.run(
            URL(fileURLWithPath: "/usr/bin/env"),
            arguments: ["gcc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"]
        )
        compiler.waitUntilExit()
        try #require(compiler.terminationStatus == 0)
        let file = folder.file("number")
        try Data("0\0\0\0\0\0\0\0".utf8).write(to: URL(fileURLWithPath: file))
        number = try FileHandle(forWritingTo: URL(fileURLWithPath: file))
        environment = ["LD_PRELOAD": library, "AFTERLINK_ACCEPT_ERROR": file]
    }

    /// Makes every accept fail with this error from now on; 0 ends the failures.
    func fail(with error: Int32) throws {
        try number.seek(toOffset: 0)
        try number.write(contentsOf: Data("\(error)\0".utf8))
    }
}
