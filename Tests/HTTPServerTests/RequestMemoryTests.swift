import HTTPServer
import Support
import Testing

@Suite("Memory for current requests")
struct RequestMemoryTests {
    private static let length = 60_000
    private static let head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(length)\r\n\r\n"
    private let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

    @Test(
        "a body takes no more memory than its length, whatever the length of its pieces",
        arguments: [500, 1_447, 16_384, 65_536]
    )
    func holdsBodiesOnce(pieceLength: Int) {
        let bytes = Array(Self.head.utf8) + [UInt8](repeating: 0x61, count: Self.length)
        let memory = RequestMemory(limit: .max)
        var machine = Machine(memory: memory)
        var most = 0
        for start in stride(from: 0, to: bytes.count, by: pieceLength) {
            machine.feed(Array(bytes[start..<min(start + pieceLength, bytes.count)]))
            most = max(most, memory[.waiting])
        }
        #expect(machine.requests.first?.body.count == Self.length)
        // The sum also contains the head, and allocations are rounded up.
        #expect(most <= Self.length + 4_096)
        #expect(memory[.waiting] == 0)
    }

    @Test("a chunked body takes at most twice its length, because decoded bytes are freed")
    func holdsChunkedBodies() {
        let memory = RequestMemory(limit: .max)
        var machine = Machine(memory: memory)
        machine.feed("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in 0..<60 { machine.feed("3e8\r\n\(String(repeating: "b", count: 1_000))\r\n") }
        #expect(memory[.waiting] >= 60_000)
        #expect(memory[.waiting] <= 2 * 60_000 + 4_096)
        machine.feed("0\r\n\r\n")
        #expect(machine.requests.first?.body.count == 60_000)
        #expect(memory[.waiting] == 0)
    }

    @Test("an ended request takes no memory", arguments: ["whole", "ended", "late", "refused", "gone"])
    func releases(end: String) {
        let memory = RequestMemory(limit: .max)
        var machine = Machine(memory: memory)
        machine.answersAtOnce = false
        machine.feed("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello")
        #expect(memory[.waiting] > 0)
        switch end {
        case "whole":
            machine.feed("\r\n0\r\n\r\n")
            #expect(memory[.answering] > 0)
            machine.answer()
        case "ended": machine.end()
        case "late": machine.pass(.seconds(10))
        case "refused": machine.feed("!")
        default: machine.abandon()
        }
        #expect(memory[.waiting] == 0)
        #expect(memory[.answering] == 0)
    }

    @Test("a connection that ends while a handler has its request holds no memory")
    func releasesAbandoned() {
        let memory = RequestMemory(limit: .max)
        var machine = Machine(memory: memory)
        machine.answersAtOnce = false
        machine.feed(get)
        #expect(memory[.answering] >= get.utf8.count)
        machine.abandon()
        #expect(memory[.answering] == 0)
    }

    @Test("above the limit, a request's further bytes are refused; a request that came in one read is served")
    func refusesBeyondLimit() {
        let memory = RequestMemory(limit: 100_000)
        var first = Machine(memory: memory)
        first.feed(Self.head + String(repeating: "a", count: 50_000))
        var second = Machine(memory: memory)
        second.feed(Self.head + String(repeating: "b", count: 40_000))
        #expect(first.isReading && second.isReading)
        second.feed(String(repeating: "b", count: 19_000))
        #expect(second.log == Machine.refusal(.memoryExhausted))
        #expect(second.rejections.first?.kind == .overloaded)

        var third = Machine(memory: memory)
        third.feed(Self.head + String(repeating: "c", count: 30_000))
        var honest = Machine(memory: memory)
        honest.feed(get)
        honest.feed("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi")
        #expect(honest.log == ["GET /", "POST / [hi]"])
        first.feed(String(repeating: "a", count: 10_000))
        #expect(first.requests.first?.body.count == Self.length)
    }

    @Test("the memory of requests that handlers have is counted separately")
    func limitsAnswering() {
        let memory = RequestMemory(limit: 150_000)
        var machines = (0..<3).map { _ in Machine(memory: memory) }
        for index in machines.indices {
            machines[index].answersAtOnce = false
            machines[index].feed(Self.head + String(repeating: "a", count: Self.length))
        }
        #expect(machines.map(\.requests.count) == [1, 0, 0])
        #expect(machines[1].log == Machine.refusal(.memoryExhausted))
        machines[0].answer()
        #expect(memory[.answering] == 0)
    }

    @Test("the requests behind a handler's request are counted with it")
    func countsPipelinedRequests() {
        let memory = RequestMemory(limit: .max)
        var machine = Machine(memory: memory)
        machine.answersAtOnce = false
        machine.feed(String(repeating: get, count: 101))
        #expect(memory[.answering] >= 101 * get.utf8.count)
        for _ in 0..<100 { machine.answer() }
        #expect(machine.requests.count == 101)
        #expect(memory[.answering] <= get.utf8.count + 1024)
        machine.answer()
        #expect(memory[.answering] == 0)
    }

    // The request has taken its head from the input buffer, where the parser's ranges lead to other bytes or to none.
    @Test(
        "a complete request above the limit is refused with its Origin, also if other bytes follow it",
        arguments: ["", "GET /other HTTP/1.1\r\nHost: b\r\nCookie: a\r\nOrigin: https://b.example\r\n\r\n"]
    )
    func refusesWholeRequest(rest: String) {
        var machine = Machine(memory: RequestMemory(limit: 1))
        machine.feed("GET / HTTP/1.1\r\nHost: a\r\nAccept: */*\r\nOrigin: https://a.example\r\n\r\n" + rest)
        #expect(machine.log == Machine.refusal(.memoryExhausted))
        #expect(machine.rejections.first?.origin == "https://a.example")
    }

    @Test("the memory of TLS sessions is returned to the system after most of them have ended")
    func returnsSessions() {
        let memory = RequestMemory(limit: 1000)
        memory.changeSessions(by: 1000)
        #expect(!memory.hasMemoryToReturn)
        memory.changeSessions(by: -900)
        #expect(memory.hasMemoryToReturn)
        memory.memoryWasReturned()
        #expect(!memory.hasMemoryToReturn)
    }

    @Test("a loop whose share of the memory limit is small serves a request of the maximum length", .blocking)
    func longestRequest() async throws {
        try await TestServer.run {
            $0.requestMemoryByteCount = 1000
            $0.limits.bodiesByPath = ["/long": 300_000]
        } during: { server in
            let piece = "2710\r\n" + String(repeating: "a", count: 10_000) + "\r\n"
            let coded = try server.connect()
            coded.send("POST /long HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
            for _ in 0..<30 { coded.send(piece) }
            #expect(try coded.ask("0\r\n\r\n").status == 200)
            let counted = try server.connect()
            counted.send("POST /long HTTP/1.1\r\nHost: a\r\nContent-Length: 300000\r\n\r\n")
            for _ in 0..<29 { counted.send(String(repeating: "a", count: 10_000)) }
            #expect(try counted.ask(String(repeating: "a", count: 10_000)).status == 200)
        }
    }

    @Test(
        "of many bodies at once, those above the memory limit get 503, and other requests are served meanwhile",
        .blocking
    )
    func flood() async throws {
        try await TestServer.run {
            $0.requestMemoryByteCount = 1_000_000
        } during: { server in
            let flood = try (0..<40).map { _ in try server.connect() }
            for client in flood { client.send(Self.head + String(repeating: "a", count: 50_000)) }
            #expect(
                await Polling.eventually {
                    server.server.statistics.rejections[.serviceUnavailable, default: 0] >= 20
                }
            )
            let honest = try server.connect()
            #expect(
                try honest.ask("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi").body
                    == "POST / [hi]"
            )

            var refused = 0
            for client in flood where !client.isSilent(milliseconds: 0) {
                let answer = try client.answer()
                #expect(answer.status == 503)
                #expect(answer.field("retry-after") == "1")
                #expect(answer.field("connection") == "close")
                refused += 1
            }
            #expect((20...24).contains(refused))
            for client in flood { client.close() }
            #expect(await Polling.eventually { server.server.statistics.openConnections <= 1 })
            let later = try server.connect()
            later.send(Self.head + String(repeating: "a", count: 50_000))
            #expect(try later.ask(String(repeating: "a", count: 10_000)).status == 200)
        }
    }
}
