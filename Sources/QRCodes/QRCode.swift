public import Attribution

/// A text, drawn as a square of modules: small squares that are dark or light.
///
/// The text is split into parts with different modes (character sets), so that the code is as small as possible.
/// Characters beyond ASCII are in UTF-8, which the code announces. The same text always gives the same code. Source:
/// ISO/IEC 18004.
public struct QRCode: Equatable, Sendable {
    public let version: QRVersion
    public let errorCorrection: QRErrorCorrection
    /// The number of the mask pattern, 0…7.
    public let mask: Int
    /// The modules, row by row; 1 is dark.
    private let modules: [UInt8]

    /// The length in bytes of the longest text: the number of digits in the largest code at the lowest level.
    public static let maximumTextLength = 7_089

    /// Creates the smallest code that contains `text` and has at least `minimumVersion`.
    ///
    /// `mask` is the number of a mask, 0…7; nil selects the best one.
    ///
    /// - Throws: ``QRCodeError/emptyText`` and ``QRCodeError/textTooLong(byteCount:level:)``.
    public init(
        encoding text: String,
        errorCorrection level: QRErrorCorrection = .medium,
        minimumVersion: QRVersion = QRVersion.all[0],
        mask: Int? = nil
    ) throws(QRCodeError) {
        let byteCount = text.utf8.count
        guard byteCount > 0 else { throw .emptyText }
        guard byteCount <= Self.maximumTextLength,
            let fit = Self.fit(Array(text.utf8), level: level, minimumVersion: minimumVersion)
        else { throw .textTooLong(byteCount: byteCount, level: level) }
        version = fit.version
        errorCorrection = level
        var grid = QRGrid(version: fit.version)
        grid.draw(QRCodewords.interleaved(fit.data, in: fit.version.blocks(level)), at: grid.textModules())
        let masks = mask.map { [QRMask.all[$0]] } ?? QRMask.all
        var best = (score: Int.max, mask: masks[0], grid: grid)
        for mask in masks {
            var masked = grid.masked(by: mask)
            masked.drawFormat(level: level, mask: mask)
            let score = QRPenalty.score(of: masked)
            if score < best.score { best = (score, mask, masked) }
        }
        self.mask = best.mask.number
        modules = best.grid.modules.map { $0 & QRGrid.dark }
    }

    /// The number of rows, and of columns, without the quiet zone.
    public var modulesPerSide: Int { version.modulesPerSide }

    /// Returns whether a module is dark; the modules around the code, in the quiet zone, are light.
    public func isDark(column: Int, row: Int) -> Bool {
        let side = version.modulesPerSide
        guard (0..<side).contains(column), (0..<side).contains(row) else { return false }
        return modules[row * side + column] != 0
    }

    /// Returns the smallest allowed version that contains `bytes`, and its data codewords; nil if no version does.
    ///
    /// In larger versions, the lengths of segments have more bits, so the function splits the text again for each range
    /// of versions.
    private static func fit(
        _ bytes: [UInt8],
        level: QRErrorCorrection,
        minimumVersion: QRVersion
    ) -> (version: QRVersion, data: [UInt8])? {
        // Without an announcement, the text is Latin-1 by the standard, but decoders guess, and often wrongly.
        let isBeyondASCII = !bytes.allSatisfy { $0 < 0x80 }
        let announcement = isBeyondASCII ? QRCodewords.utf8AnnouncementBitCount : 0
        for sizes in QRVersionSizes.allCases {
            let versions = sizes.versions.filter { $0 >= minimumVersion }
            // Skip sizes that are too small even for a text of digits, which take the fewest bits.
            guard let largest = versions.last,
                bytes.count * 10 / 3 <= largest.blocks(level).dataCodewordCount * 8
            else { continue }
            let segments = QRSegmentation.segments(of: bytes, in: sizes)
            let bitCount = segments.reduce(announcement) { $0 + $1.bitCount(in: sizes) }
            let version = versions.first { bitCount <= $0.blocks(level).dataCodewordCount * 8 }
            guard let version else { continue }
            let room = version.blocks(level).dataCodewordCount
            let data = QRCodewords.data(of: segments, in: sizes, capacity: room, announcesUTF8: isBeyondASCII)
            return (version, data)
        }
        return nil
    }
}

