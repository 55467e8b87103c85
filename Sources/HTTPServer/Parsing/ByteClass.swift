/// The byte classes of RFC 9110 §5 and RFC 3986 §2, with fast searches and comparisons.
enum ByteClass {
    static let carriageReturn: UInt8 = 0x0D
    static let lineFeed: UInt8 = 0x0A
    static let space: UInt8 = 0x20
    static let tab: UInt8 = 0x09
    static let colon: UInt8 = 0x3A

    /// `tchar` (RFC 9110 §5.6.2): the bytes of names and methods.
    @inline(__always)
    static func isToken(_ byte: UInt8) -> Bool {
        contains(byte, low: 0x03FF_6CFA_0000_0000, high: 0x57FF_FFFF_C7FF_FFFE)
    }

    /// The two kinds of white space that may surround a field value (`OWS`, RFC 9110 §5.6.3).
    @inline(__always)
    static func isBlank(_ byte: UInt8) -> Bool { byte == space || byte == tab }

    /// The bytes of a field value (RFC 9110 §5.5): visible characters, blanks and bytes from 0x80 on.
    @inline(__always)
    static func isFieldValue(_ byte: UInt8) -> Bool { byte >= 0x20 ? byte != 0x7F : byte == tab }

    /// The bytes of a request target: all visible ASCII characters except `#`.
    ///
    /// They include `"`, `<`, `>`, `\`, `^`, `` ` ``, `{`, `|` and `}`, which RFC 3986 does not allow. Browsers send
    /// some of these unencoded in queries.
    @inline(__always)
    static func isTarget(_ byte: UInt8) -> Bool { byte > 0x20 && byte < 0x7F && byte != 0x23 }

    /// `unreserved` and `sub-delims` of RFC 3986: the characters of a `reg-name` apart from `%`.
    @inline(__always)
    static func isHostName(_ byte: UInt8) -> Bool {
        contains(byte, low: 0x2BFF_7FD2_0000_0000, high: 0x47FF_FFFE_87FF_FFFE)
    }

    @inline(__always)
    static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

    /// Returns the value of a hexadecimal digit, a letter of either case included; `nil` for any other byte.
    @inline(__always)
    static func hexValue(_ byte: UInt8) -> UInt8? {
        if isDigit(byte) { return byte &- 0x30 }
        let letter = lowercased(byte) &- 0x61
        return letter < 6 ? letter &+ 10 : nil
    }

    @inline(__always)
    static func lowercased(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }

    @inline(__always)
    private static func contains(_ byte: UInt8, low: UInt64, high: UInt64) -> Bool {
        guard byte < 0x80 else { return false }
        return (byte < 0x40 ? low : high) &>> UInt64(byte & 0x3F) & 1 == 1
    }
}

extension ByteClass {
    /// Returns the index of the first byte from `start` on that is not of a class, or the count of all bytes.
    @inline(__always)
    static func run(of isOfClass: (UInt8) -> Bool, in bytes: Span<UInt8>, from start: Int) -> Int {
        precondition(start >= 0, "the start of a run of bytes is not negative")
        var index = start
        // The index is not negative, and the loop's condition keeps it below the count.
        while index < bytes.count, isOfClass(unsafe bytes[unchecked: index]) { index += 1 }
        return index
    }

    /// Returns the index of the first byte from `start` on that is not of a field value, or the count of all bytes.
    ///
    /// It reads eight bytes at a time until one of them is a control byte, such as a tab, and then single bytes.
    @inline(__always)
    static func runOfFieldValue(in bytes: Span<UInt8>, from start: Int) -> Int {
        words(of: bytes, from: start) { word in
            // In the first operand, the highest bit of each byte is set for a control byte; in the second, for 0x7F.
            ((word &- every(0x20)) & ~word | lowBytes(equal: 0x7f, in: word)) & every(0x80) == 0
        } then: {
            run(of: isFieldValue, in: bytes, from: $0)
        }
    }

