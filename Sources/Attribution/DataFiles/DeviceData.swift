/// Tables of facts about devices that change over the years: iOS releases, screens, names of time zones and
/// codes of languages.
///
/// The tables are built in, and a file that the server reads at its start can replace any kind of rows.
/// `Data/README.md`, in the folder of the embedded files, describes the format. Copies are cheap, because
/// they share the tables.
public struct DeviceData: Sendable {
    public let releases: IOSReleases
    public let screens: ScreenTable
    public let timeZones: TimeZoneTable
    public let languages: LanguageTable

    /// A kind of row.
    ///
    /// The raw value is the word in the files.
    enum Kind: String, CaseIterable {
        case iosRelease = "ios-release"
        case iosBuild = "ios-build"
        case iosDarwin = "ios-darwin"
        case iosFrozen = "ios-frozen"
        case iosBrowser = "ios-browser"
        case iosScreen = "ios-screen"
        case androidWidth = "android-width"
        case zone
        case zoneSpelling = "zone-spelling"
        case language
        case languageSpelling = "language-spelling"

        static let names = allCases.map(\.rawValue)
    }

    private static let fileNames = ["devices.tsv", "languages.tsv", "time-zones.tsv"]

    public static let embedded = builtIn()

    /// Creates the built-in data, in which a file's rows replace all built-in rows of the same kinds.
    ///
    /// Rows of zones also remove the built-in spellings of zones, and rows of languages also remove the built-in
    /// spellings of languages.
    ///
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - file: its name, for error messages.
    /// - Throws: an error with the position of the first row that cannot be read, or an error for a file without rows.
    public init(replacing bytes: [UInt8], file: String) throws(DataFileError) {
        let fileRows = try DataRow.rows(of: bytes, file: file, kinds: Kind.names)
        guard !fileRows.isEmpty else {
            throw DataFileError(file, 0, 0, "contains no row", "Write at least one, or omit the file")
        }
        var replaced = Set(fileRows.map(\.kind))
        // Built-in spellings refer to names that the replaced rows may have contained.
        if replaced.contains(Kind.zone.rawValue) { replaced.insert(Kind.zoneSpelling.rawValue) }
        if replaced.contains(Kind.language.rawValue) { replaced.insert(Kind.languageSpelling.rawValue) }
        try self.init(fileRows + Self.embeddedRows().filter { !replaced.contains($0.kind) })
    }

    private static func builtIn() -> DeviceData {
        do throws(DataFileError) {
            return try DeviceData(embeddedRows())
        } catch { preconditionFailure("the embedded data does not parse: \(error.message)") }
    }

    private static func embeddedRows() throws(DataFileError) -> [DataRow] {
        var rows: [DataRow] = []
        for file in EmbeddedData.files where fileNames.contains(file.name) {
            rows += try DataRow.rows(of: Array(file.text.utf8), file: file.name, kinds: Kind.names)
        }
        return rows
    }

    private init(_ rows: [DataRow]) throws(DataFileError) {
        var tables = DeviceRows()
        // Spellings are added last, because they refer to zones and languages anywhere in the rows.
        let spellings = [Kind.zoneSpelling.rawValue, Kind.languageSpelling.rawValue]
        for row in rows where !spellings.contains(row.kind) { try tables.add(row) }
        for row in rows where spellings.contains(row.kind) { try tables.add(row) }
        releases = IOSReleases(tables.releases)
        screens = ScreenTable(rows: tables.iosScreens, androidPanels: tables.androidPanels)
        timeZones = TimeZoneTable(tables.timeZones)
        languages = LanguageTable(tables.languages)
    }
}

/// The content of all rows, from which the tables of ``DeviceData`` are created.
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

/// The content of the rows about iOS, from which ``IOSReleases`` is created.
struct IOSReleaseRows {
    var weights: [(version: OSVersion, weight: Double)] = []
    var builds: [String: OSVersion] = [:]
    var majorByBuildNumber: [Int: Int] = [:]
    var majorByDarwin: [Int: Int] = [:]
    var freezes: [IOSReleases.Freeze] = []
    var truthfulBrowsers: [String] = []

    mutating func add(release row: DataRow) throws(DataFileError) {
        try row.require(columns: 2...40, named: "version, weight and the names of its builds")
        let version = try row.version(at: 0)
        guard !weights.contains(where: { $0.version == version }) else { throw row.repeated(at: 0) }
        weights.append((version, try row.number(at: 1, in: 0.000_001...1_000_000)))
        for (index, build) in row.columns.enumerated().dropFirst(2) {
            guard build.utf8.count <= 12, build.utf8.allSatisfy(\.isASCIIAlphanumeric)
            else { throw row.error(at: index, "is not the name of a build", "Write it as in 23B85") }
            guard builds.updateValue(version, forKey: build) == nil else { throw row.repeated(at: index) }
        }
    }

    mutating func add(build row: DataRow) throws(DataFileError) {
        try Self.add(row, to: &majorByBuildNumber, named: "the number of the build and the major version")
    }

