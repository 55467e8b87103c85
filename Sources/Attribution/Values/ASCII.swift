/// The properties of a byte as an ASCII character.
extension UInt8 {
    package var isASCIILetter: Bool {
        let lowercased = self | 0x20
        return lowercased >= UInt8(ascii: "a") && lowercased <= UInt8(ascii: "z")
    }

    package var isASCIIDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }

    package var isASCIIAlphanumeric: Bool { isASCIILetter || isASCIIDigit }

    package var asciiLowercased: UInt8 {
        self >= UInt8(ascii: "A") && self <= UInt8(ascii: "Z") ? self | 0x20 : self
    }

    /// Space and tab.
    var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}

extension ArraySlice<UInt8> {
    /// The bytes without spaces and tabs at both ends.
    var trimmed: ArraySlice<UInt8> {
        guard let first = firstIndex(where: { !$0.isBlank }), let last = lastIndex(where: { !$0.isBlank })
        else {
            return []
        }
        return self[first...last]
    }
}

extension String {
    /// The text with ASCII capitals in lower case.
    package var asciiLowercased: String { String(decoding: utf8.map(\.asciiLowercased), as: UTF8.self) }

    /// The text without spaces, tabs and line breaks at both ends.
    package var trimmed: String {
        let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0d).contains(byte) }
        guard let first = utf8.firstIndex(where: { !isSpace($0) }),
            let last = utf8.lastIndex(where: { !isSpace($0) })
        else { return "" }
        return String(self[first...last])
    }
}

extension StringProtocol {
    /// Returns the first range of the text `part`, compared byte by byte.
    package func range(ofASCII part: String) -> Range<Index>? {
        let bytes = utf8
        guard let first = part.utf8.first else { return startIndex..<startIndex }
        var start = bytes.startIndex
        while let candidate = bytes[start...].firstIndex(of: first) {
            let rest = bytes[candidate...]
            if rest.starts(with: part.utf8) {
                return candidate..<bytes.index(candidate, offsetBy: part.utf8.count)
            }
            start = bytes.index(after: candidate)
        }
        return nil
    }
}
