internal import Attribution

/// Reads the signals of a device from a JSON object, and validates the type of each member and the lengths of texts.
enum SignalsBody {
    private static let maximumTextLength = 255
    private static let maximumLanguageCount = 100
    /// The allowed lengths of one side of a screen, in points or pixels.
    private static let sides = 1.0...100_000
    /// The allowed pixels per point.
    private static let scales = 0.1...20

    /// Reads the signals that a browser reports with a click.
    static func browser(_ body: JSONBody) throws(APIError) -> DeviceSignals {
        var signals = DeviceSignals()
        signals.model = try body.text("model", maximumTextLength)
        signals.osVersion = try body.text("osVersion", maximumTextLength)
        signals.screenWidth = try body.number("screenWidth")
        signals.screenHeight = try body.number("screenHeight")
        signals.pixelRatio = try body.number("pixelRatio")
        signals.timezone = try body.text("timezone", maximumTextLength)
        signals.language = try body.text("language", maximumTextLength)
        signals.languages = try body.texts("languages", maximumTextLength)
        signals.touchPoints = try body.integer("touchPoints").map(Int.init(clamping:))
        signals.uaModel = try body.text("uaModel", maximumTextLength)
        signals.uaPlatformVersion = try body.text("uaPlatformVersion", maximumTextLength)
        return signals
    }

    /// Reads the signals that an app reports with its first launch, and also validates the ranges of the numbers.
    static func native(_ body: JSONBody, _ platform: Platform?) throws(APIError) -> NativeSignals {
        var signals = NativeSignals(platform: platform ?? .unknown)
        signals.model = try body.text("model", maximumTextLength)
        signals.machine = try body.text("machine", maximumTextLength)
        signals.osVersion = try body.text("osVersion", maximumTextLength)
        if let screen = try body.object("screen") {
            signals.screenWidth = try screen.number("width", in: sides)
            signals.screenHeight = try screen.number("height", in: sides)
        }
        signals.scale = try body.number("scale", in: scales)
        signals.timezone = try body.text("timezone", maximumTextLength)
        signals.language = try body.text("language", maximumTextLength)
        signals.languages = try body.texts("languages", maximumTextLength, count: maximumLanguageCount)
        return signals
    }
}
