/// What is known of devices in general and ages: releases of systems, panels, names of time zones, codes of
/// languages.
///
/// It is built in, and a file given at start can replace any kind of its rows; `Data/README.md` beside the
/// embedded files describes the format. A value of it is passed along cheaply: the tables are shared.
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

    /// What is built in.
    public static let embedded = builtIn()

    /// What is built in, except for the kinds of rows that `file` holds.
    ///
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - file: its name, for error messages.
    /// - Throws: with the line and column of the first row that cannot be read.
    public init(replacing bytes: [UInt8], file: String) throws(DataFileError) {
        let own = try DataRow.rows(of: bytes, file: file, kinds: Kind.names)
        guard !own.isEmpty else {
            throw DataFileError(file, 0, 0, "holds no row", "Write at least one, or do not give the file")
        }
        var replaced = Set(own.map(\.kind))
        // Spellings speak of names that may be gone with the rows they stood in.
        if replaced.contains(Kind.zone.rawValue) { replaced.insert(Kind.zoneSpelling.rawValue) }
        if replaced.contains(Kind.language.rawValue) { replaced.insert(Kind.languageSpelling.rawValue) }
        try self.init(own + Self.embeddedRows().filter { !replaced.contains($0.kind) })
    }

    private static func builtIn() -> DeviceData {
        do throws(DataFileError) {
            return try DeviceData(embeddedRows())
        } catch {
            preconditionFailure("the embedded data does not parse: \(error.message)")
        }
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
        // Spellings refer to zones and languages, wherever these stand.
        for row in rows
        where row.kind != Kind.zoneSpelling.rawValue
            && row.kind != Kind.languageSpelling.rawValue
        {
            try tables.add(row)
        }
        for row in rows
        where row.kind == Kind.zoneSpelling.rawValue
            || row.kind == Kind.languageSpelling.rawValue
        {
            try tables.add(row)
        }
        releases = IOSReleases(tables.releases)
        screens = ScreenTable(rows: tables.iosScreens, androidPanels: tables.androidPanels)
        timeZones = TimeZoneTable(tables.timeZones)
        languages = LanguageTable(tables.languages)
    }
}
