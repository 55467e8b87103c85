/// The checksum of a PNG's chunks.
///
/// Source: Portable Network Graphics (W3C, Third Edition), annex on a sample CRC: the polynomial of ISO 3309, bits
/// reversed.
package enum CRC32 {
    package static func value(of bytes: [UInt8]) -> UInt32 {
        let table = Self.table
        var value = UInt32.max
        for byte in bytes { value = table[Int((value ^ UInt32(byte)) & 0xff)] ^ value >> 8 }
        return ~value
    }

    /// What a byte does to the checksum.
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xedb8_8320 : value >> 1 }
    }
}
