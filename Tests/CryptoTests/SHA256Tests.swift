import Crypto
import Testing

@Suite("SHA-256")
struct SHA256Tests {
    @Test(
        "returns the digests of NIST's examples",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
            (
                String(repeating: "a", count: 1_000_000),
                "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
            ),
        ]
    )
    func examples(_ message: String, expected: String) {
        let digest = SHA256.digest(of: Array(message.utf8))
        #expect(digest.bytes == bytes(hex: expected))
        let message = Array(message.utf8)
        let ofSpan = SHA256.digest(of: message.span)
        #expect(ofSpan == digest)
    }

    @Test("has words in the order of the bytes")
    func words() {
        let digest = SHA256.digest(of: Array("abc".utf8))
        #expect(digest.words.0 == 0xba78_16bf_8f01_cfea)
        #expect(digest.words.3 == 0xb410_ff61_f200_15ad)
        #expect(SHA256.Digest(words: digest.words) == digest)
    }

    @Test("distinguishes digests that differ in one word")
    func equality() {
        let words = SHA256.digest(of: []).words
        let digest = SHA256.Digest(words: words)
        #expect(digest != SHA256.Digest(words: (words.0 ^ 1, words.1, words.2, words.3)))
        #expect(digest != SHA256.Digest(words: (words.0, words.1 ^ 1, words.2, words.3)))
        #expect(digest != SHA256.Digest(words: (words.0, words.1, words.2 ^ 1, words.3)))
        #expect(digest != SHA256.Digest(words: (words.0, words.1, words.2, words.3 ^ (1 << 63))))
    }
}
