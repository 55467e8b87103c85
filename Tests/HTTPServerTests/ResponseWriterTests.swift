import HTTPServer
import Testing

@Suite("The bytes of responses")
struct ResponseWriterTests {
    private func written(
        _ response: Response,
        to method: Method? = .get,
        version: Version = .http11,
        keepsAlive: Bool = true
    ) -> String {
        var output: [UInt8] = []
        let context = ResponseWriter.Context(method: method, version: version, keepsAlive: keepsAlive)
        ResponseWriter.write(response, to: &output, date: Array("Date: now\r\n".utf8), context)
        return String(decoding: output, as: UTF8.self)
    }

    @Test("contain date, length, type and nosniff, and no name of the server")
    func whole() {
        let text = written(Response(.ok, text: "hi"))
        #expect(
            text == """
                HTTP/1.1 200 OK\r
                Date: now\r
                Content-Length: 2\r
                Content-Type: text/plain; charset=utf-8\r
                X-Content-Type-Options: nosniff\r
                \r
                hi
                """
        )
    }

    @Test("to HEAD contain the length of the body, but not the body")
    func head() {
        let text = written(Response(.ok, contentType: .json, text: "{\"a\":1}"), to: .head)
        #expect(text.contains("Content-Length: 7\r\n"))
        #expect(text.contains("Content-Type: application/json\r\n"))
        #expect(text.hasSuffix("\r\n\r\n"))
    }

    @Test("with 204 and 304 contain no length, type or body", arguments: [Status.noContent, .notModified])
    func withoutContent(status: Status) {
        let text = written(Response(status, text: "hidden"))
        #expect(!text.contains("Content-Length"))
        #expect(!text.contains("Content-Type:"))
        #expect(!text.contains("hidden"))
    }

    @Test("contain `close` if the connection ends, and `keep-alive` only for HTTP/1.0")
    func connection() {
        #expect(written(Response(.ok), keepsAlive: false).contains("Connection: close\r\n"))
        #expect(
            written(Response(.ok), version: .http10, keepsAlive: true).contains("Connection: keep-alive\r\n")
        )
        #expect(!written(Response(.ok)).contains("Connection"))
    }

    @Test("leave out lines that only the writer may write")
    func ownLines() {
        let names = ["Content-Length", "DATE", "transfer-encoding", "Connection", "content-type"]
        let response = Response(.ok, fields: names.map { FieldLine(name: $0, value: "mine") }, text: "x")
        #expect(!written(response).contains("mine"))
    }

    @Test(
        "must not contain lines that would break the message",
        arguments: [
            ("A", "b", true), ("A", "", true), ("A", "b\tc \u{e9}", true), ("A", "b\r\nX: y", false),
            ("A", "b\r", false), ("A", "b\n", false), ("A", "b\u{0}", false), ("A", "\u{7f}", false),
            ("A\r\n", "b", false), ("", "b", false), ("A b", "c", false), ("A:", "c", false),
        ]
    )
    func writable(name: String, value: String, isWritable: Bool) {
        #expect(ResponseWriter.isWritable(FieldLine(name: name, value: value)) == isWritable)
    }

    #if DEBUG
    @Test("a debug build traps if a handler adds a line that would break the message")
    func traps() async {
        await #expect(processExitsWith: .failure) {
            var output: [UInt8] = []
            let response = Response(.ok, fields: [FieldLine(name: "A", value: "b\r\nX: y")])
            let context = ResponseWriter.Context(method: .get, version: .http11, keepsAlive: true)
            ResponseWriter.write(response, to: &output, date: [], context)
        }
    }
    #else
    @Test("a release build leaves out a line that would break the message")
    func drops() {
        #expect(!written(Response(.ok, fields: [FieldLine(name: "A", value: "b\r\nX: y")])).contains("X: y"))
    }
    #endif

    @Test(
        "start with the status, and state the length of any body",
        arguments: [
            (Status.created, "201 Created"), (.serviceUnavailable, "503 Service Unavailable"),
            (Status(299), "299 "),
        ]
    )
    func statusLine(status: Status, line: String) {
        #expect(written(Response(status)).hasPrefix("HTTP/1.1 \(line)\r\n"))
        for count in [0, 9, 10, 99, 100, 65_536] {
            let text = written(Response(status, body: [UInt8](repeating: 0x41, count: count)))
            #expect(text.contains("Content-Length: \(count)\r\n"))
        }
    }
}

@Suite("Dates (RFC 9110 §5.6.7)")
struct DateFieldTests {
    @Test(
        "have the form of the example in RFC 9110",
        arguments: [
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (1_709_164_799, "Wed, 28 Feb 2024 23:59:59 GMT"),
            (1_709_251_199, "Thu, 29 Feb 2024 23:59:59 GMT"),
            (2_240_524_800, "Mon, 31 Dec 2040 00:00:00 GMT"),
            (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"), (-5, "Thu, 01 Jan 1970 00:00:00 GMT"),
        ] as [(Int64, String)]
    )
    func written(seconds: Int64, text: String) { #expect(DateField.text(seconds) == text) }
}
