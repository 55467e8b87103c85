public import Attribution

/// The appearance of a QR code, limited to codes that scanners can read.
public struct QRStyle: Hashable, Sendable {
    public private(set) var errorCorrection = QRErrorCorrection.medium
    /// The colour of the dark modules.
    public private(set) var foreground = QRColor.black
    public private(set) var background = QRColor.white
    /// The width of the empty border in modules, within ``allowedQuietZone``.
    public private(set) var quietZone = 4
    /// The width and height of the whole picture in pixels, within ``allowedPixels``.
    public private(set) var pixels = 512
    /// Whether the centre is free for a logo: a square of ``QRCode/logoModules`` a side.
    public private(set) var hasRoomForLogo = false

    /// The allowed widths of the quiet zone in modules.
    ///
    /// The standard requires 4. Around a narrower zone, the paper or screen must be as light as the background.
    public static let allowedQuietZone = 0...16

    /// The allowed widths of a picture in pixels, from the smallest readable code to a poster.
    ///
    /// For larger prints, use the SVG.
    public static let allowedPixels = 58...4_096

    static let minimumModulePixels = 2

    /// Black on white, level M, 512 pixels.
    public static let standard = QRStyle()

    private init() {}

    /// - Throws: ``QRCodeError`` for colours that scanners cannot distinguish, for sizes out of range, and for a logo
    ///   without level H: lower levels could not restore the modules under the logo.
    public init(
        errorCorrection: QRErrorCorrection = .medium,
        foreground: QRColor = .black,
        background: QRColor = .white,
        quietZone: Int = 4,
        pixels: Int = 512,
        hasRoomForLogo: Bool = false
    ) throws(QRCodeError) {
        guard Self.allowedQuietZone.contains(quietZone) else { throw .quietZoneOutOfRange }
        guard Self.allowedPixels.contains(pixels) else { throw .pixelsOutOfRange }
        guard !hasRoomForLogo || errorCorrection == .high else { throw .logoNeedsHighCorrection }
        do throws(QRColorError) {
            try foreground.requireReadable(on: background)
        } catch {
            throw .color(error)
        }
        (self.errorCorrection, self.foreground, self.background) = (errorCorrection, foreground, background)
        (self.quietZone, self.pixels, self.hasRoomForLogo) = (quietZone, pixels, hasRoomForLogo)
    }
}

/// An option of a QR code's style, named as in a query; the command line writes hyphens for underscores.
public enum QRStyleField: String, SettingField {
    /// The width and height of the picture in pixels.
    case size = "size"
    /// The colour of the dark modules: `1a2b3c`, with or without a leading `#`.
    case foreground = "foreground"
    case background = "background"
    /// The level of error correction: `L`, `M`, `Q` or `H`.
    case errorCorrection = "error_correction"
    /// The width of the empty border in modules.
    case quietZone = "quiet_zone"
    /// Whether the centre is free for a logo, which requires level H.
    case logo = "logo"

    public var kind: SettingFieldKind {
        switch self {
        case .size, .quietZone: .number
        case .logo: .flag
        case .foreground, .background, .errorCorrection: .text
        }
    }
}

/// The options of a QR code's style as texts.
public typealias QRStyleFields = FieldTexts<QRStyleField>

extension QRStyleFields {
    /// Reads the options from a query without its question mark.
    ///
    /// - Throws: ``FieldProblems`` for unknown, empty and repeated options: a printed code would not show that the service
    ///   ignored an option.
    public init(query: String) throws(FieldProblems) {
        self.init()
        var problems: [FieldProblem] = []
        for item in QueryItem.items(ofQuery: query[...].utf8) {
            guard let field = QRStyleField(rawValue: item.name) else {
                let names = QRStyleField.allCases.map(\.rawValue).joined(separator: ", ")
                problems.append(FieldProblem(String(item.name.prefix(64)), "The only options are \(names)."))
                continue
            }
            if item.value.isEmpty {
                // A browser does not send the part of a URL after a #, so that a colour with # arrives empty.
                let advice = "is empty; leave it out, and write colours without #, as in foreground=1a2b3c."
                problems.append(FieldProblem(field, "\(field.rawValue) \(advice)"))
            } else if text(field) != nil {
                problems.append(.repeated(field.rawValue))
            }
            set(field, item.value)
        }
        guard problems.isEmpty else { throw FieldProblems(problems) }
    }
}

extension QRStyle {
    /// Creates the style that `fields` describe.
    ///
    /// A missing option takes the link's setting, or otherwise the setting of ``standard``. With a logo, the default
    /// level is H.
    ///
    /// - Throws: ``FieldProblems`` with all invalid options; if all are valid, with the first problem of the style.
    public init(_ fields: QRStyleFields, of link: Link.Settings) throws(FieldProblems) {
        var reader = FieldReader(fields)
        let (standard, defaults) = (QRStyle.standard, link.qr)
        let foreground = reader.color(.foreground) ?? defaults.foreground ?? standard.foreground
        let background = reader.color(.background) ?? defaults.background ?? standard.background
        let hasRoomForLogo = reader.flag(.logo) ?? false
        let usualLevel = hasRoomForLogo ? .high : defaults.errorCorrection ?? standard.errorCorrection
        let level = reader.errorCorrection(.errorCorrection) ?? usualLevel
        let quietZone = reader.number(.quietZone, in: Self.allowedQuietZone) ?? standard.quietZone
        let pixels = reader.number(.size, in: Self.allowedPixels) ?? standard.pixels
        guard reader.problems.isEmpty else { throw FieldProblems(reader.problems) }
        do throws(QRCodeError) {
            try self.init(
                errorCorrection: level,
                foreground: foreground,
                background: background,
                quietZone: quietZone,
                pixels: pixels,
                hasRoomForLogo: hasRoomForLogo
            )
        } catch { throw FieldProblems([error.problem]) }
    }
}

extension QRCodeError {
    /// The error as a problem of the option that causes it.
    public var problem: FieldProblem {
        let field: QRStyleField =
            switch self {
            case .color: .foreground
            case .quietZoneOutOfRange: .quietZone
            case .pixelsOutOfRange, .tooFewPixels: .size
            case .emptyText, .textTooLong: .errorCorrection
            case .logoNeedsHighCorrection: .logo
            }
        return FieldProblem(field, message)
    }
}
