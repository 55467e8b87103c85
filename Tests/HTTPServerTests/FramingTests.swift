import HTTPServer
import Testing

@Suite("The rules for host, body and connection (RFC 9112 §3.2, §6, §9)")
struct FramingTests {
    @Test(
        "accept every form of host in RFC 3986",
        arguments: [
            "a", "a.example", "a.example:80", "a.example:", "a:65535", "127.0.0.1:8080", "0.0.0.0=5000",
            "a_b", "%41.example", "[::1]", "[::1]:80", "[2001:db8::7]:443", "[::ffff:192.0.2.1]",
            "[1:2:3:4:5:6:7:8]", "[1::8]", "[::]", "xn--mnchen-3ya.de", "a-.~!$&'()*+;=b",
        ]
    )
    func takesHost(host: String) {
        #expect(Machine.log("GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n") == ["GET /"])
    }

    @Test(
        "refuse an invalid host, and a list of hosts",
        arguments: [
            "", " ", ":80", "u@a", "u:p@a", "a/b", "a/", "a?b", "a#b", "a,b", "a, b", "a b", "a\tb", "a:b",
            "a:8x", "a:65536", "a:80:80", "%4", "%zz", "a%", "[", "[]", "[::1", "::1", "[::1]x", "[1:2]",
            "[:::]", "[1::2::3]", "[12345::]", "[g::]", "[1:2:3:4:5:6:7:8:9]", "[1:2:3:4:5:6:7::8]x",
            "[::1.2.3]", "[::1.2.3.256]", "[1:]", "[:1]", "a\\b", "a\"b", "a<b", "http://a", "a\u{e9}",
        ]
    )
    func refusesHost(host: String) {
        let head = "GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n"
        #expect(Machine.log(head) == Machine.refusal(.hostSyntax))
    }

