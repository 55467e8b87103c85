/// The languages that an app comes in, with which iOS negotiates the one the app is told.
///
/// Source: Apple's "How iOS determines the language for your app" (QA1828): the first of the person's preferred
/// languages that the app has, else the app's own.
public struct AppLocalization: Equatable, Sendable {
    /// Canonical codes.
    private let codes: Set<String>
    private let development: String?

    /// Nothing is known of the app.
    public static let unknown = AppLocalization()

    private init() {
        codes = []
        development = nil
    }

    /// - Parameters:
    ///   - localizations: as Xcode names them: `tr`, `pt-BR`, `zh-Hans`; `Base` is no language.
    ///   - developmentLanguage: what the app falls back to.
    ///   - languages: the known codes.
    public init(localizations: [String], developmentLanguage: String?, languages: LanguageTable) {
        development = developmentLanguage.flatMap { languages.canonical($0) }
        var codes = Set(
            localizations.filter { $0.asciiLowercased != "base" }.compactMap { languages.canonical($0) }
        )
        if let development { codes.insert(development) }
        self.codes = codes
    }

    /// The language that the app is told on a device whose preferred languages these are, as canonical codes.
    ///
    /// Nil when the app's own are not known, or none of them fits and it has nothing to fall back to.
    public func negotiated(_ preferred: [String]) -> String? {
        guard !codes.isEmpty, !preferred.isEmpty else { return nil }
        return preferred.first { codes.contains($0) } ?? development
    }
}

extension App.Settings {
    /// What ``localizations`` and ``developmentLanguage`` say.
    public func localization(_ languages: LanguageTable) -> AppLocalization {
        guard !localizations.isEmpty || developmentLanguage != nil else { return .unknown }
        return AppLocalization(
            localizations: localizations,
            developmentLanguage: developmentLanguage,
            languages: languages
        )
    }
}
