/// Writes texts and numbers into bytes, for responses and log lines.
extension [UInt8] {
    /// Appends a text in UTF-8.
    package mutating func append(_ text: String) {
        // The text lends its bytes for the call, which copies them.
        unsafe text.utf8.span.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }

    /// Appends a number in decimal digits.
    ///
    /// It starts with the last digit, so that every division is by ten, which compiles to a multiplication.
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
