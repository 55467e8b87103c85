import Attribution
import Crypto
import Foundation
import JSON
import Server
import Support
import Testing

/// Apple's signatures, on the samples that Apple has published.
@Suite("Signatures of Apple's postbacks")
struct AppleSignatureTests {
    private static func object(_ text: String) throws -> JSONObject {
        try #require(try JSONValue(parsing: Array(text.utf8)).object)
    }

    private static func read(_ text: String) throws -> SignedApplePostback {
        try ApplePostbackJSON.signed(object(text))
    }

    /// Returns the verification of a body; nil if it is malformed.
    private static func verification(_ text: String) -> AppleVerification? {
        try? read(text).verification
    }

    @Test("verify under Apple's keys, whatever the order of the members", arguments: AppleSamples.skAdNetwork)
    func genuine(sample: String) throws {
        let signed = try Self.read(sample)
        #expect(signed.verification == .valid)
        #expect(signed.environment == .production)
        #expect(signed.postback.item == "525463029")
        let members = try Self.object(sample).members
        let reversed = JSONWriter.object { json in
            for member in members.reversed() { json.member(member.name) { $0.value(member.value) } }
        }
        #expect(Self.verification(reversed.text) == .valid)
    }

    @Test("of AdAttributionKit verify, count as development, and keep all digits of identifiers")
    func kit() throws {
        let signed = try Self.read(AppleSamples.adAttributionKit)
        #expect(signed.verification == .valid)
        #expect(signed.environment == .development)
        #expect(signed.postback.item == "10738027756")
        #expect(signed.postback.publisher == "0")
        #expect(signed.postback.conversionType == "re-engagement")
        #expect(signed.postback.fineValue == 24)
    }

