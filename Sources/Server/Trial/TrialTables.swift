public import Attribution

/// The browsers, devices, people and SDK releases of trials (simulated clicks and launches) in `Data/trials.tsv`.
struct TrialTables: Sendable {
    private(set) var people: [String: TrialPerson] = [:]
    private(set) var devices: [TrialDevice] = []
    private(set) var releases: [SDKRelease] = []
    private(set) var browsers: [BrowserProfile] = []

    static let embedded: TrialTables = {
        do throws(DataFileError) {
            var tables = TrialTables()
            for file in EmbeddedTrials.files {
                let kinds = ["person", "device", "release", "browser", "robot"]
                for row in try DataRow.rows(of: Array(file.text.utf8), file: file.name, kinds: kinds) {
                    try tables.add(row)
                }
            }
            return tables
        } catch { preconditionFailure("the embedded table of trials does not parse: \(error.message)") }
    }()

    private mutating func add(_ row: DataRow) throws(DataFileError) {
        let count = ["person": 4, "device": 7, "release": 5][row.kind] ?? 10
        try row.require(columns: count...count, named: "those that the comment above the rows names")
        let columns = row.columns
        switch row.kind {
        case "person":
            let (zone, languages) = (columns[2], columns[3].split(separator: ",").map(String.init))
            let person = TrialPerson(browserTimezone: zone, deviceTimezone: columns[1], languages: languages)
            people[columns[0]] = person
        case "device": devices.append(try TrialDevice(row))
        case "release": releases.append(try SDKRelease(row))
        default: browsers.append(try BrowserProfile(row, people, devices))
        }
    }
}

/// A browser's observed behaviour: the header fields that it sends, and the values that a page's script can read.
public struct BrowserProfile: Sendable {
    /// The way in which a page learns the model of the device.
    enum Hints: String {
        /// The page does not learn the model.
        case none
        /// The script calls `getHighEntropyValues(["model", "platformVersion"])`.
        case script
        /// The browser sends header fields to a site that requested them with `Accept-CH`.
        case fields
        /// A customer's script states model and version; the user agent has other values.
        case page
    }

    /// The name on the command line, such as `safari-ios-26`.
    public let name: String
    /// A description for people, which names the program and the device.
    public let title: String
    /// The source of the user agent: where it was observed.
    public let source: String
    public let agent: String
    /// The ``TrialDevice/name`` of the device that the browser runs on.
    public let device: String
    /// The system version of the device, as its apps see it.
    public let osVersion: String
    /// Whether this is a robot, a program that fetches pages without a person.
    public let isRobot: Bool
    public let person: TrialPerson
    private let screen: ScreenSides
    private let pixelRatio: Double
    private let model: String
    private let hints: Hints

    /// The built-in profiles, iOS browsers first and robots last.
    public static let all = TrialTables.embedded.browsers

    fileprivate init(
        _ row: DataRow,
        _ people: [String: TrialPerson],
        _ devices: [TrialDevice]
    ) throws(DataFileError) {
        let columns = row.columns
        name = columns[0]
        device = columns[1]
        osVersion = columns[2]
        agent = columns[7]
        source = columns[8]
        title = columns[9]
        isRobot = row.kind == "robot"
        screen = try ScreenSides(row, at: 3)
        model = try row.read(1, "names no device", "Add its row above this one") { name in
            devices.first { $0.name == name }?.model
        }
        pixelRatio = try row.read(4, "is not a number", "Write it as in 2.625") { Double($0) }
        person = try row.read(5, "names no person", "Add the person's row above this one") { people[$0] }
        let advice = "Write none, script, fields or page"
        hints = try row.read(6, "is not a kind of hints", advice) { Hints(rawValue: $0) }
    }

    /// The header fields of client hints that describe the device.
    var fieldHints: [(name: String, value: String)] {
        guard hints == .script || hints == .fields else { return [] }
        let always = [("Sec-CH-UA-Mobile", "?1"), ("Sec-CH-UA-Platform", "\"Android\"")]
        guard hints == .fields else { return always }
        return always + [
            ("Sec-CH-UA-Model", "\"\(model)\""), ("Sec-CH-UA-Platform-Version", "\"\(osVersion).0.0\""),
        ]
    }

    /// Returns the signals that a page's script reads in this browser for a person.
    func signals(of person: TrialPerson) -> DeviceSignals {
        var signals = DeviceSignals()
        signals.model = hints == .page ? model : nil
        signals.osVersion = hints == .page ? osVersion : nil
        signals.screenWidth = Double(screen.width)
        signals.screenHeight = Double(screen.height)
        signals.pixelRatio = pixelRatio
        signals.timezone = person.browserTimezone
        signals.language = person.languages.first
        signals.languages = person.languages
        signals.touchPoints = 5
        signals.uaModel = hints == .script ? model : nil
        signals.uaPlatformVersion = hints == .script ? "\(osVersion).0.0" : nil
        return signals
    }
}

/// A device with the native values that an app's SDK reads and hashes.
public struct TrialDevice: Sendable {
    /// The name on the command line, such as `iphone-13`.
    public let name: String
    public let platform: Platform
    /// `UIDevice.model`, `Build.MODEL`.
    public var model: String
    /// `utsname.machine`; nil on Android.
    private let machine: String?
    /// `UIDevice.systemVersion`, `Build.VERSION.RELEASE`.
    public var osVersion: String
    /// In points on iOS, in pixels on Android.
    private let screen: ScreenSides
    /// `UIScreen.scale`; 1 on Android, whose sides are pixels.
    public let scale: Int

