package import Attribution

/// A picture of two colours, one bit a pixel, written row by row.
///
/// Source: Portable Network Graphics (W3C, Third Edition), and RFC 1950 for the wrapping of its data.
package struct PNGImage {
    private var bytes: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
    private var deflated = DeflateStream()
    private var checksum = Adler32()
    /// The row before with its filter type; empty before the first.
    private var previous: [UInt8] = []

    /// - Parameters:
    ///   - width: in pixels, 1…32,768.
    ///   - height: in pixels; as many rows must be appended.
    ///   - colors: of bits that are 0, and of bits that are 1.
    package init(width: Int, height: Int, colors: (zero: QRColor, one: QRColor)) {
        // One bit a pixel, colours from a palette; the only compression and filtering there is, rows in order.
        appendChunk("IHDR", Self.bigEndian(width) + Self.bigEndian(height) + [1, 3, 0, 0, 0])
        appendChunk("PLTE", [colors.zero, colors.one].flatMap { [$0.red, $0.green, $0.blue] })
    }

    /// Appends so many equal rows.
    package mutating func append(row: [UInt8], count: Int) {
        guard count > 0 else { return }
        // Filter type 0: as it is. Filters are for tones; of two colours they make noise.
        let line = [0] + row
        checksum.append(line, count: count)
        deflated.append(line, after: previous)
        deflated.repeatLast(line.count, count: count - 1)
        previous = line
    }

    /// The whole file.
    package consuming func finished() -> [UInt8] {
        // Deflate with a window of 32 KiB, no dictionary; the second byte makes both divisible by 31.
        let data = [0x78, 0x01] + deflated.finished() + Self.bigEndian(Int(checksum.value))
        appendChunk("IDAT", data)
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
