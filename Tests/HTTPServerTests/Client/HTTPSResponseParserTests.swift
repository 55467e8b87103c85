import HTTPServer
import Testing

@Suite("Responses of other servers")
struct HTTPSResponseParserTests {
    /// Parses a text, `step` bytes at a time; the connection ends after the text.
    private func read(
        _ text: String,
        step: Int = .max,
        isHead: Bool = false,
        limit: Int = 64,
        cuts: Bool = false,
        isClean: Bool = true
    ) throws(HTTPSFailure) -> HTTPSResponse {
        var parser = HTTPSResponseParser(isHead: isHead, bodyLimit: limit, cutsLongBody: cuts)
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            if let answer = try parser.receive(Array(rest.prefix(step))) { return answer }
            rest = rest.dropFirst(step)
        }
        return try parser.end(isClean: isClean)
    }

    private static let good: [(text: String, status: Int, body: String)] = [
        ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", 200, "abc"),
        ("HTTP/1.1 200 OK\r\ncontent-length:3\r\n\r\nabcdef", 200, "abc"),
        ("HTTP/1.0 200 OK\r\n\r\nto the end", 200, "to the end"),
        ("HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", 200, ""),
        ("HTTP/1.1 200\r\nContent-Length: 1\r\n\r\nx", 200, "x"),
        ("HTTP/1.1 204 No Content\r\n\r\n", 204, ""),
        ("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", 304, ""),
        ("HTTP/1.1 301 Moved\r\nLocation: https://a.example/\r\nContent-Length: 0\r\n\r\n", 301, ""),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n2\r\nde\r\n0\r\nX: y\r\n\r\n",
            200,
            "abcde"
        ),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n0\r\n\r\n", 200, ""),
        (
            "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 No\r\n"
                + "Content-Length: 2\r\n\r\nno", 404, "no"
        ),
    ]

    @Test("are parsed, whatever the pieces in which they arrive")
    func reads() throws {
        for (text, status, body) in Self.good {
            for step in [1, 2, 3, 7, .max] {
                let answer = try read(text, step: step)
                #expect(answer.status == status, "\(text) in steps of \(step)")
                #expect(String(decoding: answer.body, as: UTF8.self) == body, "\(text) in steps of \(step)")
            }
        }
    }

    @Test("contain their fields, found in any case, and no field of an interim response")
    func fields() throws {
        let answer = try read(
            "HTTP/1.1 103 x\r\nA: 0\r\n\r\nHTTP/1.1 200 OK\r\nA: 1\r\nContent-type:  application/json \r\n\r\n"
        )
        #expect(answer.field("Content-Type") == "application/json")
        #expect(answer.field("a") == "1")
        #expect(answer.field("b") == nil)
    }

    @Test("to HEAD have no body, whatever their length")
    func head() throws {
        let answer = try read("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", isHead: true)
        #expect(answer.body.isEmpty)
        #expect(answer.field("Content-Length") == "1000")
    }

    @Test(
        "are refused if two readers could interpret them differently",
        arguments: [
            "HTTP/2 200 OK\r\n\r\n", "HTTP/1.2 200 OK\r\n\r\n", "http/1.1 200 OK\r\n\r\n", "200 OK\r\n\r\n",
            "HTTP/1.1  200 OK\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n",
            "HTTP/1.1 099 OK\r\n\r\n", "HTTP/1.1 600 OK\r\n\r\n", "HTTP/1.1 101 Switch\r\n\r\n",
            "HTTP/1.1 200 OK\n\n", "HTTP/1.1 200 O\u{1}K\r\n\r\n", "HTTP/1.1 200 OK\r\nA : b\r\n\r\n",
            "HTTP/1.1 200 OK\r\n A: b\r\n\r\n", "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n",
            "HTTP/1.1 200 OK\r\nA: b\nC: d\r\n\r\n", "HTTP/1.1 200 OK\r\nA\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na",
            "HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\n\r\na",
            "HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\na",
            "HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\na", "HTTP/1.1 200 OK\r\nContent-Length: 0x1\r\n\r\na",
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\na",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n123456789\r\n",
            String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 9),
            "HTTP/1.1 200 " + String(repeating: "x", count: 2000) + "\r\n\r\n",
            "HTTP/1.1 200 OK\r\n" + String(repeating: "A: b\r\n", count: 101) + "\r\n",
            "HTTP/1.1 200 OK\r\nA: " + String(repeating: "b", count: 20_000) + "\r\n\r\n",
        ]
    )
    func refuses(text: String) {
        for step in [1, .max] {
            do throws(HTTPSFailure) {
                let answer = try read(text, step: step)
                Issue.record("\(answer)")
            } catch {
                guard case .malformed(let reason) = error else {
                    Issue.record("\(error)")
                    return
                }
                #expect(!reason.isEmpty)
            }
        }
    }

    @Test("are refused as soon as they are longer than the limit, and not before")
    func length() throws {
        let body = String(repeating: "a", count: 64)
        #expect(try read("HTTP/1.1 200 OK\r\nContent-Length: 64\r\n\r\n\(body)").body.count == 64)
        #expect(try read("HTTP/1.1 200 OK\r\n\r\n\(body)").body.count == 64)
        #expect(
            try read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n40\r\n\(body)\r\n0\r\n\r\n").body
                .count == 64
        )
        #expect(throws: HTTPSFailure.tooLarge) { try read("HTTP/1.1 200 OK\r\nContent-Length: 65\r\n\r\n") }
        #expect(throws: HTTPSFailure.tooLarge) { try read("HTTP/1.1 200 OK\r\n\r\n\(body)a") }
        #expect(throws: HTTPSFailure.tooLarge) {
            try read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n40\r\n\(body)\r\n1\r\n")
        }
    }

    @Test("are cut at the limit if the caller wants it", arguments: [1, 7, .max])
    func cut(step: Int) throws {
        let start = String(repeating: "a", count: 64)
        let heads = [
            "Content-Length: 9999\r\n\r\n\(start)b", "\r\n\(start)b",
            "Transfer-Encoding: chunked\r\n\r\n4e20\r\n\(start)b",
            "Transfer-Encoding: chunked\r\n\r\n40\r\n\(start)\r\n5\r\nbbbbb",
        ]
        for head in heads {
            let answer = try read("HTTP/1.1 500 No\r\n\(head)", step: step, cuts: true)
            #expect(answer.status == 500 && answer.body == Array(start.utf8))
        }
        let short = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n40\r\n\(start)\r\n0\r\n\r\n"
        #expect(try read(short, step: step, cuts: true).body == Array(start.utf8))
        #expect(throws: HTTPSFailure.endedEarly) {
            try read("HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n\(start.dropLast())", cuts: true)
        }
    }

    @Test(
        "are refused if they end early",
        arguments: [
            "", "HTTP/1.1", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
            "HTTP/1.1 100 Continue\r\n\r\n",
        ]
    )
    func endsEarly(text: String) { #expect(throws: HTTPSFailure.endedEarly) { try read(text) } }

    @Test("that end with the connection are complete only after a close_notify")
    func cut() throws {
        #expect(try read("HTTP/1.1 200 OK\r\n\r\nabc").body == Array("abc".utf8))
        #expect(throws: HTTPSFailure.endedEarly) { try read("HTTP/1.1 200 OK\r\n\r\nabc", isClean: false) }
    }
}
