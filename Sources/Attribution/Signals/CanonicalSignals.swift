/// A device's properties in one spelling, whoever told them, so that browser and app agree.
///
/// What is not known is nil, and stays so.
public struct CanonicalSignals: Equatable, Sendable {
    public var platform: Platform
    /// `iPhone`, `iPad`, `iPod touch`, or Android's `Build.MODEL` in its own case.
    public var model: String?
    public var system: OSVersionReading
    /// In points.
    public var screen: ScreenSize?
    /// Pixels a point.
    public var scale: Double?
    /// The shorter side in pixels, where it was told and need not be reckoned from points.
    public var panelWidth: Int?
    /// The canonical name; see ``TimeZoneTable``.
    public var timezone: String?
    /// As it came, without blanks around: clients hash the name that their system gives.
    public var givenTimezone: String?
    /// The person's preferred languages as canonical codes, each once, first the most wanted one.
    public var languages: [String]

    /// Major and minor version, where known.
    public var osVersion: OSVersion? { system.version }

    /// The most wanted language.
    public var language: String? { languages.first }

    /// How many preferred languages count.
    static let maximumLanguages = 8

    public init(
        platform: Platform,
        model: String? = nil,
        system: OSVersionReading = .unknown,
        screen: ScreenSize? = nil,
        scale: Double? = nil,
        panelWidth: Int? = nil,
        timezone: String? = nil,
        givenTimezone: String? = nil,
        languages: [String] = []
    ) {
        self.platform = platform
        self.model = model
        self.system = system
        self.screen = screen
        self.scale = scale
        self.panelWidth = panelWidth
        self.timezone = timezone
        self.givenTimezone = givenTimezone ?? timezone
        self.languages = languages
    }

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

    /// `UIDevice.model` for what a script or an app may call an Apple device; nil for any other model.
    static func appleModel(_ model: String?, touchPoints: Int?) -> String? {
        guard let name = model else { return nil }
        if begins(name, "iphone") { return "iPhone" }
        if begins(name, "ipad") { return "iPad" }
        if begins(name, "ipod") { return "iPod touch" }
        if begins(name, "mac"), let touchPoints, touchPoints > 1 { return "iPad" }
        return nil
    }

    /// Whether the text begins with the word, which is in lower case, in either case and after blanks.
    private static func begins(_ text: String, _ word: String) -> Bool {
        var rest = text.utf8.drop { $0.isBlank }
        for byte in word.utf8 {
            guard let first = rest.popFirst(), first.asciiLowercased == byte else { return false }
        }
        return true
    }
}