    /// Returns the index of the first byte from `start` on that is not of a request target, or the count of all bytes.
    @inline(__always)
    static func runOfTarget(in bytes: Span<UInt8>, from start: Int) -> Int {
        words(of: bytes, from: start) { word in
            ((word &- every(0x21)) | word | lowBytes(equal: 0x7f, in: word) | lowBytes(equal: 0x23, in: word))
                & every(0x80) == 0
        } then: {
            run(of: isTarget, in: bytes, from: $0)
        }
    }

    /// Returns the index of the first byte that equals one of two bytes below 0x80, or the count of all bytes.
    @inline(__always)
    static func run(without first: UInt8, or second: UInt8, in bytes: Span<UInt8>) -> Int {
        words(of: bytes, from: 0) { word in
            (lowBytes(equal: first, in: word) | lowBytes(equal: second, in: word)) & every(0x80) == 0
        } then: {
            run(of: { $0 != first && $0 != second }, in: bytes, from: $0)
        }
    }

    /// Skips words of eight bytes that `areOfClass` accepts, and passes the index of the next byte to `finish`.
    @inline(__always)
    private static func words(
        of bytes: Span<UInt8>,
        from start: Int,
        while areOfClass: (UInt64) -> Bool,
        then finish: (Int) -> Int
    ) -> Int {
        precondition(start >= 0, "the start of a run of bytes is not negative")
        var index = start
        while index <= bytes.count - 8 {
            // The index is not negative and at least eight below the count, so the eight bytes exist.
            guard areOfClass(unsafe word(of: bytes, at: index)) else { break }
            index += 8
        }
        return finish(index)
    }

    /// Returns eight bytes as a word, the first byte lowest; the caller must have checked that they exist.
    @inline(__always)
    @unsafe private static func word(of bytes: Span<UInt8>, at index: Int) -> UInt64 {
        unsafe bytes.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt64.self).littleEndian
    }

    /// Returns a word that repeats one byte eight times.
    @inline(__always)
    private static func every(_ byte: UInt8) -> UInt64 { UInt64(byte) &* 0x0101_0101_0101_0101 }

    /// Returns a word with the highest bit set in each byte that equals the given one; the other bits mean nothing.
    ///
    /// In bytes after the first equal byte, the bit may be set wrongly.
    @inline(__always)
    private static func lowBytes(equal byte: UInt8, in word: UInt64) -> UInt64 {
        let difference = word ^ every(byte)
        return (difference &- every(0x01)) & ~difference
    }

    /// Returns whether two names are equal apart from the case of their ASCII letters.
    ///
    /// It compares eight bytes at a time, as long as all of them are ASCII, and then single bytes.
    static func equals(_ left: Span<UInt8>, inEitherCase right: Span<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        var index = 0
        while index <= left.count - 8 {
            // The index is not negative and at least eight below both counts, so the eight bytes exist.
            let (one, other) = unsafe (word(of: left, at: index), word(of: right, at: index))
            guard (one | other) & every(0x80) == 0 else { break }
            // The highest bit of each byte is set for a letter. No sum carries into the next byte.
            let small = one | every(0x20)
            let letters = (small &+ every(0x80 - 0x61)) & ~(small &+ every(0x80 - 0x7b)) & every(0x80)
            // Letters may differ in the bit for the case.
            guard (one ^ other) & ~(letters &>> 2) == 0 else { return false }
            index += 8
        }
        while index < left.count {
            guard lowercased(left[index]) == lowercased(right[index]) else { return false }
            index += 1
        }
        return true
    }

    /// Returns whether bytes equal a lower-case text apart from the case of letters.
    static func equals(_ bytes: Span<UInt8>, _ range: Range<Int>, lowercase text: StaticString) -> Bool {
        guard range.count == text.utf8CodeUnitCount else { return false }
        for offset in 0..<range.count {
            // The bytes of a literal are never freed, and the offset is below their count.
            guard lowercased(bytes[range.lowerBound + offset]) == (unsafe text.utf8Start[offset]) else {
                return false
            }
        }
        return true
    }
}

extension ByteClass {
    /// Returns whether a text equals a lower-case name apart from the case of letters.
    static func equals(_ lowercase: String, _ text: String) -> Bool {
        equals(lowercase.utf8.span, inEitherCase: text.utf8.span)
    }
}