    @Test(
        "require one Host field in HTTP/1.1, and allow at most one in HTTP/1.0",
        arguments: [
            ("GET / HTTP/1.1\r\n\r\n", Refusal.hostMissing),
            ("GET / HTTP/1.1\r\nX-Host: a\r\n\r\n", .hostMissing),
            ("GET http://a/ HTTP/1.1\r\n\r\n", .hostMissing),
            ("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n", .hostRepeated),
            ("GET / HTTP/1.1\r\nHost: a\r\nhOST: b\r\n", .hostRepeated),
            ("GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n", .hostRepeated),
            ("GET http://a/ HTTP/1.1\r\nHost: b/\r\n", .hostSyntax),
        ]
    )
    func wantsHost(head: String, refusal: Refusal) { #expect(Machine.log(head) == Machine.refusal(refusal)) }

    @Test(
        "take the body's length from Content-Length",
        arguments: [
            ("5", "POST / [hello]"), ("005", "POST / [hello]"), (" 5\t", "POST / [hello]"),
            ("0000000000000000005", "POST / [hello]"),
        ]
    )
    func readsLength(value: String, outcome: String) {
        let request = "POST / HTTP/1.1\r\nHost: a\r\ncontent-LENGTH:\(value)\r\n\r\nhello"
        #expect(Machine.log(request) == [outcome])
    }

    @Test(
        "refuse a length that is not 1 to 19 digits, or is larger than the largest `Int`",
        arguments: [
            "", "+5", "-5", "-0", "5,5", "5, 5", "5, 10", "5 5", "1 0", "0x5", "0o5", "1_0", "5;", "abc",
            "5x", "5.0",
            "٥", "99999999999999999999", "9999999999999999999", "00000000000000000005", "\"5\"", "5\u{c}",
        ]
    )
    func refusesLength(value: String) {
        let head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(value)\r\n\r\n"
        let refusal: Refusal = value.contains("\u{c}") ? .fieldValueSyntax : .contentLengthSyntax
        #expect(Machine.log(head) == Machine.refusal(refusal))
    }

    @Test(
        "accept the chunked coding, in upper and lower case",
        arguments: ["chunked", "Chunked", "CHUNKED", " chunked\t"]
    )
    func takesChunked(coding: String) {
        let request =
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\(coding)\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
        #expect(Machine.log(request) == ["POST / [hello]"])
    }

    @Test(
        "refuse every other coding, and fields that are repeated or contradict each other",
        arguments: [
            ("Transfer-Encoding: gzip", .transferEncodingUnknown),
            ("Transfer-Encoding: identity", .transferEncodingUnknown),
            ("Transfer-Encoding: xchunked", .transferEncodingUnknown),
            ("Transfer-Encoding: chunkedchunked", .transferEncodingUnknown),
            ("Transfer-Encoding: gzip, chunked", .transferEncodingUnknown),
            ("Transfer-Encoding: deflate\r\nTransfer-Encoding: chunked", .transferEncodingUnknown),
            ("Transfer-Encoding: chunked, gzip", .transferEncodingOrder),
            ("Transfer-Encoding: chunked, chunked", .transferEncodingOrder),
            ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", .transferEncodingOrder),
            ("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", .transferEncodingOrder),
            ("Transfer-Encoding:", .transferEncodingSyntax),
            ("Transfer-Encoding: ,", .transferEncodingSyntax),
            ("Transfer-Encoding: , chunked", .transferEncodingSyntax),
            ("Transfer-Encoding: chunked,", .transferEncodingSyntax),
            ("Transfer-Encoding: chunked;a=b", .transferEncodingSyntax),
            ("Transfer-Encoding: \"chunked\"", .transferEncodingSyntax),
            ("Transfer-Encoding: chunked foo", .transferEncodingSyntax),
            ("Transfer-Encoding: chunk\u{e9}d", .transferEncodingSyntax),
            ("Transfer-Encoding: \u{b}chunked", .fieldValueSyntax),
            ("Transfer-Encoding: chunked\u{0}", .fieldValueSyntax),
            ("Transfer-Encoding : chunked", .whiteSpaceBeforeColon),
            ("Transfer-Encoding:\r\n chunked", .transferEncodingSyntax),
            ("Content-Length: 5\r\nTransfer-Encoding: chunked", .contentLengthWithTransferEncoding),
            ("Transfer-Encoding: chunked\r\nContent-Length: 5", .contentLengthWithTransferEncoding),
            ("Transfer-Encoding: gzip\r\nContent-Length: 5", .contentLengthWithTransferEncoding),
            ("Content-Length: 0\r\nTransfer-Encoding: chunked", .contentLengthWithTransferEncoding),
            ("Content-Length: 5\r\nContent-Length: 5", .contentLengthRepeated),
            ("Content-Length: 5\r\nContent-Length: 6", .contentLengthRepeated),
            ("Content-Type: a/b\r\nContent-Type: a/b", .contentTypeRepeated),
            ("Content-Type: a/b\r\ncontent-type: c/d", .contentTypeRepeated),
        ] as [(String, Refusal)]
    )
    func refusesContradictions(lines: String, refusal: Refusal) {
        let request = "POST / HTTP/1.1\r\nHost: a\r\n\(lines)\r\n\r\n"
        #expect(Machine.log(request) == Machine.refusal(refusal))
    }

    @Test(
        "ignore fields that imitate framing with an underscore; the handler does not get these fields",
        arguments: ["Transfer_Encoding: chunked", "content_length: 5", "Content_Length: -1E23"]
    )
    func dropsImitations(line: String) {
        var machine = Machine()
        machine.feed("POST / HTTP/1.1\r\nHost: a\r\n\(line)\r\nContent-Length: 2\r\nX: y\r\n\r\nhi")
        #expect(machine.log == ["POST / [hi]"])
        #expect(machine.requests.first?.fieldLines.map(\.name) == ["Host", "Content-Length", "X"])
    }

    @Test("refuse a transfer coding in HTTP/1.0")
    func refusesCodingInHTTP10() {
        let request = "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"
        #expect(Machine.log(request) == Machine.refusal(.transferEncodingInHTTP10))
    }

    @Test(
        "ignore fields with similar names",
        arguments: [
            "Transfer-Encodings: chunked", "Content.Length: 5", "Content-Lengths: x", "X-Host: ,", "Hos: ,",
        ]
    )
    func ignores(line: String) {
        #expect(Machine.log("POST / HTTP/1.1\r\nHost: a\r\n\(line)\r\n\r\n") == ["POST /"])
    }

    @Test(
        "refuse any expectation except 100-continue",
        arguments: ["", "100", "100-continued", "100-continue, x", "200-ok", "x=y", "100-continue;q=1"]
    )
    func refusesExpectation(value: String) {
        let head = "POST / HTTP/1.1\r\nHost: a\r\nExpect: \(value)\r\n\r\n"
        #expect(Machine.log(head) == Machine.refusal(.expectationUnknown))
    }

    @Test(
        "keep or close the connection, depending on the version and the Connection field",
        arguments: [
            ("HTTP/1.1\r\nHost: a", true), ("HTTP/1.1\r\nHost: a\r\nConnection: close", false),
            ("HTTP/1.1\r\nHost: a\r\nConnection: CLOSE", false),
            ("HTTP/1.1\r\nHost: a\r\nConnection: x, close ,y", false),
            ("HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\nConnection: close", false),
            ("HTTP/1.1\r\nHost: a\r\nConnection: closed", true),
            ("HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket", true), ("HTTP/1.0", false),
            ("HTTP/1.0\r\nConnection: Keep-Alive", true),
            ("HTTP/1.0\r\nConnection: keep-alive, close", false), ("HTTP/1.0\r\nConnection: close", false),
        ]
    )
    func keepsOrCloses(rest: String, keeps: Bool) {
        var machine = Machine()
        machine.feed("GET / \(rest)\r\n\r\n")
        #expect(machine.log.contains("close") == !keeps)
        #expect(machine.isReading == keeps)
    }
}
