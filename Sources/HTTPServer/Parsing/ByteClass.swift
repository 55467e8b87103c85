/// The byte classes of RFC 9110 §5 and RFC 3986 §2, as bit sets of the 128 ASCII characters.
enum ByteClass {
    static let carriageReturn: UInt8 = 0x0D
    static let lineFeed: UInt8 = 0x0A
    static let space: UInt8 = 0x20
    static let tab: UInt8 = 0x09
    static let colon: UInt8 = 0x3A

    /// `tchar` (RFC 9110 §5.6.2): what names and methods are made of.
    @inline(__always)
    static func isToken(_ byte: UInt8) -> Bool {
        contains(byte, low: 0x03FF_6CFA_0000_0000, high: 0x57FF_FFFF_C7FF_FFFE)
    }

    /// The two kinds of white space that may stand around a field value (`OWS`, RFC 9110 §5.6.3).
    @inline(__always)
    static func isBlank(_ byte: UInt8) -> Bool {
        byte == space || byte == tab
    }

    /// What a field value may hold (RFC 9110 §5.5): visible characters, blanks and bytes from 0x80 on.
    @inline(__always)
    static func isFieldValue(_ byte: UInt8) -> Bool {
        byte >= 0x20 ? byte != 0x7F : byte == tab
    }

    /// What a request target may hold: the characters of RFC 3986, and those that browsers send bare in
    /// queries (`"<>[]\^`{|}`); never a blank, control byte, `#` or a byte from 0x80 on.
    @inline(__always)
    static func isTarget(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && byte != 0x23
    }

    /// `unreserved` and `sub-delims` of RFC 3986, the characters of a `reg-name` besides `%`.
    @inline(__always)
    static func isHostName(_ byte: UInt8) -> Bool {
        contains(byte, low: 0x2BFF_7FD2_0000_0000, high: 0x47FF_FFFE_87FF_FFFE)
    }

    @inline(__always)
    static func isDigit(_ byte: UInt8) -> Bool {
        byte &- 0x30 < 10
    }

    /// The value of a hexadecimal digit of either case.
    @inline(__always)
    static func hexValue(_ byte: UInt8) -> UInt8? {
        if isDigit(byte) { return byte &- 0x30 }
        let letter = lowercased(byte) &- 0x61
        return letter < 6 ? letter &+ 10 : nil
    }

    @inline(__always)
    static func lowercased(_ byte: UInt8) -> UInt8 {
        byte &- 0x41 < 26 ? byte | 0x20 : byte
    }

    @inline(__always)
    private static func contains(_ byte: UInt8, low: UInt64, high: UInt64) -> Bool {
        guard byte < 0x80 else { return false }
        return (byte < 0x40 ? low : high) &>> UInt64(byte & 0x3F) & 1 == 1
    }
}

extension ByteClass {
    /// Where a run of bytes of one class ends that begins at an index: at the first other byte, or with the
    /// bytes.
    @inline(__always)
    static func run(of isOfClass: (UInt8) -> Bool, in bytes: Span<UInt8>, from start: Int) -> Int {
        precondition(start >= 0, "a run of bytes begins among them")
        var index = start
        // The index is not negative, and found to be below the count.
        while index < bytes.count, isOfClass(unsafe bytes[unchecked: index]) { index += 1 }
        return index
    }

    /// Whether bytes are a lower-case text, in letters of either case.
    static func equals(_ bytes: Span<UInt8>, _ range: Range<Int>, lowercase text: StaticString) -> Bool {
        guard range.count == text.utf8CodeUnitCount else { return false }
        for offset in 0..<range.count {
            // A literal's bytes live as long as the process, and the offset is below their count.
            guard lowercased(bytes[range.lowerBound + offset]) == (unsafe text.utf8Start[offset]) else {
                return false
            }
        }
        return true
    }
}

extension ByteClass {
    /// Whether a text is a lower-case name, in letters of either case.
    static func equals(_ lowercase: String, _ text: String) -> Bool {
        lowercase.utf8.count == text.utf8.count
            && zip(lowercase.utf8, text.utf8).allSatisfy { $0 == lowercased($1) }
    }
}
