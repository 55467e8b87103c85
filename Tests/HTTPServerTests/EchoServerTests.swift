import Foundation
import HTTPServer
import Support
import Testing

/// Tests the server as a separate process, with few descriptors and with signals.
@Suite("The echo server as a process", .blocking)
struct EchoServerTests {
    @Test("answers the requests of external test suites")
    func answers() throws {
        let process = try EchoProcess()
        defer { process.kill() }
        let client = try RawClient(port: process.port)
        for (request, status, body) in [
            ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", 200, "OK"),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello", 200, "hello"),
            (
                "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n", 200,
                "hi"
            ),
            ("GET /echo HTTP/1.1\r\nHost: a\r\nX-y:  Z \r\n\r\n", 200, "Host: a\nX-y: Z\n"),
            ("GET /cookie HTTP/1.1\r\nHost: a\r\nCookie: a=b; c=d\r\n\r\n", 200, "a=b\nc=d\n"),
            ("GET /none HTTP/1.1\r\nHost: a\r\n\r\n", 404, "There is nothing here.\n"),
        ] {
            let answer = try client.ask(request)
            #expect(answer.status == status)
            #expect(answer.body == body)
        }
        for (request, status) in [
            ("DELETE /", 405), ("PATCH /", 405), ("OPTIONS /", 204), ("OPTIONS *", 204),
        ] {
            let answer = try client.ask("\(request) HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(answer.status == status)
            #expect(answer.field("allow")?.contains("GET") == true)
        }
        client.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.answer(toHead: true).field("content-length") == "2")
    }

    @Test("ends with status 0 after a signal to stop", arguments: [SIGTERM, SIGINT])
    func stops(signal: Int32) throws {
        let process = try EchoProcess()
        let client = try RawClient(port: process.port)
        _ = try client.ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        process.send(signal)
        #expect(try client.rest() == "")
        #expect(process.exitStatus() == 0)
    }

    @Test("sets close-on-exec for all its descriptors")
    func closesOnExecution() async {
        // Use a separate process, in which no other test opens descriptors.
        await #expect(processExitsWith: .success) {
            let inherited = Set(try descriptorFlags().keys)
            let address = ListenAddress(PeerAddress(ipv4: 0x7F00_0001, port: 0))
            let configuration = HTTPServerConfiguration(listenAddress: address, loopCount: 2)
            let server = try WebServer(configuration) { _, _ in
                ClosureHandler(answer: { _ in Response(.ok) })
            }
            try server.start()
            let client = try RawClient(port: server.port)
            _ = try client.ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            let opened = try descriptorFlags().filter { !inherited.contains($0.key) }
            try #require(opened.count >= 9)
            try #require(opened.values.allSatisfy { $0 & 0o2_000_000 != 0 })
        }
    }

    @Test("without descriptors, serves open connections without spinning, and later accepts new ones")
    func outOfDescriptors() throws {
        let process = try EchoProcess(descriptorLimit: 48)
        defer { process.kill() }
        let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
        let first = try RawClient(port: process.port)
        _ = try first.ask(get)
        var crowd = try (0..<100).map { _ in try RawClient(port: process.port) }
        for client in crowd { client.send(get) }
        #expect(try process.ticksOfServing(first) < 50, "50 ticks are half a core for a second")
        // With its spare descriptor, the server answers one client with 503; the others wait.
        let answers = crowd.filter { !$0.isSilent(milliseconds: 0) }.compactMap { try? $0.answer() }
        let refusal = try #require(answers.first { $0.status == 503 })
        #expect(refusal.field("retry-after") != nil && refusal.field("date") != nil)
        crowd = []
        // Until the server has closed the other connections, a new client may get 503.
        let isServed = try Polling.until {
            let late = try RawClient(port: process.port)
            late.send(get)
            return (try? late.answer().status) == 200
        }
        #expect(isServed)
        process.send(SIGTERM)
        #expect(process.exitStatus() == 0)
    }
}

/// The open flags of this process's descriptors, by number.
private func descriptorFlags() throws -> [Int: Int] {
    var flags: [Int: Int] = [:]
    for number in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fdinfo") {
        // The descriptor with which the folder was read is closed by now.
        guard let text = try? String(contentsOfFile: "/proc/self/fdinfo/\(number)", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix("flags:") })
        else { continue }
        flags[Int(number) ?? -1] = Int(line.dropFirst(6).filter { $0.isNumber }, radix: 8)
    }
    return flags
}
