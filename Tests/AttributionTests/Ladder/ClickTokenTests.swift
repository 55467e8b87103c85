import Attribution
import Support
import Testing

@Suite("A click token")
struct ClickTokenTests {
    private let key: ServerKey
    private let olderKey: ServerKey
    private let apps = [TestValues.otherApp, TestValues.app]
    private let click = ClickID(high: 0x0199_0000_0000_0001, low: 0x8899_aabb_ccdd_eeff)
    private let end = TestValues.noon.advanced(byMilliseconds: 86_400_000)

    init() throws {
        key = try #require(ServerKey(bytes: Array(0..<32)))
        olderKey = try #require(ServerKey(bytes: Array(1...32)))
    }

    private func token(of app: AppID = TestValues.app, until end: Timestamp? = nil, by key: ServerKey? = nil)
        -> ClickToken
    { ClickToken(for: click, of: app, expiresAt: end ?? self.end, signedBy: key ?? self.key) }

    private func verified(
        _ text: String,
        of app: AppID = TestValues.app,
        by keys: [ServerKey]? = nil,
        at now: Timestamp = TestValues.noon
    ) throws(ClickTokenError) -> ClickToken {
        try ClickToken(verifying: text, of: app, among: apps, signedBy: keys ?? [key], at: now)
    }

    @Test("has 44 characters of base64url with the click and the end of its window")
    func roundTrip() throws {
        let token = token()
        #expect(token.text.utf8.count == ClickToken.textLength)
        #expect(token.text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0)) })
        let read = try verified(token.text)
        #expect(read == token)
        #expect(read.click == click)
        #expect(read.expiresAt == end)
    }

    // Stores and pasteboards keep tokens for a click's whole window. If this test fails, a new release refuses them.
    @Test("is the same as in earlier versions")
    func stability() throws {
        let text = "AQACAZkAAAAAAAGImaq7zN3u_2VVQoBE-p9yg4OqoBNX"
        #expect(token().text == text)
        #expect(try verified(text).click == click)
    }

