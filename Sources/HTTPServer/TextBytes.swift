/// Writing texts and numbers: every answer and every line of the log have some.
extension [UInt8] {
    /// Appends a text in UTF-8.
    package mutating func append(_ text: String) {
        // The text's own bytes are copied while they are lent.
        unsafe text.utf8.span.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }

    /// Appends a number in decimal digits.
    ///
    /// From the last digit on, so that all divisions are by ten, for which no processor has to divide.
    package mutating func append(decimal number: UInt64) {
        var digits = [20 of UInt8](repeating: 0)
        var start = digits.count
        var rest = number
        repeat {
            start -= 1
            digits[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
        append(addingCapacity: digits.count - start) { free in
            for index in start..<digits.count { free.append(digits[index]) }
        }
    }
}
