public import Attribution

extension QRErrorCorrection {
    /// Bytes that any text of this level may have in UTF-8; one of digits or capitals alone may be longer.
    public var longestText: Int {
        // Before its bytes stand a character set, a mode and a length: 12, 4 and 16 bits.
        QRVersion.largest.blocks(self).dataCodewordCount - 4
    }

    /// The two bits by which a decoder knows the level.
    var indicator: Int {
        switch self {
        case .low: 0b01
        case .medium: 0b00
        case .quartile: 0b11
        case .high: 0b10
        }
    }
}
