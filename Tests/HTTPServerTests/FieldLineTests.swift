import HTTPServer
import Testing

@Suite("Field lines (RFC 9112 §5, RFC 9110 §5)")
struct FieldLineTests {
    @Test(
        "keep their bytes, without the white space around a value",
        arguments: [
            ("A: b", "A", "b"), ("A:b", "A", "b"), ("A: \t b \t ", "A", "b"), ("A:", "A", ""),
            ("A: \t ", "A", ""), ("a: b c\td", "a", "b c\td"),
            ("!#$%&'*+-.^_`|~09azAZ: x", "!#$%&'*+-.^_`|~09azAZ", "x"),
            ("A: D\u{fc}sseldorf", "A", "D\u{fc}sseldorf"),
            ("A: ::\"(),/;<=>?@[\\]{}", "A", "::\"(),/;<=>?@[\\]{}"),
            ("aaaaaaaaaaaaa:++++++++++", "aaaaaaaaaaaaa", "++++++++++"),
        ]
    )
    func keep(line: String, name: String, value: String) throws {
        var machine = Machine()
        machine.feed("GET / HTTP/1.1\r\nHost: a\r\n\(line)\r\n\r\n")
        let request = try #require(machine.requests.first)
        #expect(
            request.fieldLines == [FieldLine(name: "Host", value: "a"), FieldLine(name: name, value: value)]
        )
        #expect(request.field(name.uppercased()) == value)
        #expect(request.field(name.lowercased()) == value)
        #expect(request.withFieldBytes(name) { $0.count } == value.utf8.count)
    }

    @Test("are found by name, repeated lines in the order received")
    func findsRepeated() throws {
        var machine = Machine()
        machine.feed("GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\nY: 2\r\nx: 3\r\n\r\n")
        let request = try #require(machine.requests.first)
        #expect(request.fields("X") == ["1", "3"])
        #expect(request.field("x") == "1")
        #expect(request.field("z") == nil)
        #expect(request.hasField("y"))
        #expect(!request.hasField("xy"))
        #expect(request.withOnlyFieldBytes("x") { $0.count } == nil, "two lines have this name")
        #expect(request.withOnlyFieldBytes("Y") { $0.count } == 1)
        #expect(request.withOnlyFieldBytes("z") { $0.count } == nil)
    }

    @Test(
        "do not affect the path and the query, which can be read as texts and as bytes",
        arguments: [
            ("/a%20b?c=d&e", "/a%20b", "c=d&e"), ("/", "/", nil), ("/a?", "/a", ""),
            ("http://b?c", "/", "c"), ("*", "*", nil), ("http://b", "*", nil),
        ] as [(String, String, String?)]
    )
    func readsTarget(target: String, path: String, query: String?) throws {
        var machine = Machine()
        machine.feed("OPTIONS \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
        let request = try #require(machine.requests.first)
        let text = { (bytes: Span<UInt8>) in
            String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
        }
        #expect(request.path == path)
        #expect(request.withPathBytes(text) == path)
        #expect(request.query == query)
        #expect(request.withQueryBytes(text) == query)
        let made = Request(.options, path: path, query: query)
        #expect(made.withPathBytes(text) == path)
        #expect(made.withQueryBytes(text) == query)
    }

    @Test("may contain every allowed byte at any position, and are refused for every other byte")
    func everyByte() throws {
        // The lengths are around one, two and three words of eight bytes.
        for length in [1, 7, 8, 9, 16, 23, 25] {
            for position in 0..<length {
                for byte in UInt8.min...UInt8.max {
                    var value = [UInt8](repeating: UInt8(ascii: "v"), count: length)
                    value[position] = byte
                    var machine = Machine()
                    machine.feed(
                        Array("GET / HTTP/1.1\r\nHost: a\r\nA:x".utf8) + value + Array("x\r\n\r\n".utf8)
                    )
                    let isAllowed = byte >= 0x80 || (0x20..<0x7f).contains(byte) || byte == 0x09
                    let kept = machine.requests.first?.withFieldBytes("a") { bytes in
                        bytes.indices.map { bytes[$0] }
                    }
                    let whole = [UInt8(ascii: "x")] + value + [UInt8(ascii: "x")]
                    guard kept == (isAllowed ? whole : nil) else {
                        Issue.record("byte \(byte) at \(position) of \(length)")
                        return
                    }
                }
            }
        }
    }

    @Test("are not found by other names of the same length, or of the same length modulo 64")
    func namesByLength() throws {
        let long = String(repeating: "n", count: 65)
        var machine = Machine()
        machine.feed("GET / HTTP/1.1\r\nHost: a\r\n\(long): 1\r\nB: 2\r\n\r\n")
        let request = try #require(machine.requests.first)
        #expect(request.field(long) == "1")
        #expect(request.field("b") == "2")
        // Each of these two names is 64 bytes shorter or longer than a name in the request.
        #expect(request.field("n") == nil)
        #expect(request.field(String(repeating: "n", count: 68)) == nil)
        #expect(request.field("host") == "a")
        #expect(request.field("hose") == nil)
        #expect(request.field("") == nil)
    }

    @Test("keep bytes that are not UTF-8 for a handler that reads bytes")
    func keepsBytes() throws {
        var machine = Machine()
        machine.feed(Array("GET / HTTP/1.1\r\nHost: a\r\nA: ".utf8) + [0xFF, 0x80] + Array("\r\n\r\n".utf8))
        let request = try #require(machine.requests.first)
        #expect(request.withFieldBytes("a") { [$0[0], $0[1]] } == [0xFF, 0x80])
        #expect(request.field("a") == "\u{FFFD}\u{FFFD}")
    }

    @Test(
        "are refused at the first wrong byte",
        arguments: [
            (" ", .whiteSpaceBeforeFields), ("\t", .whiteSpaceBeforeFields), ("A: b\r\n ", .foldedLine),
            ("A: b\r\n\t", .foldedLine), (":", .fieldNameEmpty), ("A ", .whiteSpaceBeforeColon),
            ("A\t", .whiteSpaceBeforeColon), ("A\r", .missingColon), ("A\n", .missingColon),
            ("A[", .fieldNameSyntax), ("A@", .fieldNameSyntax), ("A\u{0}", .fieldNameSyntax),
            ("A\u{1}", .fieldNameSyntax), ("A\u{7f}", .fieldNameSyntax), ("X-T\u{eb}", .fieldNameSyntax),
            ("(", .fieldNameSyntax), ("\u{0}", .fieldNameSyntax), ("\"", .fieldNameSyntax),
            ("A: b\n", .bareLineFeed), ("A:\n", .bareLineFeed), ("A: b\rc", .bareCarriageReturn),
            ("A: b\r\r", .bareCarriageReturn), ("A:\rT", .bareCarriageReturn),
            ("A: b\u{0}", .fieldValueSyntax), ("A: \u{7}", .fieldValueSyntax),
            ("A: \u{8}", .fieldValueSyntax), ("A: \u{b}", .fieldValueSyntax), ("A: \u{c}", .fieldValueSyntax),
            ("A: \u{1b}", .fieldValueSyntax), ("A: b\u{7f}", .fieldValueSyntax), ("\n", .bareLineFeed),
            ("A: b\r\n\n", .bareLineFeed), ("A: b\r\n\rS", .bareCarriageReturn),
        ] as [(String, Refusal)]
    )
    func refuses(lines: String, refusal: Refusal) {
        let start = "GET / HTTP/1.1\r\n" + lines
        #expect(Machine.log(start.latin1) == Machine.refusal(refusal))
        #expect(Machine.log(start.latin1.dropLast()).isEmpty)
    }

    @Test("may be as many as the limit")
    func limitsCount() {
        var limits = Limits()
        limits.fieldCount = 3
        let three = "GET / HTTP/1.1\r\nHost: a\r\nB: b\r\nC: c\r\n"
        #expect(Machine.log("\(three)\r\n", limits: limits) == ["GET /"])
        #expect(Machine.log("\(three)D: d\r\n", limits: limits) == Machine.refusal(.fieldsCount))
    }

    @Test("may be as long as the limit, all lines together", arguments: ["name", "value", "many"])
    func limitsLength(part: String) {
        var limits = Limits()
        limits.fieldsByteCount = 64
        let start = "GET / HTTP/1.1\r\nHost: a\r\n"
        let lines =
            switch part {
            case "name": String(repeating: "n", count: 100)
            case "value": "N: " + String(repeating: "v", count: 100)
            default: String(repeating: "N: v\r\n", count: 20)
            }
        #expect(Machine.log(start + lines, limits: limits) == Machine.refusal(.fieldsLength))
        #expect(Machine.log(start + "N: 12345678\r\n\r\n", limits: limits) == ["GET /"])
    }
}
