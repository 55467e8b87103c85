/// What all rows of ``DeviceData`` say, before tables are made of them.
struct DeviceRows {
    var releases = IOSReleaseRows()
    var iosScreens: [ScreenTable.Row] = []
    var androidPanels: [Int] = []
    var timeZones = TimeZoneRows()
    var languages = LanguageRows()

    mutating func add(_ row: DataRow) throws(DataFileError) {
        switch DeviceData.Kind(rawValue: row.kind) {
        case .iosRelease: try releases.add(release: row)
        case .iosBuild: try releases.add(build: row)
        case .iosDarwin: try releases.add(darwin: row)
        case .iosFrozen: try releases.add(freeze: row)
        case .iosBrowser: try releases.add(browser: row)
        case .iosScreen: try add(screen: row)
        case .androidWidth: try add(width: row)
        case .zone: try timeZones.add(zone: row)
        case .zoneSpelling: try timeZones.add(spelling: row)
        case .language: try languages.add(language: row)
        case .languageSpelling: try languages.add(spelling: row)
        case nil: break
        }
    }

    private mutating func add(screen row: DataRow) throws(DataFileError) {
        try row.require(columns: 5...5, named: "points across and along, scale, pixels across and weight")
        let across = try row.integer(at: 0, in: 1...10_000)
        let along = try row.integer(at: 1, in: 1...10_000)
        let scale = try row.integer(at: 2, in: 1...9)
        let width = ScreenTable.Width(
            pixels: try row.integer(at: 3, in: 1...100_000),
            weight: try row.number(at: 4, in: 0.000_001...1_000_000)
        )
        guard across <= along, let screen = ScreenSize(Double(across), Double(along)) else {
            throw row.error(
                at: 1,
                "is less than the points across",
                "Write the sides of a screen held upright"
            )
        }
        let isRepeated = iosScreens.contains {
            $0.screen == screen && $0.scale == scale && $0.width.pixels == width.pixels
        }
        guard !isRepeated else { throw row.repeated(at: 3) }
        iosScreens.append(ScreenTable.Row(screen: screen, scale: scale, width: width))
    }

    private mutating func add(width row: DataRow) throws(DataFileError) {
        try row.require(columns: 1...1, named: "pixels across")
        let width = try row.integer(at: 0, in: 1...100_000)
        guard !androidPanels.contains(width) else { throw row.repeated(at: 0) }
        androidPanels.append(width)
    }
}