extension QRCode {
    /// The side, in modules, of the central square that a logo may cover while the code remains readable; 0 for none.
    ///
    /// In each block, the square covers at most half of the codewords that error correction can restore; the other
    /// half is for dirt, folds and poor light. The square is at most three tenths as wide as the code, because some
    /// decoders need the central alignment patterns of a large code. At level H, the square is about a quarter as wide
    /// as the code, and narrower in the smallest codes. The size depends only on version and level.
    ///
    /// The square includes a light margin around the logo, a tenth of the square's width on each side: some decoders
    /// mistake a dark shape that touches the modules for a function pattern.
    public var logoModules: Int {
        let grid = QRGrid(version: version)
        let side = grid.side
        let centre = side / 2
        let blocks = version.blocks(errorCorrection)
        // The distance from the centre to the nearest module of each codeword.
        var distances = [Int](repeating: side, count: version.codewordCount)
        for (bit, index) in grid.textModules().enumerated() where bit / 8 < distances.count {
            let distance = max(abs(index % side - centre), abs(index / side - centre))
            distances[bit / 8] = min(distances[bit / 8], distance)
        }
        var distancesOfBlocks = [[Int]](repeating: [], count: blocks.count)
        for (index, distance) in distances.enumerated() {
            distancesOfBlocks[blocks.block(ofCodeword: index)].append(distance)
        }
        // Restoring one codeword takes two correction codewords. So a block can lose half as many codewords as it has
        // correction codewords, and the logo may cover half of those.
        let damaged = blocks.correctionCodewordsPerBlock / 4
        let firstIntact = distancesOfBlocks.map { $0.sorted()[damaged] }.min() ?? 0
        // The corners of the square must not reach the finders or the format beside them.
        let reach = min(firstIntact - 1, centre - 9, (side * 3 / 10 - 1) / 2)
        return max(0, 2 * reach + 1)
    }
}

extension QRErrorCorrection {
    /// The length in UTF-8 bytes up to which every text fits at this level; texts with digits or capitals may be
    /// longer.
    public var maximumTextLength: Int {
        // Before the bytes, there are a character set, a mode and a length, with 12, 4 and 16 bits.
        QRVersion.largest.blocks(self).dataCodewordCount - 4
    }
}

/// The reasons why a QR code or its picture cannot be made.
public enum QRCodeError: Error, Equatable, Sendable {
    case emptyText
    case textTooLong(byteCount: Int, level: QRErrorCorrection)
    case color(QRColorError)
    case quietZoneOutOfRange
    case pixelsOutOfRange
    /// The picture has too few pixels for the code; `minimum` pixels suffice.
    case tooFewPixels(minimum: Int)
    case logoNeedsHighCorrection

    /// The problem and what to do, for the caller; the message contains no part of the text.
    public var message: String {
        switch self {
        case .emptyText: "There is no text to make a QR code of; send one."
        case .textTooLong(let byteCount, let level):
            "The text has \(byteCount) bytes, and a QR code of level \(level.rawValue) holds "
                + "\(level.maximumTextLength) bytes of any text; shorten it"
                + (level == .low ? "." : ", or choose a lower error correction level.")
        case .color(let error): error.message
        case .quietZoneOutOfRange:
            """
            The quiet zone is out of range; choose \(QRStyle.allowedQuietZone.lowerBound) to \
            \(QRStyle.allowedQuietZone.upperBound) modules, ideally 4 or more.
            """
        case .pixelsOutOfRange:
            """
            The size is out of range; choose \(QRStyle.allowedPixels.lowerBound) to \
            \(QRStyle.allowedPixels.upperBound) pixels.
            """
        case .tooFewPixels(let minimum):
            "The picture is too small for this code to be readable; choose \(minimum) pixels or more, or shorten the text."
        case .logoNeedsHighCorrection:
            "Only error correction level H leaves room for a logo; choose that level, or no logo."
        }
    }
}
