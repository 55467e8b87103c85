public import Attribution

/// Why there is no QR code, or no picture of one.
///
/// The message says what to do.
public enum QRCodeError: Error, Equatable, Sendable {
    case emptyText
    case textTooLong(byteCount: Int, level: QRErrorCorrection)
    case color(QRColorError)
    case quietZoneOutOfRange
    case pixelsOutOfRange
    /// The least number of pixels that suffices for the code.
    case tooFewPixels(least: Int)
    case logoNeedsHighCorrection

    /// In plain words, for the answer to the caller.
    ///
    /// Holds nothing of the text.
    public var message: String {
        switch self {
        case .emptyText: "There is no text to make a QR code of; send one."
        case .textTooLong(let byteCount, let level):
            "The text has \(byteCount) bytes, and a QR code of level \(level.rawValue) holds "
                + "\(level.longestText) of any kind; shorten it"
                + (level == .low ? "." : ", or choose a lower error correction level.")
        case .color(let error): error.message
        case .quietZoneOutOfRange:
            """
            The quiet zone is out of range; choose \(QRStyle.allowedQuietZone.lowerBound) to \
            \(QRStyle.allowedQuietZone.upperBound) modules, at best 4 or more.
            """
        case .pixelsOutOfRange:
            """
            The size is out of range; choose \(QRStyle.allowedPixels.lowerBound) to \
            \(QRStyle.allowedPixels.upperBound) pixels.
            """
        case .tooFewPixels(let least):
            "The picture is too small for this code to be read; choose \(least) pixels or more, or shorten the text."
        case .logoNeedsHighCorrection:
            "Room for a logo is only left with error correction level H; choose that level, or no logo."
        }
    }
}
