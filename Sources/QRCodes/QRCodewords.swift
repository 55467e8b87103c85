/// The bytes that are drawn: the text, filled up, with its error correction.
package enum QRCodewords {
    /// Extended Channel Interpretation 26.
    private static let utf8Announcement: UInt32 = 0b0111_0001_1010
    static let utf8AnnouncementBitCount = 12

    /// The text's own, before they are cut into blocks.
    ///
    /// - Parameters:
    ///   - segments: the whole text.
    ///   - sizes: those of the version that is drawn.
    ///   - capacity: how many codewords there must be, enough for the text.
    ///   - announcesUTF8: whether a decoder is told the character set first.
    /// - Returns: as many codewords as `capacity`.
    package static func data(
        of segments: [QRSegment],
        in sizes: QRVersionSizes,
        capacity: Int,
        announcesUTF8: Bool = false
    ) -> [UInt8] {
        var bits = QRBits()
        if announcesUTF8 { bits.append(utf8Announcement, count: utf8AnnouncementBitCount) }
        for segment in segments { segment.append(to: &bits, in: sizes) }
        // The end of the text is told by four zeros, or fewer where there is no room.
        let terminator = min(4, capacity * 8 - bits.count)
        if terminator > 0 { bits.append(0, count: terminator) }
        var codewords = bits.bytes
        let padding: [UInt8] = [0xec, 0x11]
        let used = codewords.count
        for index in used..<max(used, capacity) { codewords.append(padding[(index - used) & 1]) }
        return codewords
    }

    /// In the order in which they are drawn: the first of each block, the second of each block, and so on, so that
    /// damage in one place is spread over many blocks.
    package static func interleaved(_ data: [UInt8], in blocks: QRBlocks) -> [UInt8] {
        let code = ReedSolomon(correctionCodewords: blocks.correctionCodewordsPerBlock)
        var pieces: [ArraySlice<UInt8>] = []
        var start = 0
        for block in 0..<blocks.count {
            let end = start + blocks.shortLength + (block < blocks.shortCount ? 0 : 1)
            pieces.append(data[start..<end])
            start = end
        }
        let corrections = pieces.map { code.correction(of: $0) }
        var codewords: [UInt8] = []
        codewords.reserveCapacity(data.count + blocks.count * blocks.correctionCodewordsPerBlock)
        for index in 0...blocks.shortLength {
            for piece in pieces where index < piece.count {
                codewords.append(piece[piece.startIndex + index])
            }
        }
        for index in 0..<blocks.correctionCodewordsPerBlock {
            for correction in corrections { codewords.append(correction[index]) }
        }
        return codewords
    }
}
