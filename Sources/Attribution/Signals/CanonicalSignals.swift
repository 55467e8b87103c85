/// A device's properties in a canonical spelling, so that the values of its browser and of an app are equal.
///
/// An unknown value is nil.
public struct CanonicalSignals: Equatable, Sendable {
    public var platform: Platform
    /// `iPhone`, `iPad`, `iPod touch`, or Android's `Build.MODEL` in its own case.
    public var model: String?
    public var system = OSVersionReading.unknown
    /// The screen in points.
    public var screen: ScreenSize?
    /// Pixels per point.
    public var scale: Double?
    /// The shorter side in pixels, if the source contains it; nil if it must be computed from points.
    public var panelWidth: Int?
    /// The canonical name of the time zone; see ``TimeZoneTable``.
    public var timezone: String?
    /// The time zone as it was sent, trimmed, because clients hash the name that their system uses; nil if it
    /// is no time zone.
    public var givenTimezone: String?
    /// The person's preferred languages as canonical codes, each once, the most preferred first.
    public var languages: [String] = []

    /// The version; nil unless its major and minor numbers are known.
    public var osVersion: OSVersion? { system.version }

    public var language: String? { languages.first }

    /// The largest number of preferred languages; later ones are ignored.
    static let maximumLanguages = 8

    public init(platform: Platform) { self.platform = platform }

    mutating func setTimezone(_ text: String?, _ zones: TimeZoneTable) {
        timezone = text.flatMap { zones.canonical($0) }
        givenTimezone = timezone == nil ? nil : text?.trimmed
    }

    mutating func setLanguages(_ tags: [String], _ table: LanguageTable) {
        languages = []
        for tag in tags.prefix(Self.maximumLanguages) {
            guard let code = table.canonical(tag), !languages.contains(code) else { continue }
            languages.append(code)
        }
    }

    /// A screen with fewer points across is not an iPad's: the narrowest iPad has 744, and the widest iPhone has 440.
    private static let narrowestPad = 600

    /// Returns `UIDevice.model` for a script's or an app's name of an Apple device; nil for any other device.
    ///
    /// `isNarrow` is whether the screen is too narrow for an iPad.
    static func appleModel(_ model: String?, touchPoints: Int?, isNarrow: Bool = false) -> String? {
        guard let name = model else { return nil }
        if starts(name, "iphone") { return "iPhone" }
        if starts(name, "ipad") { return "iPad" }
        if starts(name, "ipod") { return "iPod touch" }
        if starts(name, "mac"), let touchPoints, touchPoints > 1 { return isNarrow ? "iPhone" : "iPad" }
        return nil
    }

    /// Returns whether the text starts with a lower-case word, ignoring case and leading blanks.
    private static func starts(_ text: String, _ word: String) -> Bool {
        var rest = text.utf8.drop { $0.isBlank }
        for byte in word.utf8 {
            guard let first = rest.popFirst(), first.asciiLowercased == byte else { return false }
        }
        return true
    }
}

/// The headers of the request that contains a page's signals.
public struct VisitHeaders: Equatable, Sendable {
    /// Empty if the header was missing.
    public var userAgent: String
    public var hints: ClientHints
    public var acceptLanguage: String?

    public init(userAgent: String, hints: ClientHints = ClientHints(), acceptLanguage: String? = nil) {
        self.userAgent = userAgent
        self.hints = hints
        self.acceptLanguage = acceptLanguage
    }
}

extension CanonicalSignals {
    /// Creates the signals from a page's script, and missing values from the agent of the same request.
    public init(
        _ signals: DeviceSignals,
        userAgent: String,
        platform: Platform = .unknown,
        data: DeviceData = .embedded
    ) { self.init(signals, VisitHeaders(userAgent: userAgent), platform: platform, data: data) }

    /// Creates the signals from a page's script, and missing values from the headers of the same request.
    ///
    /// - Parameters:
    ///   - signals: the values of the script.
    ///   - headers: the headers; their values replace missing ones.
    ///   - platform: the platform that the caller named; it counts only if neither the user agent, nor the
    ///     script's model, nor a hint reveals one.
    ///   - data: the tables of time zones, languages, releases and screens.
    public init(_ signals: DeviceSignals, _ headers: VisitHeaders, platform: Platform, data: DeviceData) {
        let screen = ScreenSize(signals.screenWidth, signals.screenHeight)
        let isNarrow = screen.map { $0.width < Self.narrowestPad } ?? false
        let touchPoints = signals.touchPoints
        let agent = UserAgent(
            headers.userAgent,
            touchPoints: touchPoints,
            isNarrow: isNarrow,
            releases: data.releases
        )
        let appleModel = Self.appleModel(signals.model, touchPoints: touchPoints, isNarrow: isNarrow)
        self.init(platform: Self.platform(agent, isApple: appleModel != nil, headers.hints, named: platform))
        if self.platform == .ios {
            // Only the agent reveals that an iPhone app runs on an iPad.
            model = agent.model == "iPad" ? agent.model : appleModel ?? agent.model
            system = Self.iosReading(signals.osVersion, agent)
        } else {
            model =
                Self.androidModel(signals.model) ?? Self.androidModel(signals.uaModel)
                ?? Self.androidModel(headers.hints.model) ?? agent.model
            system = Self.androidReading(signals, headers.hints, agent)
        }
        setScreen(signals, agent)
        setTimezone(signals.timezone, data.timeZones)
        setLanguages(Self.tags(signals, agent, headers), data.languages)
    }

