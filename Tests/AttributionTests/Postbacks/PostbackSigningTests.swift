import Attribution
import Crypto
import Testing

/// Tests signatures as in Standard Webhooks 1.0, and the encryption of secrets.
@Suite("Signatures of postbacks")
struct PostbackSigningTests {
    static let random = RandomSource { count in (0..<count).map { UInt8($0 & 0xff) } }
    static let keys = ServerKeys(key(7)[0], former: key(8))

    private static func key(_ byte: UInt8) -> [ServerKey] {
        [ServerKey(bytes: [UInt8](repeating: byte, count: ServerKey.byteCount))].compactMap(\.self)
    }

    /// The secret in the test vector of the reference libraries.
    static let vector = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    @Test("agree with the test vector of the reference libraries")
    func vector() throws {
        let secret = try #require(PostbackSecret(Self.vector))
        let at = Timestamp(milliseconds: 1_614_265_330_000)
        let body = Array(#"{"test": 2432232314}"#.utf8)
        let message = PostbackMessage(id: "msg_p5jXN8AQM9LWM0D4loKWxJek", at: at, body: body)
        let signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
        #expect(message.fields(signedBy: [secret]).map(\.value) == [message.id, "1614265330", signature])
        #expect(secret.text == Self.vector)
        func problem(_ change: (inout [UInt8], inout String, inout Int64) -> Void) -> String? {
            var (body, id, seconds) = (body, message.id, Int64(1_614_265_330))
            change(&body, &id, &seconds)
            return PostbackMessage.problem(
                id: id,
                timestamp: String(seconds),
                signatures: "v1,AAAA v1a,x \(signature)",
                body: body,
                secret: secret,
                now: at
            )
        }
        #expect(problem { _, _, _ in } == nil)
        #expect(problem { body, _, _ in body[3] ^= 1 } == "no signature was made with this secret")
        #expect(problem { _, id, _ in id += "x" } == "no signature was made with this secret")
        #expect(problem { _, _, seconds in seconds += 1 } == "no signature was made with this secret")
        #expect(problem { _, _, seconds in seconds += 301 }?.hasPrefix("the timestamp") == true)
        for limit in [Int64.min, .max] {
            #expect(problem { _, _, seconds in seconds = limit }?.hasPrefix("the timestamp") == true)
        }
        #expect(problem { _, id, _ in id = "" }?.hasPrefix("a header field is missing") == true)
    }

    @Test("a secret has 24 to 64 bytes in base64", arguments: [23, 24, 25, 26, 64, 65])
    func length(count: Int) throws {
        let secret = PostbackSecret(bytes: [UInt8](repeating: 0xfb, count: count))
        guard (24...64).contains(count) else {
            #expect(secret == nil)
            return
        }
        let text = try #require(secret).text
        #expect(PostbackSecret(text)?.bytes == secret?.bytes)
        #expect(text.hasPrefix("whsec_") && text.dropFirst(6).count % 4 == 0)
    }

    @Test(
        "other texts are no secrets",
        arguments: ["", "whsec_", "whsec_!!", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]
    )
    func noSecret(text: String) { #expect(PostbackSecret(text) == nil) }

    @Test("a secret can be decrypted only with the key that encrypted it, and only for its endpoint")
    func sealing() throws {
        let id = EndpointID(high: 1, low: 2)
        let (keys, former) = (Self.keys, try #require(Self.keys.others.first))
        let secret = [UInt8](0..<32)
        var sealed = former.seal(secret, of: id, random: Self.random)
        #expect(keys.open(sealed, of: id) == secret)
        #expect(keys.current.open(sealed, of: id) == nil)
        #expect(keys.open(sealed, of: EndpointID(high: 1, low: 3)) == nil)
        #expect(!sealed.contains(secret))
        sealed[sealed.count - 1] ^= 1
        #expect(keys.open(sealed, of: id) == nil)
    }

    @Test("during a rotation both secrets sign, and afterwards the new one alone")
    func rotation() throws {
        var draft = PostbackDraft()
        (draft.url, draft.types) = ("https://example.com/hook", ["match.created"])
        let now = Timestamp(milliseconds: 1_700_000_000_000)
        let app = AppID(high: 1, low: 1)
        var (endpoint, first) = try draft.endpoint(of: app, keys: Self.keys, at: now, random: Self.random)
        #expect(endpoint.secrets(Self.keys, at: now).map(\.text) == [first.text])
        let second = try #require(PostbackSecret(bytes: [UInt8](repeating: 1, count: 32)))
        endpoint.formerSecret = endpoint.secret
        endpoint.formerUntil = now.advanced(byMilliseconds: 1)
        endpoint.secret = Self.keys.current.seal(second.bytes, of: endpoint.id, random: Self.random)
        #expect(endpoint.secrets(Self.keys, at: now).map(\.text) == [second.text, first.text])
        let later = now.advanced(byMilliseconds: 1)
        #expect(endpoint.secrets(Self.keys, at: later).map(\.text) == [second.text])
        let event = OutboxEvent(id: OutboxEventID(high: 5, low: 6), type: "match.created", data: "{}")
        let call = try #require(PostbackCall(event, 1, to: endpoint, keys: Self.keys, at: now))
        let signatures = call.fields.first { $0.name == "webhook-signature" }?.value.split(separator: " ")
        let base = try #require(call.baseString)
        #expect(signatures?.map(String.init) == [second, first].map { $0.signature(of: base) })
    }
}