    mutating func add(darwin row: DataRow) throws(DataFileError) {
        try Self.add(row, to: &majorByDarwin, named: "the kernel's major version and the system's")
    }

    mutating func add(freeze row: DataRow) throws(DataFileError) {
        try row.require(
            columns: 3...3,
            named: "the version that is printed, and the first and last version that print it"
        )
        let token = try row.version(at: 0)
        guard !freezes.contains(where: { $0.token == token }) else { throw row.repeated(at: 0) }
        let first = try row.version(at: 1)
        let last = row.columns[2] == "-" ? nil : try row.version(at: 2)
        if let last, last < first {
            throw row.error(at: 2, "is before the first version", "Write a later version, or - for none")
        }
        freezes.append(IOSReleases.Freeze(token: token, first: first, last: last))
    }

    mutating func add(browser row: DataRow) throws(DataFileError) {
        try row.require(columns: 1...1, named: "a part of the browser's agent")
        guard row.columns[0].utf8.count >= 2
        else { throw row.error(at: 0, "is too short", "Write two characters or more") }
        truthfulBrowsers.append(row.columns[0])
    }

    private static func add(
        _ row: DataRow,
        to majors: inout [Int: Int],
        named names: String
    ) throws(DataFileError) {
        try row.require(columns: 2...2, named: names)
        let number = try row.integer(at: 0, in: 1...99)
        let major = try row.integer(at: 1, in: 1...999)
        guard majors.updateValue(major, forKey: number) == nil else { throw row.repeated(at: 0) }
    }
}

/// The content of the rows about languages, from which ``LanguageTable`` is created.
struct LanguageRows {
    /// Maps each code of a language, the canonical one included, to the canonical code.
    var canonicalCodes: [String: String] = [:]
    /// The spellings that iOS uses in place of a canonical code, by canonical code.
    var iosSpellings: [String: [Spelling]] = [:]
    /// The spellings that Android uses in place of a canonical code, by canonical code.
    var androidSpellings: [String: [Spelling]] = [:]

    mutating func add(language row: DataRow) throws(DataFileError) {
        try row.require(columns: 1...20, named: "the current code and the others")
        for (index, code) in row.columns.enumerated() {
            let isCode =
                (2...8).contains(code.utf8.count)
                && code.utf8.allSatisfy { $0.isASCIILetter && $0 == $0.asciiLowercased }
            guard isCode
            else { throw row.error(at: index, "is not a code of a language", "Write 2 to 8 small letters") }
            guard canonicalCodes.updateValue(row.columns[0], forKey: code) == nil
            else { throw row.repeated(at: index) }
        }
    }

    mutating func add(spelling row: DataRow) throws(DataFileError) {
        try row.require(
            columns: 4...4,
            named: "the current code, the other code, its share on iOS and on Android"
        )
        let code = row.columns[0]
        let other = row.columns[1]
        guard canonicalCodes[other] == code, code != other else {
            throw row.error(
                at: 1,
                "is not another code of the language in column 2",
                "Write the first code of a language row in column 2, and another code of that row here"
            )
        }
        guard iosSpellings[code] == nil else { throw row.repeated(at: 0) }
        iosSpellings[code] = [Spelling(other, weight: try row.number(at: 2, in: 0...1))]
        androidSpellings[code] = [Spelling(other, weight: try row.number(at: 3, in: 0...1))]
    }
}

/// The content of the rows about time zones, from which ``TimeZoneTable`` is created.
struct TimeZoneRows {
    /// The names of each zone, its canonical one first.
    var names: [[String]] = []
    /// The zone of each name, as an index into `names`.
    var positions: [String: Int] = [:]
    /// The spellings that systems use in place of a canonical name, by canonical name.
    var spellings: [String: [Spelling]] = [:]

    mutating func add(zone row: DataRow) throws(DataFileError) {
        try row.require(columns: 1...100, named: "the canonical name and the others")
        for (index, name) in row.columns.enumerated() {
            guard name.utf8.count <= 64, !name.utf8.contains(where: { $0 <= 0x20 || $0 == UInt8(ascii: "|") })
            else { throw row.error(at: index, "is not the name of a zone", "Write it as in Europe/Istanbul") }
            guard positions.updateValue(names.count, forKey: name) == nil
            else { throw row.repeated(at: index) }
        }
        names.append(row.columns)
    }

    mutating func add(spelling row: DataRow) throws(DataFileError) {
        try row.require(columns: 3...3, named: "the canonical name, the other name, and its share")
        let canonical = row.columns[0]
        let other = row.columns[1]
        guard let position = positions[other], names[position][0] == canonical, canonical != other else {
            throw row.error(
                at: 1,
                "is not another name of the zone in column 2",
                "Write the first name of a zone row in column 2, and another name of that row here"
            )
        }
        var known = spellings[canonical] ?? []
        guard !known.contains(where: { $0.text == other }) else { throw row.repeated(at: 1) }
        let left = known.reduce(1) { $0 - $1.weight }
        known.append(Spelling(other, weight: try row.number(at: 2, in: 0...max(0, left))))
        spellings[canonical] = known
    }
}
