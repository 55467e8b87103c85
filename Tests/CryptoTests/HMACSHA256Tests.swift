import Crypto
import Testing

@Suite("HMAC-SHA256")
struct HMACSHA256Tests {
    @Test(
        "returns the codes of RFC 4231, for keys shorter and longer than a block",
        arguments: [
            (
                String(repeating: "0b", count: 20), Array("Hi There".utf8),
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
            ),
            (
                "4a656665", Array("what do ya want for nothing?".utf8),
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            (
                String(repeating: "aa", count: 20), [UInt8](repeating: 0xdd, count: 50),
                "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
            ),
            (
                "0102030405060708090a0b0c0d0e0f10111213141516171819", [UInt8](repeating: 0xcd, count: 50),
                "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"
            ),
            (
                String(repeating: "aa", count: 131),
                Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
            ),
        ]
    )
    func examples(key: String, message: [UInt8], expected: String) {
        let code = HMACSHA256(key: bytes(hex: key))
        #expect(code.code(for: message).bytes == bytes(hex: expected))
        let ofSpan = code.code(for: message.span)
        #expect(ofSpan.bytes == bytes(hex: expected))
    }

    @Test("returns the same code after other messages")
    func repeatedUse() {
        let code = HMACSHA256(key: [1, 2, 3])
        let first = code.code(for: Array("first".utf8))
        #expect(code.code(for: Array("second".utf8)) != first)
        #expect(code.code(for: []) != first)
        #expect(code.code(for: Array("first".utf8)) == first)
    }

    @Test("can be used by many threads at once")
    func concurrentUse() async {
        let code = HMACSHA256(key: [UInt8](repeating: 7, count: 32))
        let expected = (0..<200).map { code.code(for: [UInt8($0)]) }
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask { (0..<200).allSatisfy { code.code(for: [UInt8($0)]) == expected[$0] } }
            }
            for await agrees in group { #expect(agrees) }
        }
    }
}
