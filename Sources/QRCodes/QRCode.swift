public import Attribution

/// A text as a square of dark and light modules.
///
/// Digits, capitals and other characters are written in whatever way makes the code smallest; characters beyond ASCII in
/// UTF-8, which is then announced. The same text always gives the same code. Source: ISO/IEC 18004.
public struct QRCode: Equatable, Sendable {
    public let version: QRVersion
    public let errorCorrection: QRErrorCorrection
    /// Which of eight patterns the text's modules are turned over by, 0…7.
    public let mask: Int
    /// Row by row; 1 is dark.
    private let modules: [UInt8]

    /// No text of any kind may have more bytes: so many digits fit into the largest code of the lowest level.
    public static let longestText = 7_089

    /// The smallest code that holds a text.
    ///
    /// - Throws: ``QRCodeError/emptyText`` and ``QRCodeError/textTooLong(byteCount:level:)``.
    public init(
        encoding text: String,
        errorCorrection level: QRErrorCorrection = .medium
    ) throws(QRCodeError) {
        try self.init(encoding: text, errorCorrection: level, atLeast: QRVersion.all[0], mask: nil)
    }

    /// A code that is larger than it need be, or has another mask than the best one: for tests of every version and mask.
    package init(
        encoding text: String,
        errorCorrection level: QRErrorCorrection,
        atLeast smallest: QRVersion,
        mask: Int?
    ) throws(QRCodeError) {
        let byteCount = text.utf8.count
        guard byteCount > 0 else { throw .emptyText }
        guard byteCount <= Self.longestText,
            let fit = Self.fit(Array(text.utf8), level: level, atLeast: smallest)
        else { throw .textTooLong(byteCount: byteCount, level: level) }
        version = fit.version
        errorCorrection = level
        var grid = QRGrid(version: fit.version)
        let codewords = QRCodewords.interleaved(fit.data, in: fit.version.blocks(level))
        grid.draw(codewords, at: grid.textModules())
        let masks = mask.map { [QRMask.all[$0]] } ?? QRMask.all
        var best = (score: Int.max, mask: masks[0], grid: grid)
        for mask in masks {
            var masked = grid.masked(by: mask)
            masked.drawFormat(QRInformation.format(level: level, mask: mask))
            let score = QRPenalty.score(of: masked)
            if score < best.score { best = (score, mask, masked) }
        }
        self.mask = best.mask.number
        modules = best.grid.modules.map { $0 & QRGrid.dark }
    }

    /// Rows, which are as many as columns, without the quiet zone.
    public var modulesPerSide: Int { version.modulesPerSide }

    /// Outside the code, where the quiet zone is, everything is light.
    public func isDark(column: Int, row: Int) -> Bool {
        let side = version.modulesPerSide
        guard (0..<side).contains(column), (0..<side).contains(row) else { return false }
        return modules[row * side + column] != 0
    }

    /// Lengths of segments take more bits in larger versions: the cheapest cut may differ, and is sought anew.
    private static func fit(
        _ bytes: [UInt8],
        level: QRErrorCorrection,
        atLeast smallest: QRVersion
    ) -> (version: QRVersion, data: [UInt8])? {
        // Without an announcement the standard's character set is Latin-1, and decoders guess, often wrongly.
        let announcesUTF8 = !bytes.allSatisfy { $0 < 0x80 }
        let announcement = announcesUTF8 ? QRCodewords.utf8AnnouncementBitCount : 0
        for sizes in QRVersionSizes.allCases {
            let versions = sizes.versions.filter { $0 >= smallest }
            // No character takes less than a digit.
            guard let largest = versions.last,
                bytes.count * 10 / 3 <= largest.blocks(level).dataCodewordCount * 8
            else { continue }
            let segments = QRSegmentation.segments(of: bytes, in: sizes)
            let bitCount = segments.reduce(announcement) { $0 + $1.bitCount(in: sizes) }
            let version = versions.first { bitCount <= $0.blocks(level).dataCodewordCount * 8 }
            guard let version else { continue }
            let data = QRCodewords.data(
                of: segments,
                in: sizes,
                capacity: version.blocks(level).dataCodewordCount,
                announcesUTF8: announcesUTF8
            )
            return (version, data)
        }
        return nil
    }
}
