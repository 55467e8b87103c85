package import Attribution

/// A picture of two colours with one bit for each pixel, written row by row.
///
/// Sources: Portable Network Graphics (W3C, Third Edition); RFC 1950 for the format of the compressed data.
package struct PNGImage {
    private var bytes: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
    private var deflated = DeflateStream()
    private var checksum = Adler32()
    /// The previous row with its filter type; empty before the first row.
    private var previous: [UInt8] = []

    /// - Parameters:
    ///   - width: in pixels, 1…32,768.
    ///   - height: in pixels, the number of rows to append.
    ///   - colors: the colours of bits 0 and 1.
    package init(width: Int, height: Int, colors: (zero: QRColor, one: QRColor)) {
        // The last five bytes mean one bit for each pixel, colours from a palette, and the default of every other
        // option.
        appendChunk("IHDR", Self.bigEndian(width) + Self.bigEndian(height) + [1, 3, 0, 0, 0])
        appendChunk("PLTE", [colors.zero, colors.one].flatMap { [$0.red, $0.green, $0.blue] })
    }

    /// Appends `row` `count` times.
    package mutating func append(row: [UInt8], count: Int) {
        guard count > 0 else { return }
        // Filter type 0 does not change the row. Filters help with shades; two colours compress better without them.
        let line = [0] + row
        checksum.append(line, count: count)
        deflated.append(line, after: previous)
        deflated.repeatLast(line.count, count: count - 1)
        previous = line
    }

    /// Returns the whole file.
    package consuming func finished() -> [UInt8] {
        // The first two bytes mean Deflate with a window of 32 KiB and no dictionary. As a 16-bit number, they must be
        // a multiple of 31.
        appendChunk("IDAT", [0x78, 0x01] + deflated.finished() + Self.bigEndian(Int(checksum.value)))
        appendChunk("IEND", [])
        return bytes
    }

    private mutating func appendChunk(_ name: String, _ data: [UInt8]) {
        let checked = Array(name.utf8) + data
        bytes += Self.bigEndian(data.count) + checked + Self.bigEndian(Int(CRC32.value(of: checked)))
    }

    private static func bigEndian(_ value: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
}

/// The checksum of a PNG's chunks.
///
/// It uses the polynomial of ISO 3309 with reversed bits. Source: Portable Network Graphics (W3C, Third Edition), annex
/// on a sample CRC.
package enum CRC32 {
    package static func value(of bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(UInt32.max) { value, byte in table[Int((value ^ UInt32(byte)) & 0xff)] ^ value >> 8 }
    }

    /// The remainder, modulo the polynomial, of each value of a byte.
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xedb8_8320 : value >> 1 }
    }
}

/// The checksum of a PNG's data before compression.
///
/// Source: RFC 1950.
package struct Adler32 {
    private static let modulus = 65_521
    private var sum = 1
    private var sumOfSums = 0

    package init() {}

    package var value: UInt32 { UInt32(sumOfSums) << 16 | UInt32(sum) }

    /// Appends a row `count` times; the row must be shorter than 16 MiB.
    package mutating func append(_ row: [UInt8], count: Int) {
        // Compute both sums of the row alone once, because they are the same in each repetition.
        var (rowSum, rowSumOfSums) = (0, 0)
        for byte in row {
            rowSum += Int(byte)
            rowSumOfSums += rowSum
        }
        for _ in 0..<count {
            sumOfSums = (sumOfSums + row.count * sum + rowSumOfSums) % Self.modulus
            sum = (sum + rowSum) % Self.modulus
        }
    }
}
