/// Compresses rows of bytes; it suits rows in which most bytes equal the byte before or the byte of the previous row.
///
/// The stream is one block with the fixed codes, because a table of codes would be longer than the bytes that it saves
/// for a QR code. Source: RFC 1951.
package struct DeflateStream {
    private var bytes: [UInt8] = []
    /// The last bits of the stream, which do not fill a byte yet; the first of them is the lowest bit.
    private var pending: UInt64 = 0
    private var pendingCount: UInt64 = 0

    private static let maximumMatch = 258
    private static let minimumMatch = 3

    package init() {
        // These bits are the header of a last block with the fixed codes.
        append(0b011, count: 3)
    }

    /// Appends a row of at most 32 KiB; `previous` is the last appended row, or empty.
    ///
    /// It replaces repeated bytes by a match with the preceding byte or with the previous row, whichever is longer.
    package mutating func append(_ row: [UInt8], after previous: [UInt8]) {
        var index = 0
        while index < row.count {
            let run = index > 0 ? Self.matchLength(row, index, row, index - 1) : 0
            let copy = previous.count == row.count ? Self.matchLength(row, index, previous, index) : 0
            let length = max(run, copy)
            if length >= Self.minimumMatch {
                appendMatch(length: length, distance: run > copy ? 1 : row.count)
                index += length
            } else {
                appendSymbol(Int(row[index]))
                index += 1
            }
        }
    }

    /// Repeats the last `length` bytes, 3 to 32,768, `count` times.
    package mutating func repeatLast(_ length: Int, count: Int) {
        var left = length * count
        while left > 0 {
            // A match has at least three bytes, so leave at least three for the last match.
            let isTooShort = (1..<Self.minimumMatch).contains(left - Self.maximumMatch)
            let taken = isTooShort ? left - Self.minimumMatch : min(left, Self.maximumMatch)
            appendMatch(length: taken, distance: length)
            left -= taken
        }
    }

    package consuming func finished() -> [UInt8] {
        appendSymbol(256)
        append(0, count: 7)
        return bytes
    }

    private static func matchLength(_ row: [UInt8], _ start: Int, _ other: [UInt8], _ offset: Int) -> Int {
        let maximum = min(maximumMatch, row.count - start)
        return (0..<maximum).first { row[start + $0] != other[offset + $0] } ?? maximum
    }

    private mutating func appendMatch(length: Int, distance: Int) {
        // There are four symbols for the lengths between two powers of two; the maximum length has a separate symbol.
        let (code, count, extra) = Self.bucket(of: length - Self.minimumMatch, bits: 2)
        let isMaximum = length == Self.maximumMatch
        appendSymbol(isMaximum ? 285 : 257 + code)
        if !isMaximum { append(extra, count: count) }
        // There are two codes for the distances between two powers of two.
        let (distanceCode, distanceCount, distanceExtra) = Self.bucket(of: distance - 1, bits: 1)
        append(Self.reversed(distanceCode, count: 5), count: 5)
        append(distanceExtra, count: distanceCount)
    }

    /// Splits a value into its code and its extra bits; there are 2^`bits` codes between two powers of two.
    private static func bucket(of value: Int, bits: Int) -> (code: Int, extraCount: Int, extra: Int) {
        let extraCount = max(0, Int.bitWidth - 1 - bits - value.leadingZeroBitCount)
        return (extraCount << bits + value >> extraCount, extraCount, value & (1 << extraCount - 1))
    }

    /// Appends a literal byte, the end of the block (256) or a length, in its fixed code.
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

    /// Reverses the bits of a code: codes start with the highest bit, all other values with the lowest.
    private static func reversed(_ code: Int, count: Int) -> Int {
        (0..<count).reduce(0) { $0 << 1 | code >> $1 & 1 }
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
