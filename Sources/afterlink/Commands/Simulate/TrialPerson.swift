internal import Attribution

/// Where somebody is and what he speaks, as his browser and his apps are told.
struct TrialPerson: Equatable, Sendable {
    /// `Intl.DateTimeFormat().resolvedOptions().timeZone`.
    var browserTimezone: String
    /// `TimeZone.current.identifier`, `TimeZone.getDefault().id`: often the newer name of the same zone.
    var deviceTimezone: String
    /// `navigator.languages`.
    var languages: [String]
    /// The language that apps are told where it is another one than the browser's; a code or a tag.
    var deviceLanguage: String?

    init(timezone: String, browserTimezone: String? = nil, languages: [String]) {
        self.browserTimezone = browserTimezone ?? timezone
        deviceTimezone = timezone
        self.languages = languages
    }

    static let istanbul = TrialPerson(timezone: "Europe/Istanbul", languages: ["tr-TR", "tr", "en-US", "en"])
    static let newYork = TrialPerson(timezone: "America/New_York", languages: ["en-US", "en"])
    static let kolkata = TrialPerson(
        timezone: "Asia/Kolkata",
        browserTimezone: "Asia/Calcutta",
        languages: ["hi-IN", "hi", "en-IN", "en"]
    )
    static let kyiv = TrialPerson(
        timezone: "Europe/Kyiv",
        browserTimezone: "Europe/Kiev",
        languages: ["uk-UA", "uk", "en"]
    )
    static let jerusalem = TrialPerson(timezone: "Asia/Jerusalem", languages: ["he-IL", "he", "en-US", "en"])

    /// Codes that Android gives for languages whose codes have changed since.
    private static let oldAndroidCodes = ["he": "iw", "id": "in", "yi": "ji"]

    /// `Locale.current.languageCode`, `Locale.getDefault().language`.
    func language(on platform: Platform) -> String {
        let tag = deviceLanguage ?? languages.first ?? "en"
        let code = String(tag.prefix { $0 != "-" && $0 != "_" }).lowercased()
        return platform == .android ? Self.oldAndroidCodes[code] ?? code : code
    }

    /// What browsers and the default agents of apps make of the languages: `tr-TR,tr;q=0.9`.
    var acceptLanguage: String {
        languages.enumerated().map { place, tag in
            place == 0 ? tag : "\(tag);q=0.\(max(1, 10 - place))"
        }.joined(separator: ",")
    }
}
