internal import Attribution

/// The character set of a segment; in a smaller set, a character takes fewer bits.
package enum QRMode: Int, CaseIterable, Sendable {
    /// Digits; three of them take ten bits.
    case numeric
    /// Digits, capitals, space and `$%*+-./:`; two of them take eleven bits.
    case alphanumeric
    /// Bytes of UTF-8, eight bits each.
    case byte

    /// The four bits at the start of a segment in this mode.
    var indicator: UInt32 { 1 << UInt32(rawValue) }

    /// Returns the number of bits in which a segment states its length.
    func countBits(in sizes: QRVersionSizes) -> Int {
        [[10, 12, 14], [9, 11, 13], [8, 16, 16]][rawValue][sizes.rawValue]
    }

    /// Returns the average cost of a character in sixths of a bit; nil if the mode does not contain it.
    func sixthsOfBits(for byte: UInt8) -> Int? {
        switch self {
        case .numeric: byte.isASCIIDigit ? 20 : nil
        case .alphanumeric: Self.alphanumericValue(of: byte) == nil ? nil : 33
        case .byte: 48
        }
    }

    /// Returns the number of a character, 0…44; nil if the alphanumeric mode does not contain it.
    static func alphanumericValue(of byte: UInt8) -> UInt32? { alphanumericValues[Int(byte)] }

    private static let alphanumericValues: [UInt32?] = {
        var values = [UInt32?](repeating: nil, count: 256)
        for (value, byte) in "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:".utf8.enumerated() {
            values[Int(byte)] = UInt32(value)
        }
        return values
    }()
}

/// A part of a text in one mode.
package struct QRSegment: Equatable, Sendable {
    package let mode: QRMode
    package let bytes: ArraySlice<UInt8>

    package init(mode: QRMode, bytes: ArraySlice<UInt8>) {
        self.mode = mode
        self.bytes = bytes
    }

    /// Returns the number of bits of the segment with its mode and its length.
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
        // Three digits take ten bits; two remaining digits take seven, one takes four.
        case .numeric: appendGroups(of: 3, base: 10, bitsPerCharacter: 3, to: &bits)
        // Two characters take eleven bits; one remaining character takes six.
        case .alphanumeric: appendGroups(of: 2, base: 45, bitsPerCharacter: 5, to: &bits)
        case .byte: for byte in bytes { bits.append(UInt32(byte), count: 8) }
        }
    }

    /// Appends groups of digits or of alphanumeric characters; a digit has the same number in both modes.
    private func appendGroups(of length: Int, base: UInt32, bitsPerCharacter: Int, to bits: inout QRBits) {
        var remaining = bytes
        while !remaining.isEmpty {
            let group = remaining.prefix(length)
            let value = group.reduce(0) { $0 * base + (QRMode.alphanumericValue(of: $1) ?? 0) }
            bits.append(value, count: group.count * bitsPerCharacter + 1)
            remaining = remaining.dropFirst(length)
        }
    }
}

/// A sequence of bits in bytes, most significant bit first.
struct QRBits {
    private(set) var bytes: [UInt8] = []
    private(set) var count = 0

    /// Appends the lowest `added` bits (0…32) of `value`, the most significant first.
    mutating func append(_ value: UInt32, count added: Int) {
        for shift in (0..<UInt32(added)).reversed() {
            if count & 7 == 0 { bytes.append(0) }
            bytes[bytes.count - 1] |= UInt8(value >> shift & 1) << UInt8(7 - count & 7)
            count += 1
        }
    }
}

/// Splits a text into the segments that together take the fewest bits.
///
/// It computes, for each prefix of the text and each mode, the minimum cost of a segmentation that ends in that mode.
/// Costs are in sixths of a bit, so that the cost of a digit (10/3 bits) and of an alphanumeric character (11/2 bits)
/// is a whole number. The cost of a segment is rounded up, because its last group of characters takes whole bits.
package enum QRSegmentation {
    package static func segments(of bytes: [UInt8], in sizes: QRVersionSizes) -> [QRSegment] {
        let modes = QRMode.allCases
        let announcements = modes.map { 6 * (4 + $0.countBits(in: sizes)) }
        let impossible = Int.max / 2
        var costs = announcements
        // For each byte and each mode of this byte, the best mode of the byte before it.
        var previousModes: [UInt8] = []
        previousModes.reserveCapacity(bytes.count * modes.count)
        for (index, byte) in bytes.enumerated() {
            var next = [impossible, impossible, impossible]
            for mode in 0..<modes.count {
                guard let cost = modes[mode].sixthsOfBits(for: byte) else {
                    previousModes.append(UInt8(mode))
                    continue
                }
                var best = costs[mode]
                var previous = mode
                for other in 0..<modes.count where index > 0 && other != mode {
                    let switched = (costs[other] + 5) / 6 * 6 + announcements[mode]
                    if switched < best { (best, previous) = (switched, other) }
                }
                previousModes.append(UInt8(previous))
                next[mode] = min(best + cost, impossible)
            }
            costs = next
        }
        let rounded = costs.map { ($0 + 5) / 6 }
        var mode = rounded.indices.min { rounded[$0] < rounded[$1] } ?? QRMode.byte.rawValue
        // Follow the modes back from the last byte.
        var segments: [QRSegment] = []
        var end = bytes.count
        for index in bytes.indices.reversed() {
            let previous = Int(previousModes[index * modes.count + mode])
            guard previous != mode || index == 0 else { continue }
            segments.append(QRSegment(mode: modes[mode], bytes: bytes[index..<end]))
            end = index
            mode = previous
        }
        return segments.reversed()
    }
}
