import Attribution
import Testing

@Suite("Fingerprint")
struct FingerprintTests {
    private let hex = "0e91842a14dae57f0f7645e51008851fbc871ff8d26374c658812009e4735c4c"

    @Test("is the SHA-256 of a client's text")
    func ofText() { #expect(Fingerprint(of: "iPhone|17.2|390x844|Europe/Istanbul|tr").hex == hex) }

    @Test("reads 64 digits of either case and writes them in lower case")
    func reads() {
        let fingerprint = Fingerprint(of: "iPhone|17.2|390x844|Europe/Istanbul|tr")
        #expect(Fingerprint(hex: hex) == fingerprint)
        #expect(Fingerprint(hex: hex.uppercased()) == fingerprint)
        let digits = Array(hex.utf8)
        let ofSpan = Fingerprint(hexDigits: digits.span)
        #expect(ofSpan == fingerprint)
        #expect(Fingerprint(hex: String(repeating: "0", count: 64))?.hex == String(repeating: "0", count: 64))
        #expect(Fingerprint(hex: String(repeating: "F", count: 64))?.hex == String(repeating: "f", count: 64))
    }

    @Test("refuses every other length, and other characters at any position")
    func refuses() {
        for length in [0, 1, 32, 63, 65, 128] {
            #expect(Fingerprint(hex: String(repeating: "a", count: length)) == nil)
        }
        for position in 0..<64 {
            for wrong in ["g", "G", " ", "-", "/", ":", "@", "`", "\0"] {
                var digits = Array(hex)
                digits[position] = Character(wrong)
                #expect(Fingerprint(hex: String(digits)) == nil)
            }
        }
        // 64 characters, but more bytes.
        #expect(Fingerprint(hex: String(hex.dropLast()) + "é") == nil)
        #expect(Fingerprint(hex: "0x" + hex.dropLast(2)) == nil)
    }

    @Test("reads every byte as its digit or refuses it, at any position")
    func everyByte() {
        let digits = Array("0123456789abcdef".utf8)
        for position in 0..<64 {
            for byte in UInt8.min...UInt8.max {
                var bytes = Array(hex.utf8)
                bytes[position] = byte
                let small = byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "F") ? byte | 0x20 : byte
                var written = bytes
                written[position] = small
                let read = Fingerprint(hexDigits: bytes.span)
                guard read?.hex == (digits.contains(small) ? String(decoding: written, as: UTF8.self) : nil)
                else {
                    Issue.record("byte \(byte) at \(position) is read as \(read?.hex ?? "none")")
                    return
                }
            }
        }
    }
}
