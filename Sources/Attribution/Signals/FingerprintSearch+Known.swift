/// The words that a search knows without a click.
extension FingerprintSearch.Vocabulary {
    /// Every value that the tables name, the newest or most common first where they tell.
    public init(_ data: DeviceData) {
        self.init([
            .model: ["iPhone", "iPad", "iPod touch"],
            .osVersion: data.releases.all.map(\.text),
            .screen: data.screens.iosScreens.map(\.text),
            .width: data.screens.panelWidths.map(String.init),
            .timezone: data.timeZones.names,
            .language: data.languages.codes,
        ])
    }

    /// Adds every value that apps on a device with these signals may hash.
    ///
    /// - Parameters:
    ///   - signals: a click's.
    ///   - localization: the languages that the app comes in.
    ///   - data: the tables that say how values are spelled.
    public mutating func add(_ signals: CanonicalSignals, _ localization: AppLocalization, _ data: DeviceData)
    {
        let spellings = SignalSpellings(signals, localization, data)
        for component in SignalComponent.allCases {
            for place in spellings.place(of: component) {
                let text = spellings.choices[place].text
                guard !values[component, default: []].contains(text) else { continue }
                values[component, default: []].append(text)
            }
        }
    }
}

extension ScreenTable {
    /// In points, the smallest first.
    var iosScreens: [ScreenSize] { widths.keys.sorted { ($0.width, $0.height) < ($1.width, $1.height) } }

    /// Of iPhones, iPads and Android devices, in pixels, ascending.
    var panelWidths: [Int] {
        let ios = widths.values.flatMap { $0.values.flatMap { $0.map(\.pixels) } }
        return Set(ios + androidPanels).sorted()
    }
}

extension TimeZoneTable {
    /// Every name under which a system may know a zone.
    var names: [String] { positions.keys.sorted() }
}

extension LanguageTable {
    /// Every code of two or three letters that a device may be set to.
    var codes: [String] {
        let spelled = [iosSpellings, androidSpellings].flatMap { $0.values.flatMap { $0.map(\.text) } }
        return Set(canonicalCodes.values + spelled).sorted()
    }
}