    @Test("is refused with any changed bit")
    func flippedBits() throws {
        let bytes = try #require(Base64URL.bytes(of: token().text))
        for index in bytes.indices {
            for bit in 0..<8 {
                var changed = bytes
                changed[index] ^= 1 << UInt8(bit)
                let error = #expect(throws: ClickTokenError.self) {
                    try verified(Base64URL.text(of: changed))
                }
                #expect(error == (index == 0 ? .malformed : .altered))
                #expect(error?.reason == "token_invalid")
            }
        }
    }

    @Test("is refused with any changed, missing or added character")
    func changedText() throws {
        let text = Array(token().text.utf8)
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=. ~\u{0}"
        func refuses(_ bytes: [UInt8]) {
            #expect(throws: ClickTokenError.self) { try verified(String(decoding: bytes, as: UTF8.self)) }
        }
        for index in text.indices {
            for byte in alphabet.utf8 where byte != text[index] {
                var changed = text
                changed[index] = byte
                refuses(changed)
            }
            refuses(Array(text[..<index]))
            refuses(Array(text[(index + 1)...]))
            for byte in alphabet.utf8 { refuses(text[..<index] + [byte] + text[index...]) }
        }
        for byte in UInt8.min...UInt8.max { refuses(text + [byte]) }
        refuses(text + text)
    }

    @Test("is refused with added characters, and in standard base64", arguments: ["=", "==", "\n", " ", "A"])
    func spelling(more: String) throws {
        let text = token().text
        #expect(throws: ClickTokenError.malformed) { try verified(text + more) }
        #expect(throws: ClickTokenError.malformed) { try verified(more + text) }
        let standard = text.replacing("_", with: "/").replacing("-", with: "+")
        #expect(standard != text)
        #expect(throws: ClickTokenError.malformed) { try verified(standard) }
    }

    @Test("of another app is refused as another app's if the server knows that app, else as altered")
    func otherApp() throws {
        let other = token(of: TestValues.otherApp)
        #expect(throws: ClickTokenError.otherApp) { try verified(other.text) }
        #expect(try verified(other.text, of: TestValues.otherApp) == other)
        let ofUnknownApp = token(of: AppID(high: 9, low: 9))
        #expect(throws: ClickTokenError.altered) { try verified(ofUnknownApp.text) }
    }

    @Test("of another app with the same short id is refused")
    func sharedShortID() throws {
        let twin = AppID(high: 7, low: 0xabcd_0000 | TestValues.app.low)
        let apps = [TestValues.app, twin]
        let other = token(of: twin)
        #expect(throws: ClickTokenError.otherApp) {
            let now = TestValues.noon
            return try ClickToken(verifying: other.text, of: apps[0], among: apps, signedBy: [key], at: now)
        }
        #expect(throws: ClickTokenError.altered) { try verified(other.text) }
    }

    @Test("is valid as long as the server has the key that signed it")
    func rotation() throws {
        let old = token(by: olderKey)
        #expect(try verified(old.text, by: [key, olderKey]) == old)
        #expect(try verified(token().text, by: [key, olderKey]) == token())
        #expect(throws: ClickTokenError.altered) { try verified(old.text, by: [key]) }
        #expect(throws: ClickTokenError.altered) { try verified(old.text, by: []) }
        let others = token(of: TestValues.otherApp, by: olderKey)
        #expect(throws: ClickTokenError.otherApp) { try verified(others.text, by: [key, olderKey]) }
    }

    @Test(
        "is valid to the end of the second in which the window ends",
        arguments: [(0, 0), (1, 1000), (999, 1000), (1000, 1000), (-1, 0), (-999, 0), (-1000, -1000)]
            as [(Int64, Int64)]
    )
    func expiry(after: Int64, isWritten: Int64) throws {
        let token = token(until: end.advanced(byMilliseconds: after))
        let last = end.advanced(byMilliseconds: isWritten)
        #expect(token.expiresAt == last)
        #expect(try verified(token.text, at: last) == token)
        let late = last.advanced(byMilliseconds: 1)
        #expect(throws: ClickTokenError.expired) { try verified(token.text, at: late) }
        // A token that has expired is still reported as another app's or as altered.
        let others = self.token(of: TestValues.otherApp, until: end)
        #expect(throws: ClickTokenError.otherApp) { try verified(others.text, at: .latestWritten) }
        #expect(throws: ClickTokenError.altered) { try verified(token.text, by: [olderKey], at: late) }
    }

    @Test("contains the nearest possible time if the clock is far off")
    func impossibleClocks() throws {
        #expect(token(until: Timestamp(milliseconds: -5)).expiresAt == Timestamp(milliseconds: 0))
        #expect(token(until: Timestamp(milliseconds: .min)).expiresAt == Timestamp(milliseconds: 0))
        let end = Timestamp(milliseconds: Int64(UInt32.max) * 1000)
        #expect(token(until: Timestamp(milliseconds: .max)).expiresAt == end)
    }

    @Test("of any click, app and time is the same when read, and is refused under another key")
    func property() throws {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<300 {
            let app = AppID(high: random.next(), low: random.next())
            let click = ClickID(high: random.next(), low: random.next())
            let end = Timestamp(milliseconds: Int64.random(in: 0...4_000_000_000_000, using: &random))
            let made = ClickToken(for: click, of: app, expiresAt: end, signedBy: key)
            let read = try ClickToken(verifying: made.text, of: app, among: [app], signedBy: [key], at: end)
            #expect(read == made && read.click == click && read.expiresAt >= end)
            #expect(throws: ClickTokenError.altered) {
                try ClickToken(verifying: made.text, of: app, among: [app], signedBy: [olderKey], at: end)
            }
        }
    }

    @Test("has a reason and a message for each refusal")
    func messages() {
        for error in ClickTokenError.allCases {
            #expect(error.message.count > 20)
            #expect(["token_invalid", "other_app", "expired"].contains(error.reason))
        }
    }
}
