import HTTPServer
import Testing
import Threads

@Suite("The state machine of a connection")
struct ConnectionStateTests {
    private let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

    @Test("passes pipelined requests to the handler one after the other, each after the previous response")
    func pipelines() {
        var machine = Machine()
        machine.answersAtOnce = false
        machine.feed(String(repeating: get, count: 64))
        for count in 1...64 {
            #expect(machine.requests.count == count)
            #expect(!machine.isReading)
            machine.answer()
        }
        #expect(machine.isReading)
        #expect(machine.log == Array(repeating: "GET /", count: 64))
    }

    @Test("answers the requests before a refused request, and none after it")
    func endsWithRefusal() {
        let log = Machine.log("\(get)\(get)GET / HTTP/1.1\r\n\r\n\(get)")
        #expect(log == ["GET /", "GET /", Machine.line(.hostMissing), "linger"])
    }

    @Test("passes the value of the Origin field with a rejection, if the field was read before the fault")
    func refusedOrigin() {
        var limits = Limits()
        limits.bodyByteCount = 10
        let head = "POST / HTTP/1.1\r\nHost: a\r\nOrigin: https://shop.example \r\n"
        let shop = "https://shop.example"
        for (bytes, origin) in [
            ("\(head)Content-Length: 11\r\n\r\n", shop),
            ("\(get)\(get)\(head)Content-Length: 11\r\n\r\n", shop),
            ("\(head)Transfer-Encoding: chunked\r\n\r\nB\r\n", shop),
            ("\(head)Bad Field: x\r\n\r\n", shop),
            ("\(head)X-Long: \(String(repeating: "x", count: 20_000))", shop),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n", nil),
            (
                "GET /\(String(repeating: "x", count: 9000)) HTTP/1.1\r\nOrigin: https://shop.example\r\n\r\n",
                nil
            ),
            ("\(get)GET / HTTP/2.0\r\n\r\n", nil), ("Origin: https://shop.example\r\n\r\n", nil),
        ] as [(String, String?)] {
            for size in [1, 7, bytes.utf8.count] {
                var machine = Machine(limits: limits)
                var rest = Array(bytes.utf8)[...]
                while !rest.isEmpty {
                    machine.feed(Array(rest.prefix(size)))
                    rest = rest.dropFirst(size)
                }
                #expect(machine.rejections.map(\.origin) == [origin], "\(bytes.prefix(100))")
            }
        }
        var machine = Machine(limits: limits)
        machine.feed("\(head)Content-Length: 9\r\n\r\n1234")
        machine.pass(.seconds(11))
        #expect(machine.rejections.map(\.status.code) == [408])
        #expect(machine.rejections.map(\.origin) == [shop])
    }