    private mutating func setScreen(_ signals: DeviceSignals, _ agent: UserAgent) {
        screen = ScreenSize(signals.screenWidth, signals.screenHeight)
        scale = signals.pixelRatio ?? agent.scale
        if platform == .android {
            panelWidth = agent.pixels?.width
        } else if screen == nil, let pixels = agent.pixels, let scale = agent.scale {
            screen = ScreenSize(Double(pixels.width) / scale, Double(pixels.height) / scale)
        }
    }

    private static func platform(
        _ agent: UserAgent,
        isApple: Bool,
        _ hints: ClientHints,
        named: Platform
    ) -> Platform {
        if agent.platform == .ios || isApple { return .ios }
        if agent.platform == .android { return .android }
        if let platform = hints.knownPlatform { return platform }
        return named == .unknown ? agent.platform : named
    }

    private static func androidModel(_ text: String?) -> String? { text.flatMap { AndroidModel.clean($0) } }

    /// Returns the version of iOS.
    ///
    /// Safari prints a fixed (frozen) version instead of newer ones, and a script may report that version. The whole
    /// agent can correct it, or at least mark it as frozen. If a script reports no patch number, the patch is unknown.
    private static func iosReading(_ text: String?, _ agent: UserAgent) -> OSVersionReading {
        guard let reported = text.flatMap({ OSVersion($0.trimmed) }) else { return agent.system }
        if reported.patch > 0 { return .exact(reported) }
        if case .frozen(reported) = agent.system { return agent.system }
        guard agent.platform == .ios, let seen = agent.osVersion else { return .minor(reported) }
        // A script may report the frozen version where `IOSAgent` found the true one.
        return seen.majorMinor == reported || seen.major >= 26 && reported.major < 26
            ? agent.system : .minor(reported)
    }

    private static func androidReading(
        _ signals: DeviceSignals,
        _ hints: ClientHints,
        _ agent: UserAgent
    ) -> OSVersionReading {
        let hint = signals.uaPlatformVersion ?? hints.platformVersion
        if let version = hint.flatMap({ OSVersion($0.trimmed) }) { return .exact(version) }
        guard let reported = signals.osVersion.flatMap({ OSVersion($0.trimmed) }) else { return agent.system }
        // Chrome's reduced agent contains the version 10 on every device, and scripts copy it.
        let isReduced = agent.platform == .android && agent.system == .unknown
        return isReduced && reported == OSVersion(major: 10) ? .unknown : .exact(reported)
    }

    private static func tags(_ signals: DeviceSignals, _ agent: UserAgent, _ headers: VisitHeaders)
        -> [String]
    {
        let reported = (signals.language.map { [$0] } ?? []) + (signals.languages ?? [])
        if !reported.isEmpty { return reported }
        if let tag = agent.languageTag { return [tag] }
        return headers.acceptLanguage.map(AcceptLanguage.tags) ?? []
    }

    /// Creates the signals from the values that an app sends about its device.
    public init(_ signals: NativeSignals, data: DeviceData = .embedded) {
        let appleModel = Self.appleModel(signals.model ?? signals.machine, touchPoints: nil)
        let isApple = signals.platform == .ios || signals.platform != .android && appleModel != nil
        self.init(platform: isApple ? .ios : signals.platform)
        model = isApple ? appleModel : signals.model.flatMap { AndroidModel.clean($0) }
        system = signals.osVersion.flatMap { OSVersion($0.trimmed) }.map(OSVersionReading.exact) ?? .unknown
        let size = ScreenSize(signals.screenWidth, signals.screenHeight)
        if isApple {
            screen = size
            scale = signals.scale
        } else {
            panelWidth = size?.width
        }
        setTimezone(signals.timezone, data.timeZones)
        let reported = (signals.language.map { [$0] } ?? []) + (signals.languages ?? [])
        setLanguages(reported, data.languages)
    }
}
