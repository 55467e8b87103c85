import Crypto
import Testing

@Suite("AES-256-GCM")
struct AES256GCMTests {
    /// A case of "The Galois/Counter Mode of Operation" (McGrew, Viega; submitted to NIST), appendix B.
    struct Example: Sendable {
        let key: String
        let nonce: String
        var message = ""
        var data = ""
        var encrypted = ""
        let tag: String
    }

    private static let key = "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"
    private static let message =
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
        + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"
    private static let encrypted =
        "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
        + "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"

    private static let cases = [
        // Cases 13 to 16.
        Example(
            key: String(repeating: "0", count: 64),
            nonce: String(repeating: "0", count: 24),
            tag: "530f8afbc74536b9a963b4f1c4cb738b"
        ),
        Example(
            key: String(repeating: "0", count: 64),
            nonce: String(repeating: "0", count: 24),
            message: String(repeating: "0", count: 32),
            encrypted: "cea7403d4d606b6e074ec5d3baf39d18",
            tag: "d0d1c8a799996bf0265b98b5d48ab919"
        ),
        Example(
            key: key,
            nonce: "cafebabefacedbaddecaf888",
            message: message + "1aafd255",
            encrypted: encrypted + "898015ad",
            tag: "b094dac5d93471bdec1a502270e3cc6c"
        ),
        Example(
            key: key,
            nonce: "cafebabefacedbaddecaf888",
            message: message,
            data: "feedfacedeadbeeffeedfacedeadbeefabaddad2",
            encrypted: encrypted,
            tag: "76fc6ece0f4e1768cddf8853bb2d551b"
        ),
    ]

    @Test("seals and opens the examples of its specification", arguments: cases)
    func examples(_ example: Example) throws {
        let cipher = try #require(AES256GCM(key: bytes(hex: example.key)))
        let data = bytes(hex: example.data)
        let sealed = bytes(hex: example.nonce + example.encrypted + example.tag)
        let message = bytes(hex: example.message)
        #expect(cipher.seal(message, authenticating: data, nonce: bytes(hex: example.nonce)) == sealed)
        #expect(cipher.open(sealed, authenticating: data) == message)
    }

    @Test("opens no message with a changed byte, other data or another key, nor a shortened one")
    func changes() throws {
        let cipher = try #require(AES256GCM(key: [UInt8](repeating: 1, count: 32)))
        let other = try #require(AES256GCM(key: [UInt8](repeating: 1, count: 31) + [2]))
        let (message, data) = (Array("a message".utf8), Array("data".utf8))
        let sealed = cipher.seal(message, authenticating: data)
        #expect(cipher.open(sealed, authenticating: data) == message)
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1
            #expect(cipher.open(changed, authenticating: data) == nil)
        }
        for count in sealed.indices {
            #expect(cipher.open(Array(sealed.prefix(count)), authenticating: data) == nil)
        }
        #expect(cipher.open(sealed, authenticating: data + [0]) == nil)
        #expect(cipher.open(sealed, authenticating: []) == nil)
        #expect(other.open(sealed, authenticating: data) == nil)
    }

    @Test("a key has 32 bytes, and equal messages are sealed differently")
    func nonces() throws {
        for count in [0, 16, 31, 33] { #expect(AES256GCM(key: [UInt8](repeating: 1, count: count)) == nil) }
        let cipher = try #require(AES256GCM(key: [UInt8](repeating: 1, count: 32)))
        let sealed = Set((0..<100).map { _ in cipher.seal([1, 2, 3], authenticating: []) })
        #expect(sealed.count == 100)
    }
}
