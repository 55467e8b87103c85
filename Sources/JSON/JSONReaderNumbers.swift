/// Numbers (RFC 8259 §6).
extension JSONReader {
    /// The number whose first byte is next.
    ///
    /// Its size does not matter here: it stays text.
    mutating func number() throws(JSONError) -> JSONNumber {
        let start = position
        skipOne(UInt8(ascii: "-"))
        if !skipOne(UInt8(ascii: "0")) { try skipDigits(from: start) }
        if skipOne(UInt8(ascii: ".")) { try skipDigits(from: start) }
        if skipOne(UInt8(ascii: "e")) || skipOne(UInt8(ascii: "E")) {
            if !skipOne(UInt8(ascii: "+")) { skipOne(UInt8(ascii: "-")) }
            try skipDigits(from: start)
        }
        // A leading zero, as in 012, ends the number above with a digit behind it.
        if position < bytes.count, Self.isDigit(bytes[position]) {
            throw JSONError(.malformedNumber, at: start)
        }
        return JSONNumber(text: String(decoding: bytes[start..<position], as: UTF8.self))
    }

    /// At least one digit.
    private mutating func skipDigits(from start: Int) throws(JSONError) {
        let first = position
        while position < bytes.count, Self.isDigit(bytes[position]) { position += 1 }
        guard position > first else { throw JSONError(.malformedNumber, at: start) }
    }

    @discardableResult
    private mutating func skipOne(_ byte: UInt8) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
    }
}