    @Test("closes after a response with Connection: close, at once if the peer has sent its last request")
    func closesAfterAnswer() {
        var machine = Machine()
        machine.answersAtOnce = false
        machine.feed(get)
        machine.answer(closing: true)
        #expect(machine.log == ["GET /", "says close", "linger"])

        machine = Machine()
        machine.feed("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(machine.log == ["GET /", "says close", "close"])

        machine = Machine()
        machine.feed("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n\(get)")
        #expect(machine.log == ["GET /", "says close", "linger"])
    }

    @Test("closes after the maximum number of requests (`requestsPerConnection`)")
    func limitsRequests() {
        var limits = Limits()
        limits.requestsPerConnection = 3
        let log = Machine.log(String(repeating: get, count: 5), limits: limits)
        #expect(log == ["GET /", "GET /", "GET /", "says close", "linger"])
    }

    // MARK: Bodies

    @Test("sends 100 Continue only to a client that waits for it")
    func continues() {
        let head = "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\n"
        #expect(Machine.log("\(head)Content-Length: 5\r\n\r\n") == ["100"])
        #expect(Machine.log("\(head)Content-Length: 5\r\n\r\nhello") == ["POST / [hello]"])
        #expect(Machine.log("\(head)Content-Length: 5\r\n\r\nh") == [])
        #expect(Machine.log("\(head)\r\n") == ["POST /"])
        #expect(Machine.log("\(head)Content-Length: 0\r\n\r\n") == ["POST /"])
        #expect(Machine.log("\(head)Transfer-Encoding: chunked\r\n\r\n") == ["100"])
        #expect(Machine.log("\(head)Transfer-Encoding: chunked\r\n\r\n0") == [])
        let old = "POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n"
        #expect(Machine.log(old) == [])
    }

    @Test("sends 100 Continue once for each request")
    func continuesAgain() {
        var machine = Machine()
        for _ in 0..<2 {
            machine.feed("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
            machine.feed("h")
            machine.feed("i")
        }
        #expect(machine.log == ["100", "POST / [hi]", "100", "POST / [hi]"])
    }

    @Test("refuses a body above the limit as soon as the head states its length")
    func limitsBody() {
        var limits = Limits()
        limits.bodyByteCount = 10
        let head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: "
        #expect(Machine.log("\(head)10\r\n\r\n0123456789", limits: limits) == ["POST / [0123456789]"])
        #expect(Machine.log("\(head)11\r\n\r\n", limits: limits) == Machine.refusal(.bodyLength))
        let expecting = "\(head)9999999999999\r\nExpect: 100-continue\r\n\r\n"
        #expect(Machine.log(expecting, limits: limits) == Machine.refusal(.bodyLength))
    }

    @Test(
        "applies a path's own limit, smaller or larger than the general one, to bodies with a length and in chunks"
    )
    func limitsBodyOfPath() {
        var limits = Limits()
        limits.bodyByteCount = 10
        limits.bodiesByPath = ["/small": 5, "/large": 12]
        for (path, body, isAccepted) in [
            ("/small", "01234", true), ("/small", "012345", false), ("/large", "0123456789ab", true),
            ("/large", "0123456789abc", false), ("/", "0123456789", true), ("/", "0123456789a", false),
        ] {
            let expected = isAccepted ? ["POST \(path) [\(body)]"] : Machine.refusal(.bodyLength)
            let (head, size) = ("POST \(path) HTTP/1.1\r\nHost: a\r\n", body.utf8.count)
            #expect(Machine.log("\(head)Content-Length: \(size)\r\n\r\n\(body)", limits: limits) == expected)
            let chunk = "\(String(size, radix: 16))\r\n\(body)\r\n0\r\n\r\n"
            #expect(
                Machine.log("\(head)Transfer-Encoding: chunked\r\n\r\n\(chunk)", limits: limits) == expected
            )
        }
    }

    @Test("reads the body of a GET, so that it is not read as the next request")
    func getWithBody() {
        let request = "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello\(get)"
        #expect(Machine.log(request) == ["GET / [hello]", "GET /"])
    }

    @Test(
        "ignores `Upgrade`, and answers the request",
        arguments: [
            "Upgrade: websocket\r\nConnection: Upgrade\r\n",
            "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n",
            "Upgrade: TLS/1.0\r\n",
        ]
    )
    func upgrade(fields: String) {
        let request = "GET / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\(get)"
        #expect(Machine.log(request) == ["GET /", "GET /"])
    }

    // MARK: Ends

    @Test(
        "closes without a response if the peer closes between requests, and with 400 within a request",
        arguments: [
            ("", ["close"]),
            ("\r\n", ["close"]),
            ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", ["GET /", "close"]),
            ("G", ["400", "linger"]),
            ("GET / HTTP/1.1\r\nHost: a\r\n", ["400", "linger"]),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhell", ["400", "linger"]),
            (
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
                ["400", "linger"]
            ),
        ]
    )
    func ended(bytes: String, outcome: [String]) {
        var machine = Machine()
        machine.feed(bytes)
        machine.end()
        #expect(machine.log.map { $0.hasPrefix("400") ? "400" : $0 } == outcome)
    }

    @Test("after a rejection, drops at most 1 MiB of input, and closes when the peer closes")
    func lingers() {
        var machine = Machine()
        machine.feed("bad\n")
        let piece = [UInt8](repeating: 0x41, count: 64 * 1024)
        for _ in 0..<15 { machine.feed(piece) }
        #expect(machine.isReading)
        machine.feed(piece)
        #expect(machine.log == [Machine.line(.methodSyntax), "linger", "close"])

        machine = Machine()
        machine.feed("bad\n")
        machine.end()
        #expect(machine.log.last == "close")
    }

    // MARK: Time

    @Test("closes without a response after the idle timeout, before the first request and after it")
    func idles() {
        var machine = Machine()
        machine.pass(.milliseconds(74_999))
        #expect(machine.log == [])
        machine.pass(.milliseconds(1))
        #expect(machine.log == ["close"])

        machine = Machine()
        machine.pass(.seconds(70))
        machine.feed(get)
        machine.pass(.seconds(74))
        #expect(machine.log == ["GET /"])
        machine.pass(.seconds(1))
        #expect(machine.log == ["GET /", "close"])
    }

    @Test("limits a head to ten seconds, even if its bytes arrive one by one")
    func slowHead() {
        var machine = Machine()
        machine.pass(.seconds(30))
        for byte in "GET / HTT".utf8 {
            machine.feed([byte])
            machine.pass(.milliseconds(1_100))
        }
        #expect(machine.log == [])
        machine.pass(.milliseconds(100))
        #expect(machine.log == Machine.refusal(.headTooSlow))
        machine.pass(.milliseconds(500))
        #expect(machine.log.last == "close")
    }

    @Test("limits a body to ten seconds", arguments: ["Content-Length: 50", "Transfer-Encoding: chunked"])
    func slowBody(framing: String) {
        var machine = Machine()
        machine.feed("POST / HTTP/1.1\r\nHost: a\r\n\(framing)\r\n")
        machine.pass(.seconds(9))
        machine.feed("\r\n")
        for _ in 0..<8 {
            machine.pass(.milliseconds(1_200))
            machine.feed("0")
        }
        #expect(machine.log == [])
        machine.pass(.milliseconds(400))
        #expect(machine.log.first == Machine.line(.bodyTooSlow))
    }

    @Test("does not start the timeout of a request at an empty line before the request")
    func emptyLineIsIdle() {
        var machine = Machine()
        machine.feed("\r\n")
        machine.pass(.seconds(11))
        #expect(machine.log == [])
        machine.feed(get)
        #expect(machine.log == ["GET /"])
    }

    @Test("gives each request the time of its first byte")
    func firstByte() {
        var machine = Machine()
        let start = machine.now
        machine.pass(.seconds(5))
        machine.feed("G")
        machine.pass(.seconds(1))
        machine.feed(String(get.dropFirst()))
        machine.pass(.seconds(2))
        machine.feed("\r\n")
        machine.pass(.seconds(1))
        machine.feed(get)
        let moments = machine.requests.map { $0.firstByteAt.nanoseconds(since: start) / 1_000_000_000 }
        #expect(moments == [5, 9])
    }

    // MARK: Stop and overload

    @Test("after a stop, answers one more request of an idle connection with Connection: close")
    func stopsIdle() {
        var machine = Machine()
        machine.stop()
        machine.pass(.milliseconds(50))
        machine.feed(get)
        #expect(machine.log == ["GET /", "says close", "linger"])

        machine = Machine()
        machine.feed(get)
        machine.stop()
        machine.pass(.milliseconds(100))
        #expect(machine.log == ["GET /", "close"])

        // An empty line starts no request, and does not extend the time.
        machine = Machine()
        machine.stop()
        machine.feed("\r\n")
        machine.pass(.milliseconds(100))
        #expect(machine.log == ["close"])
    }

    @Test("after a stop, finishes a request that has started, at any byte")
    func stopsWithinRequest() {
        for sample in SplitTests.samples.prefix(3) {
            let bytes = Array(sample.utf8)
            for cut in 3..<bytes.count {
                var machine = Machine()
                machine.feed(Array(bytes[..<cut]))
                machine.stop()
                machine.pass(.seconds(5))
                machine.feed(Array(bytes[cut...]))
                #expect(machine.requests.count == 1, "cut at byte \(cut)")
                #expect(machine.log.contains("says close"))
            }
        }
    }

    @Test("after a stop, the response to the handler's current request is the last one")
    func stopsWhileAnswering() {
        var machine = Machine()
        machine.answersAtOnce = false
        machine.feed(get)
        machine.stop()
        machine.answer()
        #expect(machine.log == ["GET /", "says close", "linger"])
    }

    @Test("answers a connection above the limit with 503")
    func turnsAway() {
        var machine = Machine()
        machine.turnAway()
        #expect(machine.log == Machine.refusal(.tooManyConnections))
        #expect(machine.rejections.first?.kind == .overloaded)
    }

    @Test("has a status for each kind of rejection, and a different sentence for each refusal")
    func refusals() {
        let sentences = Refusal.allCases.map(\.sentence)
        #expect(Set(sentences).count == sentences.count)
        for kind in Rejection.Kind.allCases { #expect((400..<600).contains(kind.status.code)) }
    }
}