    public static let all = TrialTables.embedded.devices

    fileprivate init(_ row: DataRow) throws(DataFileError) {
        let columns = row.columns
        name = columns[0]
        platform = try row.platform(at: 1)
        model = columns[2]
        machine = columns[3] == "-" ? nil : columns[3]
        osVersion = columns[4]
        screen = try ScreenSides(row, at: 5)
        scale = try row.read(6, "is not a scale", "Write 1, 2 or 3") { text in
            Int(text).flatMap { $0 > 0 ? $0 : nil }
        }
    }

    /// The sides as the SDK hashes them: the shorter side, `x`, the longer side.
    public var screenText: String {
        "\(min(screen.width, screen.height))x\(max(screen.width, screen.height))"
    }

    /// The shorter side in pixels.
    public var widthText: String { String(min(screen.width, screen.height) * scale) }

    /// Returns the values that a newer client sends, in the system's form.
    public func values(for person: TrialPerson) -> NativeSignals {
        var signals = NativeSignals(platform: platform)
        signals.model = model
        signals.machine = machine
        signals.osVersion = osVersion
        signals.screenWidth = Double(screen.width)
        signals.screenHeight = Double(screen.height)
        signals.scale = platform == .ios ? Double(scale) : nil
        signals.timezone = person.deviceTimezone
        signals.language = person.language(on: platform)
        signals.languages = person.languages
        return signals
    }

    /// Returns the text that the device's SDK hashes for a component.
    func value(of component: SignalComponent, for person: TrialPerson) -> String {
        switch component {
        case .model: model
        case .osVersion: osVersion
        case .screen: screenText
        case .width: widthText
        case .timezone: person.deviceTimezone
        case .language: person.language(on: platform)
        }
    }
}

/// A released SDK: the values that it hashes, and the fields that it sends at the first launch.
public struct SDKRelease: Sendable {
    /// The name on the command line, such as `1.8.9` or `android`.
    public let name: String
    public let platform: Platform
    public let form: FingerprintForm
    /// `X-SDK-Version`, which several releases share.
    public let versionField: String
    /// Whether it sends `X-Device-Platform`.
    let namesPlatform: Bool
    /// Whether the client sends its signals, from which the server makes the fingerprint.
    public let sendsRawSignals: Bool

    public static let all = TrialTables.embedded.releases

    fileprivate init(_ row: DataRow) throws(DataFileError) {
        name = row.columns[0]
        platform = try row.platform(at: 1)
        form = try row.read(2, "is not a form", "Write the form's letter") { FingerprintForm(rawValue: $0) }
        versionField = row.columns[3]
        namesPlatform = row.columns[4] == "yes"
        sendsRawSignals = false
    }

    /// Creates a newer client, which calls `POST …/resolve`.
    ///
    /// The client's form is the one with the fewest components, because the server derives this form from the signals.
    public init(withValuesOn platform: Platform, name: String = "resolve") {
        self.name = name
        self.platform = platform
        form = FingerprintForm.smallest(on: platform)
        versionField = "simulated-\(platform.rawValue)/2.0.0"
        namesPlatform = false
        sendsRawSignals = true
    }
}

/// A person's time zone and languages, as their browser and their apps see them.
public struct TrialPerson: Equatable, Sendable {
    /// `Intl.DateTimeFormat().resolvedOptions().timeZone`.
    public var browserTimezone: String
    /// `TimeZone.current.identifier`, `TimeZone.getDefault().id`: often the newer name of the same zone.
    public var deviceTimezone: String
    /// `navigator.languages`.
    public var languages: [String]
    /// The language that apps see, as a code or a tag; nil if it is the browser's first language.
    public var deviceLanguage: String?

    /// The former language codes that Android still reports, by their current codes.
    private static let oldAndroidCodes = ["he": "iw", "id": "in", "yi": "ji"]

    /// Returns the language that apps see: `Locale.current.languageCode`, `Locale.getDefault().language`.
    public func language(on platform: Platform) -> String {
        let tag = deviceLanguage ?? languages.first ?? "en"
        let code = String(tag.prefix { $0 != "-" && $0 != "_" }).lowercased()
        return platform == .android ? Self.oldAndroidCodes[code] ?? code : code
    }

    /// The header field that browsers and the default clients of apps send: `tr-TR,tr;q=0.9`.
    var acceptLanguage: String {
        languages.enumerated().map { position, tag in
            position == 0 ? tag : "\(tag);q=0.\(max(1, 10 - position))"
        }.joined(separator: ",")
    }
}

/// The sides of a screen, in the units of its row.
private struct ScreenSides: Sendable {
    let width: Int
    let height: Int

    init(_ row: DataRow, at index: Int) throws(DataFileError) {
        let sides = row.columns[index].split(separator: "x").compactMap { Int($0) }
        guard sides.count == 2 else { throw row.error(at: index, "is not a size", "Write it as in 390x844") }
        (width, height) = (sides[0], sides[1])
    }
}

extension DataRow {
    fileprivate func platform(at index: Int) throws(DataFileError) -> Platform {
        try read(index, "is not a platform", "Write ios or android") { Platform(rawValue: $0) }
    }

    /// Reads the value of a column; throws `problem` with `advice` if `value` returns nil.
    fileprivate func read<Value>(
        _ index: Int,
        _ problem: String,
        _ advice: String,
        _ value: (String) -> Value?
    ) throws(DataFileError) -> Value {
        guard let value = value(columns[index]) else { throw error(at: index, problem, advice) }
        return value
    }
}
