/// The values of a device in its user agent.
///
/// Hidden values are unknown.
public struct UserAgent: Equatable, Sendable {
    public var platform: Platform
    /// The model in the system's spelling: `iPhone`, `iPad`, `iPod touch`, or an Android device's model.
    public var model: String?
    public var system: OSVersionReading
    /// The language in the agent of an app's own browser: `tr_TR`.
    public var languageTag: String?
    /// Pixels per point in the agent of an app's own browser.
    public var scale: Double?
    /// The sides of the screen in pixels in the agent of an app's own browser.
    public var pixels: ScreenSize?

    /// Major and minor version, if known.
    public var osVersion: OSVersion? { system.version }

    init(platform: Platform, model: String? = nil, system: OSVersionReading = .unknown) {
        self.platform = platform
        self.model = model
        self.system = system
    }

    /// - Parameters:
    ///   - text: the header's value.
    ///   - touchPoints: the number of touch points that a script reported; more than one reveals an iPad that
    ///     calls itself a Macintosh to get desktop pages.
    ///   - releases: the known versions of iOS.
    public init(
        _ text: String,
        touchPoints: Int? = nil,
        releases: IOSReleases = DeviceData.embedded.releases
    ) {
        self.init(AgentText(text.utf8.span), touchPoints: touchPoints, releases)
    }

    /// Creates a user agent from the bytes of a request.
    public init(_ text: Span<UInt8>, releases: IOSReleases = DeviceData.embedded.releases) {
        self.init(AgentText(text), touchPoints: nil, releases)
    }

    private init(_ text: AgentText, touchPoints: Int?, _ releases: IOSReleases) {
        if let device = IOSAgent(text, touchPoints: touchPoints, releases) {
            self.init(platform: .ios, model: device.model, system: device.system)
        } else if let device = AndroidAgent(text) {
            self.init(platform: .android, model: device.model, system: device.system)
            pixels = device.pixels
            languageTag = device.languageTag
        } else {
            let isEmpty = text.bytes.allSatisfy { $0.isBlank }
            self.init(platform: isEmpty ? .unknown : .other)
            return
        }
        readAppTokens(text)
    }

    /// Reads the tokens of apps' own browsers, which contain more values than other browsers' agents.
    private mutating func readAppTokens(_ text: AgentText) {
        languageTag =
            text.tag(after: .facebookLanguage) ?? languageTag ?? instagramLanguage(text)
            ?? text.tag(after: .byteFullLocale) ?? text.tag(after: .byteLocale)
            ?? text.tag(after: .weChatLanguage)
        guard platform == .ios else {
            if pixels == nil, text.contains(.facebookDisplay),
                let width = text.number(after: .width), let height = text.number(after: .height)
            {
                pixels = ScreenSize(Double(width), Double(height))
            }
            return
        }
        let whole =
            text.number(after: .facebookScale) ?? text.number(after: .appScale) ?? text.number(after: .scale)
        // An iPhone app on an iPad has a scale of its own.
        if let whole, (1...3).contains(whole), !(model == "iPad" && text.contains(.iPhone)) {
            scale = Double(whole)
        }
        if let scale = text.end(of: .appScale) {
            pixels = text.list(from: scale).lazy.compactMap(ScreenSize.init(pixels:)).first
        }
    }

    /// Reads the language in `…; iOS 26_1; tr_TR; tr; scale=3.00; …`.
    private func instagramLanguage(_ text: AgentText) -> String? {
        guard text.contains(.appScale), let start = text.end(of: .appSystem) ?? text.end(of: .appPadSystem)
        else { return nil }
        return text.list(from: start).dropFirst().first.map { String(decoding: $0.prefix(35), as: UTF8.self) }
    }
}
