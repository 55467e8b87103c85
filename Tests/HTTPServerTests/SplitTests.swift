import HTTPServer
import Testing

@Suite("Requests in pieces")
struct SplitTests {
    static let samples: [String] = [
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "\r\nGET http://b:1/x?y HTTP/1.1\r\nHost: a\r\nA:  b \r\nC:\r\n\r\n",
        "POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
        "POST /p HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhiGET / HTTP/1.0\r\n\r\n",
        "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;a=\"b\";c\r\nhello\r\n1\r\n!\r\n0\r\nT: t\r\nU: u\r\n\r\n",
        "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nPOST /2 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"
            + "PUT /3 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nT: t\r\n\r\n"
            + "\r\nDELETE /4 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhelloGARBAGE\u{0}",
        "BREW / HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nA : b\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcX",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ]

    @Test("have the same result if they are cut in two at any byte", arguments: samples)
    func inTwo(sample: String) {
        let bytes = Array(sample.utf8)
        let whole = Machine.log(bytes)
        #expect(!whole.isEmpty)
        for cut in 1..<bytes.count {
            var machine = Machine()
            machine.feed(Array(bytes[..<cut]))
            machine.feed(Array(bytes[cut...]))
            #expect(machine.log == whole, "cut at byte \(cut)")
        }
    }

    @Test("have the same result if they are cut into single bytes", arguments: samples)
    func intoBytes(sample: String) {
        let bytes = Array(sample.utf8)
        var machine = Machine()
        for byte in bytes { machine.feed([byte]) }
        #expect(machine.log == Machine.log(bytes))
    }

    @Test("have the same field lines and bodies if they are cut in three")
    func inThree() {
        let bytes = Array(Self.samples[5].utf8)
        var whole = Machine()
        whole.feed(bytes)
        for first in stride(from: 1, to: bytes.count - 1, by: 7) {
            for second in stride(from: first + 1, to: bytes.count, by: 11) {
                var machine = Machine()
                machine.feed(Array(bytes[..<first]))
                machine.feed(Array(bytes[first..<second]))
                machine.feed(Array(bytes[second...]))
                #expect(machine.requests.map(\.fieldLines) == whole.requests.map(\.fieldLines))
                #expect(machine.requests.map(\.body) == whole.requests.map(\.body))
            }
        }
    }

    @Test("have complete bodies if they are cut into many pieces, even if another request follows")
    func longBody() {
        let body = (0..<60_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        var chunked = Array("POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
        for start in stride(from: 0, to: body.count, by: 1_000) {
            chunked += Array("3e8\r\n".utf8) + body[start..<start + 1_000] + Array("\r\n".utf8)
        }
        chunked += Array("0\r\n\r\n".utf8)
        let sized = Array("POST /s HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n".utf8) + body
        let bytes = chunked + sized + chunked
        for pieceLength in [1_447, 4_096, 65_536] {
            var machine = Machine()
            for start in stride(from: 0, to: bytes.count, by: pieceLength) {
                machine.feed(Array(bytes[start..<min(start + pieceLength, bytes.count)]))
            }
            #expect(machine.requests.map(\.path) == ["/c", "/s", "/c"])
            #expect(machine.requests.allSatisfy { $0.body == body })
        }
    }
}
