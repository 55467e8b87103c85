/// Base64 with the alphabet for URLs and file names, without padding (RFC 4648 §5).
public enum Base64URL {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    public static func text(of bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count * 4 + 2) / 3)
        var buffer: UInt32 = 0
        var bitCount: UInt32 = 0
        for byte in bytes {
            buffer = buffer << 8 | UInt32(byte)
            bitCount += 8
            while bitCount >= 6 {
                bitCount -= 6
                text.append(digits[Int(buffer >> bitCount & 63)])
            }
        }
        if bitCount > 0 { text.append(digits[Int(buffer << (6 - bitCount) & 63)]) }
        return String(decoding: text, as: UTF8.self)
    }
}
