import Attribution
import Support
import Testing

@Suite("Base64url")
struct Base64URLTests {
    @Test(
        "follows RFC 4648 without padding, in both directions",
        arguments: [
            ([], ""), ([0x66], "Zg"), ([0x66, 0x6f], "Zm8"), ([0x66, 0x6f, 0x6f], "Zm9v"),
            ([0x66, 0x6f, 0x6f, 0x62], "Zm9vYg"), ([0xfb, 0xff], "-_8"), ([0xff, 0xff, 0xff], "____"),
        ] as [([UInt8], String)]
    )
    func vectors(bytes: [UInt8], text: String) {
        #expect(Base64URL.text(of: bytes) == text)
        #expect(Base64URL.bytes(of: text) == bytes)
    }

    @Test(
        "accepts one spelling only",
        arguments: [
            "Z", "Zh", "Zm9", "Zn", "Zg=", "Zg==", "Zm9v=", "Zm9vZ", "+/8", "Zm 9v", "Zm9v\n", "é",
            "Zm9v\u{0}", "Zg.",
        ]
    )
    func refuses(text: String) { #expect(Base64URL.bytes(of: text) == nil) }

    @Test("is the same when written or read again, for random bytes")
    func roundTrips() {
        var random = SeededGenerator(seed: 3)
        let digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".map { String($0) }
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                UInt8(truncatingIfNeeded: random.next())
            }
            #expect(Base64URL.bytes(of: Base64URL.text(of: bytes)) == bytes)
            let text = random.text(of: digits, count: 0...12)
            if let read = Base64URL.bytes(of: text) { #expect(Base64URL.text(of: read) == text) }
        }
    }
}
