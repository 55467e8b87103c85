/// Compresses rows of bytes that repeat themselves, along a row and from row to row.
///
/// One block with the fixed codes: whoever reads it needs no table, and rows of a QR code hold so little that tables of
/// its own would not pay. Source: RFC 1951.
package struct DeflateStream {
    private var bytes: [UInt8] = []
    /// Bits that make no byte yet, the first lowest.
    private var pending: UInt64 = 0
    private var pendingCount: UInt64 = 0

    private static let longestMatch = 258
    private static let shortestMatch = 3

    package init() {
        // The last block, with fixed codes.
        append(0b011, count: 3)
    }

    /// Appends a row that may be at most 32 KiB, `previous` being what was appended last, or empty.
    ///
    /// Each stretch is taken from one byte before or from the row before, whichever gives more.
    package mutating func append(_ row: [UInt8], after previous: [UInt8]) {
        var index = 0
        while index < row.count {
            let run = index > 0 ? Self.matchLength(row, index, row, index - 1) : 0
            let copy = previous.count == row.count ? Self.matchLength(row, index, previous, index) : 0
            let length = max(run, copy)
            if length >= Self.shortestMatch {
                appendMatch(length: length, distance: run > copy ? 1 : row.count)
                index += length
            } else {
                appendSymbol(Int(row[index]))
                index += 1
            }
        }
    }

    /// Appends the last `length` bytes, 3 to 32,768, so many times more.
    package mutating func repeatLast(_ length: Int, count: Int) {
        var left = length * count
        while left > 0 {
            // Two bytes alone cannot be repeated: some are left for them.
            let rest = left - Self.longestMatch
            let taken =
                (1..<Self.shortestMatch).contains(rest)
                ? left - Self.shortestMatch
                : min(left, Self.longestMatch)
            appendMatch(length: taken, distance: length)
            left -= taken
        }
    }

    package consuming func finished() -> [UInt8] {
        appendSymbol(256)
        append(0, count: 7)
        return bytes
    }

    private static func matchLength(_ row: [UInt8], _ start: Int, _ other: [UInt8], _ place: Int) -> Int {
        let most = min(longestMatch, row.count - start)
        var length = 0
        while length < most, row[start + length] == other[place + length] { length += 1 }
        return length
    }

    private mutating func appendMatch(length: Int, distance: Int) {
        let (lengthSymbol, lengthBits, lengthRest) = Self.lengthCode(length)
        appendSymbol(lengthSymbol)
        append(lengthRest, count: lengthBits)
        let (code, extraBits, rest) = Self.distanceCode(distance)
        append(Self.reversed(code, count: 5), count: 5)
        append(rest, count: extraBits)
    }

    /// The symbol of a length, and the bits behind it: lengths share symbols, four for each power of two.
    private static func lengthCode(_ length: Int) -> (symbol: Int, bitCount: Int, bits: Int) {
        let value = length - shortestMatch
        if length == longestMatch { return (285, 0, 0) }
        if value < 8 { return (257 + value, 0, 0) }
        let bitCount = Int.bitWidth - 3 - value.leadingZeroBitCount
        return (261 + 4 * bitCount + value >> bitCount & 3, bitCount, value & (1 << bitCount - 1))
    }

    /// Likewise with distances, two codes for each power of two.
    private static func distanceCode(_ distance: Int) -> (code: Int, bitCount: Int, bits: Int) {
        let value = distance - 1
        if value < 4 { return (value, 0, 0) }
        let bitCount = Int.bitWidth - 2 - value.leadingZeroBitCount
        return (2 * bitCount + 2 + value >> bitCount & 1, bitCount, value & (1 << bitCount - 1))
    }

    /// A literal byte, the end of the block (256) or a length, in its fixed code.
    private mutating func appendSymbol(_ symbol: Int) {
        let (code, count) =
            switch symbol {
            case 0...143: (0x30 + symbol, 8)
            case 144...255: (0x190 + symbol - 144, 9)
            case 256...279: (symbol - 256, 7)
            default: (0xc0 + symbol - 280, 8)
            }
        append(Self.reversed(code, count: count), count: count)
    }

    /// Codes go highest bit first, all else lowest bit first.
    private static func reversed(_ code: Int, count: Int) -> Int {
        var rest = code
        var reversed = 0
        for _ in 0..<count {
            reversed = reversed << 1 | rest & 1
            rest >>= 1
        }
        return reversed
    }

    private mutating func append(_ bits: Int, count: Int) {
        pending |= UInt64(truncatingIfNeeded: bits) << pendingCount
        pendingCount += UInt64(truncatingIfNeeded: count)
        while pendingCount >= 8 {
            bytes.append(UInt8(truncatingIfNeeded: pending))
            pending >>= 8
            pendingCount -= 8
        }
    }
}