    @Test("do not verify after any bit of a signed value is flipped", arguments: AppleSamples.skAdNetwork)
    func flipped(sample: String) throws {
        let unsigned = ["conversion-value", "coarse-conversion-value"]
        var count = 0
        for member in try Self.object(sample).members where !unsigned.contains(member.name) {
            let text = try #require(
                member.value.string ?? member.value.number?.text ?? member.value.bool.map { "\($0)" }
            )
            let range = try #require(sample.range(of: #""\#(member.name)":"#))
            let start = try #require(sample.range(of: text, range: range.upperBound..<sample.endIndex))
            let offset = sample.utf8.distance(from: sample.startIndex, to: start.lowerBound)
            for position in 0..<text.utf8.count {
                for bit in 0..<7 {
                    var bytes = Array(sample.utf8)
                    bytes[offset + position] ^= 1 << bit
                    let changed = Self.verification(String(decoding: bytes, as: UTF8.self))
                    #expect(changed != .valid, "\(member.name) \(position) \(bit)")
                    count += 1
                }
            }
        }
        #expect(count > 500)
    }

    @Test("of AdAttributionKit do not verify after any bit of the JWS is flipped")
    func flippedKit() throws {
        let sample = AppleSamples.adAttributionKit
        let jws = try #require(try Self.object(sample)["jws-string"]?.string)
        let offset = try #require(sample.range(of: jws)).lowerBound
        let start = sample.utf8.distance(from: sample.startIndex, to: offset)
        for position in 0..<jws.utf8.count {
            for bit in 0..<7 {
                var bytes = Array(sample.utf8)
                bytes[start + position] ^= 1 << bit
                #expect(
                    Self.verification(String(decoding: bytes, as: UTF8.self)) != .valid,
                    "\(position) \(bit)"
                )
            }
        }
    }

    @Test("stay valid when unsigned values change, which is why these are never trusted")
    func unsigned() {
        let changed = AppleSamples.version4.replacing(
            "\"conversion-value\":63",
            with: "\"conversion-value\":1"
        )
        #expect(Self.verification(changed) == .valid)
        let country = AppleSamples.adAttributionKit.replacing("\"US\"", with: "\"TR\"")
        #expect(Self.verification(country) == .valid)
    }

    @Test(
        "ignore the fields of later versions, which their signatures do not cover",
        arguments: [
            (AppleSamples.version3, #""postback-sequence-index":1"#),
            (AppleSamples.version3, #""source-identifier":"1234""#),
            (AppleSamples.version21, #""did-win":false"#), (AppleSamples.version21, #""fidelity-type":1"#),
            (AppleSamples.version21, #""postback-sequence-index":2"#),
        ]
    )
    func fieldsOfLaterVersions(sample: String, field: String) throws {
        let changed = try Self.read("{\(field),\(sample.dropFirst())")
        #expect(changed.verification == .valid)
        #expect(try changed.postback == Self.read(sample).postback)
    }

    @Test(
        "without a known key are unverifiable, and not invalid",
        arguments: [
            AppleSamples.version21.replacing("\"2.1\"", with: "\"2.0\""),
            AppleSamples.version21.replacing("\"version\":\"2.1\",", with: ""),
            AppleSamples.version4.replacing("\"4.0\"", with: "\"5.0\""),
        ]
    )
    func unverifiable(sample: String) {
        #expect(Self.verification(sample) == .unverifiable)
    }

    @Test(
        "are not read from malformed postbacks",
        arguments: [
            (
                AppleSamples.version4, "\"source-domain\":\"example.com\"",
                "\"source-domain\":\"example.com\",\"source-app-id\":1"
            ),
            (AppleSamples.version4, "\"redownload\":false", "\"redownload\":\"false\""),
            (AppleSamples.version4, "\"redownload\":false", "\"redownload\":0"),
            (AppleSamples.version4, "\"app-id\":525463029", "\"app-id\":525463029.0"),
            (AppleSamples.version4, "\"app-id\":525463029", "\"app-id\":5.25463029e8"),
            (AppleSamples.version4, "\"conversion-value\":63", "\"conversion-value\":64"),
            (AppleSamples.version4, "\"source-identifier\":\"5239\",", ""),
            (AppleSamples.version4, "com.example", "com.example\u{2063}5239"),
            (AppleSamples.version3, "\"did-win\":true", "\"did-win\":null"),
            (AppleSamples.adAttributionKit, "eyJraWQi", "eyJraWQi="),
            (AppleSamples.adAttributionKit, ".bAdN", "..bAdN"),
        ]
    )
    func malformed(sample: String, part: String, replacement: String) {
        #expect(sample.contains(part))
        #expect(Self.verification(sample.replacing(part, with: replacement)) == nil)
    }

    @Test(
        "of version 2.2 cover its fields in the documented order, with and without a publisher",
        arguments: [true, false]
    )
    func version22(hasPublisher: Bool) throws {
        let key = try SigningKey()
        let keys = ApplePublicKeys(skAdNetwork: key.publicKey, named: [:])
        var values: [String: PostbackValue] = [
            "version": .text("2.2"), "ad-network-id": .text("com.example"), "campaign-id": .number("42"),
            "app-id": .number("525463029"), "transaction-id": .text("6aafb7a5-0170-41b5-bbe4-fe71dedf1e28"),
            "redownload": .flag(true), "fidelity-type": .number("0"),
        ]
        if hasPublisher { values["source-app-id"] = .number("1234567891") }
        let texts =
            [
                "2.2", "com.example", "42", "525463029", "6aafb7a5-0170-41b5-bbe4-fe71dedf1e28", "true",
            ] + (hasPublisher ? ["1234567891"] : []) + ["0"]
        let signature = try key.sign(Array(texts.joined(separator: "\u{2063}").utf8))
        values["attribution-signature"] = .text(Data(signature).base64EncodedString())
        #expect(try SignedApplePostback(skAdNetwork: values, keys: keys).verification == .valid)
        #expect(try SignedApplePostback(skAdNetwork: values).verification == .invalid)
        values["fidelity-type"] = .number("1")
        #expect(try SignedApplePostback(skAdNetwork: values, keys: keys).verification == .invalid)
    }

    @Test("of AdAttributionKit need a known key, and 64 bytes, whatever algorithm the header names")
    func headers() throws {
        let key = try SigningKey()
        let payload =
            #"{"postback-identifier":"P","ad-network-identifier":"n","advertised-item-identifier":1,"did-win":true,"postback-sequence-index":2}"#
        func verdict(_ header: String, cut: Int = 0, known: String = "apple-cas-identifier/0") throws
            -> SignedApplePostback
        {
            let message =
                Base64URL.text(of: Array(header.utf8)) + "." + Base64URL.text(of: Array(payload.utf8))
            let raw = Self.raw(try key.sign(Array(message.utf8))).dropLast(cut)
            let jws = message + "." + Base64URL.text(of: Array(raw))
            let keys = ApplePublicKeys(skAdNetwork: [], named: [known: key.publicKey])
            return try SignedApplePostback(adAttributionKit: ["jws-string": .text(jws)], keys: keys) {
                bytes in
                (try? JSONValue(parsing: bytes))?.object.map { object in
                    Dictionary(
                        uniqueKeysWithValues: object.members.map { member in
                            let value: PostbackValue =
                                switch member.value {
                                case .string(let text): .text(text)
                                case .number(let number): .number(number.text)
                                case .bool(let flag): .flag(flag)
                                default: .other
                                }
                            return (member.name, value)
                        }
                    )
                }
            }
        }
        let good = #"{"kid":"apple-cas-identifier\/0","alg":"ES256"}"#
        #expect(try verdict(good).verification == .valid)
        #expect(try verdict(good).environment == .production)
        #expect(try verdict(good.replacing("ES256", with: "none")).verification == .valid)
        #expect(try verdict(good, cut: 1).verification == .invalid)
        #expect(try verdict(good, known: "other").verification == .unverifiable)
        #expect(try verdict("{}").verification == .unverifiable)
    }

    /// Returns R and S of a DER signature, each as 32 bytes.
    private static func raw(_ der: [UInt8]) -> [UInt8] {
        var (position, raw) = (2, [UInt8]())
        for _ in 0..<2 {
            let count = Int(der[position + 1])
            let digits = der[(position + 2)..<(position + 2 + count)].drop { $0 == 0 }
            raw += [UInt8](repeating: 0, count: 32 - digits.count) + digits
            position += 2 + count
        }
        return raw
    }
}
