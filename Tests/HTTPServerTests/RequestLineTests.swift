import HTTPServer
import Testing

@Suite("Request line (RFC 9112 §2, §3)")
struct RequestLineTests {
    @Test(
        "is read in every form that a server must accept",
        arguments: [
            ("GET / HTTP/1.1", "GET /"), ("POST /a/b?c=d HTTP/1.1", "POST /a/b?c=d"),
            ("PUT /?? HTTP/1.1", "PUT /??"), ("DELETE /x? HTTP/1.1", "DELETE /x?"),
            ("PATCH // HTTP/1.1", "PATCH //"), ("HEAD /%41%zz HTTP/1.1", "HEAD /%41%zz"),
            ("OPTIONS * HTTP/1.1", "OPTIONS *"), ("OPTIONS /url HTTP/1.1", "OPTIONS /url"),
            ("GET /with_\"lovely\"_quotes?foo=\"bar\" HTTP/1.1", "GET /with_\"lovely\"_quotes?foo=\"bar\""),
            ("GET /test.cgi?query=|{}^`[]\\<> HTTP/1.1", "GET /test.cgi?query=|{}^`[]\\<>"),
            ("GET /test.cgi?foo=bar?baz HTTP/1.1", "GET /test.cgi?foo=bar?baz"),
            ("GET http://a.example/ HTTP/1.1", "GET /"), ("GET http://a.example HTTP/1.1", "GET /"),
            ("GET HTTP://a.example:1234/x?y HTTP/1.1", "GET /x?y"),
            ("GET https://a.example?hail=all HTTP/1.1", "GET /?hail=all"),
            ("GET http://[::1]:80/v6 HTTP/1.1", "GET /v6"),
            ("OPTIONS http://a.example:8001 HTTP/1.1", "OPTIONS *"),
            ("OPTIONS http://a.example/ HTTP/1.1", "OPTIONS /"), ("GET / HTTP/1.2", "GET /"),
            ("GET / HTTP/1.9", "GET /"), ("\r\nGET / HTTP/1.1", "GET /"),
        ]
    )
    func takes(line: String, outcome: String) {
        #expect(Machine.log("\(line)\r\nHost: a\r\n\r\n") == [outcome])
    }

    @Test("may contain every allowed byte at any position, and is refused for every other byte")
    func everyByte() throws {
        for length in [1, 7, 8, 9, 16, 23, 25] {
            for position in 0..<length {
                for byte in UInt8.min...UInt8.max where byte != UInt8(ascii: " ") && byte != UInt8(ascii: "?")
                {
                    var path = [UInt8](repeating: UInt8(ascii: "p"), count: length)
                    path[position] = byte
                    var machine = Machine()
                    machine.feed(Array("GET /".utf8) + path + Array("?a=p HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
                    let isAllowed = (0x21..<0x7f).contains(byte) && byte != UInt8(ascii: "#")
                    let kept = machine.requests.first?.withPathBytes { bytes in
                        bytes.indices.map { bytes[$0] }
                    }
                    guard kept == (isAllowed ? [UInt8(ascii: "/")] + path : nil) else {
                        Issue.record("byte \(byte) at \(position) of \(length)")
                        return
                    }
                    // The search finds the byte at every position, and no other byte.
                    if let request = machine.requests.first {
                        #expect(request.targetHolds(byte, or: 0) && request.targetHolds(0, or: byte))
                        #expect(
                            !request.targetHolds(UInt8(ascii: "_"), or: UInt8(ascii: "%"))
                                || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "%")
                        )
                    }
                }
            }
        }
    }

