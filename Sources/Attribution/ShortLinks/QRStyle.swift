internal import CMath

/// A colour of a QR code's picture or of a page, in sRGB.
public struct QRColor: Hashable, Sendable {
    public let red: UInt8
    public let green: UInt8
    public let blue: UInt8

    public static let black = QRColor(red: 0, green: 0, blue: 0)
    public static let white = QRColor(red: 255, green: 255, blue: 255)

    public init(red: UInt8, green: UInt8, blue: UInt8) {
        self.red = red
        self.green = green
        self.blue = blue
    }

    /// Reads `#rrggbb` or `#rgb` with digits of either case; rejects spaces, names and opacities.
    ///
    /// - Throws: ``QRColorError/malformed``.
    public init(parsing text: String) throws(QRColorError) {
        // Eight bytes are enough to recognise a longer text as malformed.
        let bytes = Array(text.utf8.prefix(8))
        let digits = bytes.dropFirst().compactMap {
            Hexadecimal.value(of: $0).map(UInt8.init(truncatingIfNeeded:))
        }
        guard bytes.first == UInt8(ascii: "#"), digits.count == bytes.count - 1 else { throw .malformed }
        switch digits.count {
        case 3: self.init(red: digits[0] * 17, green: digits[1] * 17, blue: digits[2] * 17)
        case 6:
            self.init(
                red: digits[0] << 4 | digits[1],
                green: digits[2] << 4 | digits[3],
                blue: digits[4] << 4 | digits[5]
            )
        default: throw .malformed
        }
    }

    /// `#rrggbb` in lower case.
    public var text: String { "#" + Hexadecimal.text(of: [red, green, blue]) }

    /// The minimum contrast ratio of two colours that scanners distinguish, 1…21.
    ///
    /// Source: WCAG 2.2, success criterion 1.4.11, for graphics that must be distinguished from adjacent colours.
    public static let minimumContrast = 3.0

    /// The minimum difference of the luminances of two colours, 0…1.
    ///
    /// Source: ISO/IEC 15415:2011, the symbol contrast of grade C.
    static let minimumLuminanceDifference = 0.4

    /// The relative luminance as WCAG 2.2 defines it, from 0 for black to 1 for white.
    var luminance: Double {
        0.2126 * Self.linear(red) + 0.7152 * Self.linear(green) + 0.0722 * Self.linear(blue)
    }

    private static func linear(_ part: UInt8) -> Double {
        let value = Double(part) / 255
        return value <= 0.04045 ? value / 12.92 : cmath_exp(2.4 * cmath_log((value + 0.055) / 1.055))
    }

    /// Returns the contrast ratio of WCAG 2.2, 1…21.
    public func contrast(with other: QRColor) -> Double {
        let (dark, light) = (min(luminance, other.luminance), max(luminance, other.luminance))
        return (light + 0.05) / (dark + 0.05)
    }

    /// Throws if this colour is lighter than `background`, or if scanners may not distinguish the two.
    package func requireReadable(on background: QRColor) throws(QRColorError) {
        let (dark, light) = (luminance, background.luminance)
        guard dark <= light else { throw .lightOnDark }
        let ratio = contrast(with: background)
        guard ratio >= Self.minimumContrast, light - dark >= Self.minimumLuminanceDifference
        else { throw .tooLittleContrast(ratio: ratio) }
    }
}

/// The reason why a text is not a colour, or why two colours do not suit a QR code.
public enum QRColorError: Error, Equatable, Sendable {
    case malformed
    case lightOnDark
    /// The contrast ratio that the colours have, 1…21.
    case tooLittleContrast(ratio: Double)

    /// In plain words: what is wrong and what to do.
    public var message: String {
        switch self {
        case .malformed: "The colour is malformed; write it as #rrggbb or #rgb, such as #1a2b3c."
        case .lightOnDark:
            """
            The modules are lighter than their background, which many scanners cannot read; choose a dark \
            foreground on a light background.
            """
        case .tooLittleContrast(let ratio):
            """
            The colours are too similar for scanners: their contrast ratio is \(Self.oneDecimal(ratio)). Choose \
            a darker foreground or a lighter background; the ratio must be \
            \(Self.oneDecimal(QRColor.minimumContrast)) or more, and the background bright.
            """
        }
    }

    private static func oneDecimal(_ value: Double) -> String {
        let tenths = Int(value * 10)
        return "\(tenths / 10).\(tenths % 10)"
    }
}

extension Link {
    /// The default style of a link's QR code; nil means the standard style.
    public struct QRDefaults: Equatable, Sendable {
        public var foreground: QRColor?
        public var background: QRColor?
        public var errorCorrection: QRErrorCorrection?

        public init() {}
    }

    /// Returns the content of a link's QR code: the link's URL with the source `qr`, which distinguishes a
    /// scan from a tap.
    ///
    /// It never contains a token: many visitors scan a printed code, and a token is valid for one.
    public static func scannedURL(_ url: String) -> String { "\(url)?source=\(SourceToken.qr.rawValue)" }
}

/// The share of a QR code that may be damaged or covered while it stays readable; a larger share makes the code larger.
///
/// The raw value is the level's letter. Source: ISO/IEC 18004, section on error correction.
public enum QRErrorCorrection: String, CaseIterable, Sendable {
    /// About 7 % of the codewords can be restored.
    case low = "L"
    /// About 15 %: the usual level for a code on paper or on a screen.
    case medium = "M"
    /// About 25 %.
    case quartile = "Q"
    /// About 30 %: the level for a code with a logo in its centre.
    case high = "H"
}
