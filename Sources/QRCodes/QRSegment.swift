/// A piece of a text in one mode.
package struct QRSegment: Equatable, Sendable {
    package let mode: QRMode
    package let bytes: ArraySlice<UInt8>

    package init(mode: QRMode, bytes: ArraySlice<UInt8>) {
        self.mode = mode
        self.bytes = bytes
    }

    /// With its announcement.
    package func bitCount(in sizes: QRVersionSizes) -> Int {
        let body =
            switch mode {
            case .numeric: (bytes.count * 10 + 2) / 3
            case .alphanumeric: (bytes.count * 11 + 1) / 2
            case .byte: bytes.count * 8
            }
        return 4 + mode.countBits(in: sizes) + body
    }

    func append(to bits: inout QRBits, in sizes: QRVersionSizes) {
        bits.append(mode.indicator, count: 4)
        bits.append(UInt32(bytes.count), count: mode.countBits(in: sizes))
        switch mode {
        case .numeric: appendDigits(to: &bits)
        case .alphanumeric: appendPairs(to: &bits)
        case .byte: for byte in bytes { bits.append(UInt32(byte), count: 8) }
        }
    }

    /// Three digits in ten bits; two left over in seven, one in four.
    private func appendDigits(to bits: inout QRBits) {
        var rest = bytes
        while !rest.isEmpty {
            let group = rest.prefix(3)
            let value = group.reduce(0) { $0 * 10 + UInt32($1 - UInt8(ascii: "0")) }
            bits.append(value, count: group.count * 3 + 1)
            rest = rest.dropFirst(3)
        }
    }

    /// Two characters in eleven bits; one left over in six.
    private func appendPairs(to bits: inout QRBits) {
        var rest = bytes
        while !rest.isEmpty {
            let group = rest.prefix(2)
            let value = group.reduce(0) { $0 * 45 + (QRMode.alphanumericValue(of: $1) ?? 0) }
            bits.append(value, count: group.count * 5 + 1)
            rest = rest.dropFirst(2)
        }
    }
}

/// Bits that become bytes, the most significant first.
struct QRBits {
    private(set) var bytes: [UInt8] = []
    private(set) var count = 0

    /// Appends the lowest `count` bits of `value`, 1…24.
    mutating func append(_ value: UInt32, count added: Int) {
        var left = added
        while left > 0 {
            let used = count & 7
            if used == 0 { bytes.append(0) }
            let taken = min(8 - used, left)
            left -= taken
            let piece = value >> UInt32(left) & (1 << UInt32(taken) - 1)
            bytes[bytes.count - 1] |= UInt8(truncatingIfNeeded: piece << UInt32(8 - used - taken))
            count += taken
        }
    }
}