    @Test(
        "is refused at the first wrong byte, before the line has ended",
        arguments: [
            ("\r\n\r", Refusal.emptyLines), ("\n", .bareLineFeed), ("\rG", .bareCarriageReturn),
            (" ", .methodSyntax), ("\t", .methodSyntax), ("\u{0}", .methodSyntax), ("\u{16}", .methodSyntax),
            ("GET\t", .methodSyntax), ("GET\r", .methodSyntax), ("G(", .methodSyntax),
            ("G\u{e9}", .methodSyntax), (String(repeating: "A", count: 33), .methodLength),
            ("GET  ", .targetSyntax), ("GET \t", .targetSyntax), ("GET \r", .targetSyntax),
            ("GET /\r", .targetSyntax), ("GET /\n", .targetSyntax), ("GET /\t", .targetSyntax),
            ("GET /\u{0}", .targetSyntax), ("GET /\u{7f}", .targetSyntax), ("GET /caf\u{e9}", .targetSyntax),
            ("GET /a#", .targetFragment), ("GET / \r", .versionSyntax), ("GET /  ", .versionSyntax),
            ("GET / h", .versionSyntax), ("GET / HTTPS", .versionSyntax), ("GET / I", .versionSyntax),
            ("GET / HTTP/ ", .versionSyntax), ("GET / HTTP/01", .versionSyntax),
            ("GET / HTTP/1\r", .versionSyntax), ("GET / HTTP/1,", .versionSyntax),
            ("GET / HTTP/1.a", .versionSyntax), ("GET / HTTP/1.\r", .versionSyntax),
            ("GET / HTTP/1.10", .requestLineEnd), ("GET / HTTP/1.1 ", .requestLineEnd),
            ("GET / HTTP/1.1\n", .requestLineEnd), ("GET / HTTP/1.1\t", .requestLineEnd),
            ("GET / HTTP/1.1\rH", .bareCarriageReturn), ("GET / HTTP/2.0\r", .versionUnsupported),
            ("GET / HTTP/9.9\r", .versionUnsupported), ("GET / HTTP/0.9\r", .versionUnsupported),
            ("PRI * HTTP/2.0\r", .versionUnsupported), ("GET * HTTP/1.1\r", .targetForm),
            ("GET *x HTTP/1.1\r", .targetForm), ("GET a HTTP/1.1\r", .targetForm),
            ("GET a.example:80 HTTP/1.1\r", .targetForm), ("GET ? HTTP/1.1\r", .targetForm),
            ("GET ftp://a/ HTTP/1.1\r", .targetForm), ("GET http:/a HTTP/1.1\r", .targetForm),
            ("GET http:// HTTP/1.1\r", .targetForm), ("GET http:/// HTTP/1.1\r", .hostSyntax),
            ("GET http://u@a/ HTTP/1.1\r", .hostSyntax), ("GET http://a:b/ HTTP/1.1\r", .hostSyntax),
            ("GET http://a:65536/ HTTP/1.1\r", .hostSyntax), ("GET http://[::1/ HTTP/1.1\r", .hostSyntax),
            ("CONNECT a@b:1 HTTP/1.1\r", .targetForm),
        ] as [(String, Refusal)]
    )
    func refuses(start: String, refusal: Refusal) {
        #expect(Machine.log(start.latin1) == Machine.refusal(refusal))
        #expect(Machine.log(start.latin1.dropLast()).isEmpty, "the bytes before are accepted")
    }

    @Test(
        "with an unknown method gets 501, after the whole head was validated",
        arguments: ["trace /", "BREW /pot", "get /", "CONNECT a.example:443", "M-SEARCH *", "GETX /", "GE /"]
    )
    func refusesMethod(line: String) {
        let head = "\(line) HTTP/1.1\r\nHost: a\r\n\r"
        #expect(Machine.log(head) == [])
        #expect(Machine.log("\(head)\n") == Machine.refusal(.methodUnknown))
        let unsound = Machine.log("\(line) HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n")
        #expect(unsound == Machine.refusal(.hostRepeated))
    }

    @Test("may have a target as long as the limit")
    func limitsTarget() {
        var limits = Limits()
        limits.targetByteCount = 10
        let longest = "GET /123456789 HTTP/1.1\r\nHost: a\r\n\r\n"
        #expect(Machine.log(longest, limits: limits) == ["GET /123456789"])
        #expect(Machine.log("GET /1234567890", limits: limits) == Machine.refusal(.targetLength))
    }

    @Test(
        "with an absolute target replaces the Host field",
        arguments: [
            ("GET http://b.example:81/ HTTP/1.1\r\nHost: a\r\n\r\n", "b.example:81"),
            ("GET / HTTP/1.1\r\nHost: a.example \r\n\r\n", "a.example"), ("GET / HTTP/1.0\r\n\r\n", nil),
        ] as [(String, String?)]
    )
    func namesHost(head: String, host: String?) throws {
        var machine = Machine()
        machine.feed(head)
        #expect(try #require(machine.requests.first).host == host)
    }
}
