import HTTPServer
import Testing

@Suite("Chunked bodies (RFC 9112 §7.1)")
struct ChunkedBodyTests {
    private static let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"

    @Test(
        "are joined to one body",
        arguments: [
            ("0\r\n\r\n", "POST /"), ("000\r\n\r\n", "POST /"), ("5\r\nhello\r\n0\r\n\r\n", "POST / [hello]"),
            ("5\r\nhello\r\n6\r\n world\r\n000\r\n\r\n", "POST / [hello world]"),
            ("A\r\n0123456789\r\n0\r\n\r\n", "POST / [0123456789]"),
            ("a\r\n0123456789\r\n0\r\n\r\n", "POST / [0123456789]"),
            ("00000001\r\nx\r\n00000000\r\n\r\n", "POST / [x]"), ("2\r\n\r\n\r\n0\r\n\r\n", "POST / [\r\n]"),
            ("5;ext=value\r\nhello\r\n0\r\n\r\n", "POST / [hello]"),
            ("5;a;b=c;d\r\nhello\r\n0;e\r\n\r\n", "POST / [hello]"),
            ("5;a=\"I \\\"love\\\"; \\\\e\\\\\";b\r\nhello\r\n0\r\n\r\n", "POST / [hello]"),
            ("5 ;a\r\nhello\r\n0\r\n\r\n", "POST / [hello]"),
            ("5; a = b ;\tc\t;d =\t\"e\" ; f\r\nhello\r\n0; g\r\n\r\n", "POST / [hello]"),
            ("5;a=\"\"\r\nhello\r\n0\r\n\r\n", "POST / [hello]"),
            ("1\r\nx\r\n0\r\nVary: *\r\nContent-Type: text/plain\r\n\r\n", "POST / [x]"),
        ]
    )
    func joined(body: String, outcome: String) { #expect(Machine.log(Self.head + body) == [outcome]) }

    @Test(
        "are refused at the first wrong byte",
        arguments: [
            (" ", .chunkSizeSyntax), ("\r", .chunkSizeSyntax), ("\n", .chunkSizeSyntax),
            (";", .chunkSizeSyntax), ("+", .chunkSizeSyntax), ("-", .chunkSizeSyntax),
            ("g", .chunkSizeSyntax), ("0x", .chunkSizeSyntax), ("1_", .chunkSizeSyntax),
            ("5 \r", .chunkExtensionSyntax), ("5\t\r", .chunkExtensionSyntax),
            ("5 \n", .chunkExtensionSyntax), ("5 a", .chunkExtensionSyntax), ("5 =", .chunkExtensionSyntax),
            ("5 5", .chunkExtensionSyntax), ("5 \"", .chunkExtensionSyntax), ("5\n", .chunkSizeSyntax),
            ("5,", .chunkSizeSyntax), ("5\u{0}", .chunkSizeSyntax), ("5\rh", .bareCarriageReturn),
            ("5\r\r", .bareCarriageReturn), ("000000000", .chunkSizeLength), ("FFFFF\r", .bodyLength),
            ("FFFFFFFFF", .chunkSizeLength), ("10001\r", .bodyLength), ("5;\r", .chunkExtensionSyntax),
            ("5;\n", .chunkExtensionSyntax), ("5; \r", .chunkExtensionSyntax), ("5;;", .chunkExtensionSyntax),
            ("5;=", .chunkExtensionSyntax), ("5;bad[", .chunkExtensionSyntax),
            ("5;a\u{0}", .chunkExtensionSyntax), ("5;a\n", .chunkExtensionSyntax),
            ("5;a \r", .chunkExtensionSyntax), ("5;a b", .chunkExtensionSyntax),
            ("5;a \"", .chunkExtensionSyntax), ("5; ;", .chunkExtensionSyntax),
            ("5;a=\r", .chunkExtensionSyntax), ("5;a= \r", .chunkExtensionSyntax),
            ("5;a= ;", .chunkExtensionSyntax), ("5;a==", .chunkExtensionSyntax),
            ("5;a=b \r", .chunkExtensionSyntax), ("5;a=b c", .chunkExtensionSyntax),
            ("5;a=b =", .chunkExtensionSyntax), ("5;a=\"b\" \r", .chunkExtensionSyntax),
            ("5;a=b=", .chunkExtensionSyntax), ("5;a=b\"", .chunkExtensionSyntax),
            ("5;a=\"b\r", .chunkExtensionSyntax), ("5;a=\"b\n", .chunkExtensionSyntax),
            ("5;a=\"b\\\r", .chunkExtensionSyntax), ("5;a=\"b\"c", .chunkExtensionSyntax),
            ("5;a\rX", .bareCarriageReturn), ("5\r\nhello0", .chunkDataEnd), ("5\r\nhello!", .chunkDataEnd),
            ("5\r\nhello\n", .chunkDataEnd), ("5\r\nhello\rX", .chunkDataEnd),
            ("3\r\nfoo\r\n\r", .chunkSizeSyntax), ("0\r\n\n", .bareLineFeed),
            ("0\r\n\rX", .bareCarriageReturn), ("0\r\n ", .whiteSpaceBeforeFields),
            ("0\r\nA ", .whiteSpaceBeforeColon), ("0\r\nA: b\r\n ", .foldedLine),
            ("0\r\nA: b\n", .bareLineFeed), ("0\r\nHost: b\r\n", .trailerForbidden),
            ("0\r\ncontent-length: 5\r\n", .trailerForbidden),
            ("0\r\nTransfer-Encoding: chunked\r\n", .trailerForbidden),
            ("0\r\n" + String(repeating: "T: t\r\n", count: 17), .trailerCount),
            ("0\r\nT: " + String(repeating: "t", count: 20_000), .fieldsLength),
        ] as [(String, Refusal)]
    )
    func refused(body: String, refusal: Refusal) {
        #expect(Machine.log(Self.head + body) == Machine.refusal(refusal))
        guard body.utf8.count < 1_000 else { return }
        #expect(Machine.log((Self.head + body).utf8.dropLast()).isEmpty, "the bytes before are accepted")
    }

    @Test("may have extensions up to the limit")
    func limitsExtension() {
        let longest = Self.head + "1;" + String(repeating: "e", count: 256) + "\r\nx\r\n0\r\n\r\n"
        #expect(Machine.log(longest) == ["POST / [x]"])
        let longer = Self.head + "1;" + String(repeating: "e", count: 257)
        #expect(Machine.log(longer) == Machine.refusal(.chunkExtensionLength))
    }

    @Test("may be as long as the limit, all chunks together")
    func limitsBody() {
        var limits = Limits()
        limits.bodyByteCount = 10
        let ten = Self.head + "5\r\nhello\r\n5\r\nworld\r\n"
        #expect(Machine.log("\(ten)0\r\n\r\n", limits: limits) == ["POST / [helloworld]"])
        #expect(Machine.log("\(ten)1\r", limits: limits) == Machine.refusal(.bodyLength))
    }
}
