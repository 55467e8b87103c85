public import Attribution

/// How a QR code looks: only what scanners can read.
public struct QRStyle: Hashable, Sendable {
    public let errorCorrection: QRErrorCorrection
    /// Of the dark modules.
    public let foreground: QRColor
    public let background: QRColor
    /// Width of the empty border, in modules, within ``allowedQuietZone``.
    public let quietZone: Int
    /// Width and height of the whole picture, within ``allowedPixels``.
    public let pixels: Int
    /// Whether the centre is left free for a logo: a square of ``QRCode/logoModules`` a side.
    public let hasRoomForLogo: Bool

    /// Below 4, which the standard asks for, only where what surrounds the picture is as light as its background.
    public static let allowedQuietZone = 0...16

    /// As small as the smallest code can be read, as large as a poster's; larger ones are drawn from the SVG.
    public static let allowedPixels = 58...4_096

    /// Pixels of a module at the least.
    static let leastModulePixels = 2

    /// Black on white, level M, 512 pixels.
    public static let standard = QRStyle()

    private init() {
        errorCorrection = .medium
        foreground = .black
        background = .white
        quietZone = 4
        pixels = 512
        hasRoomForLogo = false
    }

    /// - Throws: ``QRCodeError`` for colours that scanners cannot tell apart, for sizes out of range, and for room for a
    ///   logo at a level below H, which could not restore what the logo covers.
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
        self.errorCorrection = errorCorrection
        self.foreground = foreground
        self.background = background
        self.quietZone = quietZone
        self.pixels = pixels
        self.hasRoomForLogo = hasRoomForLogo
    }
}
