import Attribution
import Testing

@Suite("Keys")
struct KeyTests {
    @Test(
        "a new key starts with its kind and contains 32 random bytes in base64url",
        arguments: KeyKind.allCases
    )
    func newKey(_ kind: KeyKind) {
        let key = KeyText(kind: kind, random: TestValues.random)
        #expect(key.text == "\(kind.rawValue)_AQgPFh0kKzI5QEdOVVxjanF4f4aNlJuiqbC3vsXM09o")
        #expect(key.digest == KeyDigest(of: key.text))
    }

    @Test("a key that an operator supplies has 32 to 256 visible ASCII characters")
    func operatorsOwn() {
        let visible = String(String.UnicodeScalarView((0x21...0x7e).compactMap(Unicode.Scalar.init)))
        for text in [String(repeating: "x", count: 32), String(repeating: "x", count: 256), visible] {
            #expect(KeyText(operatorsOwn: text)?.text == text)
        }
        let long = String(repeating: "x", count: 31)
        for text in [
            "", long, String(repeating: "x", count: 257), long + " ", long + "é", long + "\u{7f}",
            long + "\n", long + "\0",
        ] { #expect(KeyText(operatorsOwn: text) == nil) }
    }

    @Test("a key's text does not appear in descriptions and dumps")
    func hidden() {
        let key = KeyText(kind: .admin, random: TestValues.random)
        var dumped = ""
        dump(key, to: &dumped)
        #expect("\(key) \(String(reflecting: key)) \(dumped)".contains("AQgP") == false)
    }

    @Test("a digest is the SHA-256 of the text, has 32 bytes, and equals no digest that differs in one byte")
    func digest() throws {
        let digest = KeyDigest(of: "abc")
        #expect(digest.bytes.first == 0xba && digest.bytes.last == 0xad)
        #expect(KeyDigest(bytes: digest.bytes) == digest)
        let bytes = Array("abc".utf8)
        let ofSpan = KeyDigest(of: bytes.span)
        #expect(ofSpan == digest)
        #expect(KeyDigest(of: "ABC") != digest)
        #expect(KeyDigest(bytes: Array(digest.bytes.dropLast())) == nil)
        #expect(KeyDigest(bytes: []) == nil)
        for index in digest.bytes.indices {
            var bytes = digest.bytes
            bytes[index] ^= 1
            #expect(try #require(KeyDigest(bytes: bytes)) != digest)
        }
    }

    /// An app key with the text `x`.
    private let key = APIKey(
        id: KeyID(high: 1, low: 1),
        kind: .app,
        app: TestValues.app,
        label: "",
        digest: KeyDigest(of: "x"),
        createdAt: TestValues.noon
    )

    @Test("a key is valid until it is revoked or expires")
    func validity() {
        var key = key
        #expect(key.isValid(at: TestValues.noon))
        key.expiresAt = TestValues.noon
        #expect(!key.isValid(at: TestValues.noon))
        #expect(key.isValid(at: TestValues.noon.advanced(byMilliseconds: -1)))
        key.revokedAt = TestValues.noon
        #expect(!key.isValid(at: TestValues.noon.advanced(byMilliseconds: -1)))
    }

    @Test("a directory finds its apps by id and its keys by digest, and no others")
    func directory() {
        let app = App(id: TestValues.app, settings: App.Settings(name: "Shop"), createdAt: TestValues.noon)
        let directory = Directory(apps: [app], keys: [key])
        #expect(directory.app(TestValues.app) == app)
        #expect(directory.app(TestValues.otherApp) == nil)
        #expect(directory.key(KeyDigest(of: "x")) == key)
        #expect(directory.key(KeyDigest(of: "y")) == nil)
    }
}
