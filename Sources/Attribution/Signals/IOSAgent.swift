/// A user agent of an iPhone, an iPad or an iPod touch.
struct IOSAgent {
    /// `iPhone`, `iPad` or `iPod touch`, as in `UIDevice.model`; nil if the app's agent does not contain it.
    let model: String?
    let system: OSVersionReading

    /// Creates the agent; nil if the agent is not from one of these devices.
    ///
    /// - Parameters:
    ///   - text: the agent.
    ///   - touchPoints: the number of touch points that a script reported.
    ///   - isNarrow: whether the script reported a screen that is too narrow for an iPad.
    ///   - releases: the known versions.
    init?(_ text: AgentText, touchPoints: Int?, isNarrow: Bool, _ releases: IOSReleases) {
        let device = Self.device(in: text)
        let isMacintosh = text.contains(.macintosh)
        if !isMacintosh, let model = Self.model(in: text) ?? device {
            self.model = device == "iPad" ? "iPad" : model
            system = Self.system(in: text, releases)
        } else if isMacintosh, touchPoints ?? 0 > 1 || device != nil {
            // An iPad that requests desktop pages prints a fixed macOS version, but its Safari has the
            // version of iPadOS. An iPhone does the same, if its owner requests the desktop page.
            model = device ?? (isNarrow ? "iPhone" : "iPad")
            system = Self.desktopSystem(text, releases)
        } else if let darwin = text.darwin {
            model = nil
            system = releases.reading(ofDarwin: darwin)
        } else {
            return nil
        }
    }

    /// Returns the model; if an agent names several models, pages should assume the first one.
    private static func model(in text: AgentText) -> String? {
        let phone = text.end(of: .iPhone) ?? .max
        let pad = text.end(of: .iPad) ?? .max
        let pod = text.end(of: .iPod) ?? .max
        let first = min(phone, pad, pod)
        guard first < .max else { return nil }
        return first == phone ? "iPhone" : first == pad ? "iPad" : "iPod touch"
    }

    /// Returns the model from the machine's name (`iPad14,3`) that some apps add; the name reveals an iPad
    /// even if an iPhone app on it requests an iPhone's pages.
    private static func device(in text: AgentText) -> String? {
        if let machine = text.value(after: .facebookDevice, while: \.isASCIILetter) { return model(machine) }
        guard let app = text.end(of: .instagram) ?? text.end(of: .threads),
            let bracket = text.bytes[app...].firstIndex(of: UInt8(ascii: "("))
        else { return nil }
        return model(text.bytes[(bracket + 1)...].prefix(while: \.isASCIILetter))
    }

    private static func model(_ machine: ArraySlice<UInt8>) -> String? {
        if machine.elementsEqual("iPhone".utf8) { return "iPhone" }
        if machine.elementsEqual("iPad".utf8) { return "iPad" }
        return machine.elementsEqual("iPod".utf8) ? "iPod touch" : nil
    }

    /// Returns the version from the most reliable part of the agent.
    ///
    /// Since iOS 26 Safari prints 18_6 or 18_7 after ` OS ` instead of the system's version. Such a number
    /// therefore counts only if another part confirms it. A less reliable part may add the patch.
    private static func system(in text: AgentText, _ releases: IOSReleases) -> OSVersionReading {
        let token = text.version(after: .system)
        let exact = token.map(OSVersionReading.exact) ?? .unknown
        if let reported = appToken(in: text) {
            if reported.patch == 0, let token, token.majorMinor == reported { return .exact(token) }
            return .exact(reported)
        }
        let build = text.value(after: .mobile, while: \.isASCIIAlphanumeric)
            .map { releases.reading(ofBuild: $0) }
        if let build, build != .unknown { return build.sharpened(by: exact) }
        let version = text.version(after: .version)
        let isNew = version?.major ?? 0 >= 26
        // An agent without ` OS ` is not Safari's, and its ` Version/` may be the browser's own version.
        guard let token else { return isNew ? version.map(reading(safari:)) ?? .unknown : .unknown }
        let isFrozen = releases.isFrozen(token)
        // Some browsers in the table of truthful ones print the frozen number too, together with Safari's version.
        if !(isFrozen && isNew), releases.isTruthfulBrowser(text.bytes) {
            // Chrome omits the patch, or writes a zero instead.
            return token.patch > 0 ? .exact(token) : .minor(token)
        }
        if let version, isNew { return reading(safari: version).sharpened(by: exact) }
        return isFrozen && version == nil ? .frozen(token) : .exact(token)
    }

    private static func desktopSystem(_ text: AgentText, _ releases: IOSReleases) -> OSVersionReading {
        if let reported = appToken(in: text) { return .exact(reported) }
        // Other browsers print a fixed Safari version when they request desktop pages.
        guard let version = text.version(after: .version), !releases.isTruthfulBrowser(text.bytes)
        else { return .unknown }
        return reading(safari: version)
    }

    /// Returns the system's version that an app adds to its agent.
    private static func appToken(in text: AgentText) -> OSVersion? {
        text.version(after: .facebookSystemVersion) ?? text.version(after: .appSystem)
            ?? text.version(after: .appPadSystem)
    }

    /// Reads Safari's own version, which equals the system's version, usually without the patch.
    private static func reading(safari version: OSVersion) -> OSVersionReading {
        version.patch > 0 ? .exact(version) : .minor(version)
    }
}

/// The releases of iOS and iPadOS, their shares, and other values that reveal a version.
///
/// iPadOS has the versions of iOS, so one table serves both.
public final class IOSReleases: Sendable {
    /// A release that a device may have.
    public struct Release: Hashable, Sendable {
        public let version: OSVersion
        /// The version in the system's spelling.
        public let text: String
        /// Its probability among the releases of the same list, 0…1.
        public let share: Double

        init(_ version: OSVersion, on platform: Platform = .ios, share: Double = 1) {
            self.version = version
            text = version.text(for: platform)
            self.share = share
        }
    }

    /// A version (the token) that Safari prints instead of the system's own version.
    struct Freeze: Sendable {
        let token: OSVersion
        /// The first version of the system that prints the token.
        let first: OSVersion
        /// The last version of the system that prints the token; nil if the latest ones still do.
        let last: OSVersion?

        func covers(_ version: OSVersion) -> Bool {
            // On a device with the token's version, the token is true.
            version == token || version >= first && (last.map { version.majorMinor <= $0 } ?? true)
        }
    }

    /// Every release, the most common first.
    public let all: [Release]
    /// The release of each known version, as a list with one element.
    private let byVersion: [OSVersion: [Release]]
    private let byMinor: [OSVersion: [Release]]
    private let byMajor: [Int: [Release]]
    private let byFrozenToken: [OSVersion: [Release]]
    private let builds: [String: OSVersion]
    private let majorByBuildNumber: [Int: Int]
    private let majorByDarwin: [Int: Int]
    private let truthfulBrowsers: TokenSet

    init(_ rows: IOSReleaseRows) {
        all = Self.normalized(rows.weights)
        byVersion = Dictionary(grouping: rows.weights, by: \.version).mapValues(Self.normalized)
        byMinor = Dictionary(grouping: rows.weights) { $0.version.majorMinor }.mapValues(Self.normalized)
        byMajor = Dictionary(grouping: rows.weights) { $0.version.major }.mapValues(Self.normalized)
        byFrozenToken = Dictionary(rows.freezes.map { ($0.token, $0) }) { first, _ in first }
            .mapValues { freeze in Self.normalized(rows.weights.filter { freeze.covers($0.version) }) }
        builds = rows.builds
        majorByBuildNumber = rows.majorByBuildNumber
        majorByDarwin = rows.majorByDarwin
        truthfulBrowsers = TokenSet(rows.truthfulBrowsers)
    }

    /// Returns the releases that fit the known part of a version, the most common first; for a version that
    /// the table lacks, that version alone, or nothing if only its major number is known.
    public func candidates(for reading: OSVersionReading) -> [Release] {
        switch reading {
        case .unknown: all
        case .frozen(let token): byFrozenToken[token] ?? [Release(token)]
        case .major(let major): byMajor[major] ?? []
        case .minor(let version): byMinor[version.majorMinor] ?? [Release(version)]
        case .exact(let version): byVersion[version] ?? [Release(version)]
        }
    }

    /// Returns whether Safari prints this version instead of others.
    func isFrozen(_ token: OSVersion) -> Bool { byFrozenToken[token] != nil }

    /// Reads the name of a build, such as `23B85`.
    ///
    /// The table has the exact version of a known build. For another build, the letter shows the minor
    /// version, counted from A; the version is unknown for a letter after H and for an unknown number.
    ///
    /// The table does not contain `15E148`, which Safari prints on every device.
    func reading(ofBuild name: ArraySlice<UInt8>) -> OSVersionReading {
        guard name.count <= 12, let letter = name.dropFirst(2).first,
            let number = Int(String(decoding: name.prefix(2), as: UTF8.self)),
            let major = majorByBuildNumber[number]
        else { return .unknown }
        if let version = builds[String(decoding: name, as: UTF8.self)] { return .exact(version) }
        guard (UInt8(ascii: "A")...UInt8(ascii: "H")).contains(letter) else { return .unknown }
        return .minor(OSVersion(major: major, minor: Int(letter - UInt8(ascii: "A"))))
    }

    /// Returns the system's version for the version of the kernel in an app's default agent (`Darwin/25.1.0`).
    func reading(ofDarwin version: OSVersion) -> OSVersionReading {
        guard let major = major(ofDarwin: version.major) else { return .unknown }
        return version.minor < Self.lastDarwinMinor
            ? .minor(OSVersion(major: major, minor: version.minor)) : .major(major)
    }

    /// The largest minor version of the kernel; it means that the system has this minor version or a later one.
    static let lastDarwinMinor = 6

    /// Returns the system's major version for the kernel's; nil if the table does not contain it.
    func major(ofDarwin major: Int) -> Int? { majorByDarwin[major] }

    /// Returns whether the agent belongs to a browser that prints the true version of the system.
    func isTruthfulBrowser(_ agent: [UInt8]) -> Bool { truthfulBrowsers.firstMatch(in: agent) != nil }

    private static func normalized(_ weights: [(version: OSVersion, weight: Double)]) -> [Release] {
        let sum = weights.reduce(0) { $0 + $1.weight }
        return
            weights
            .sorted { ($0.weight, $0.version) > ($1.weight, $1.version) }
            .map { Release($0.version, share: $0.weight / sum) }
    }
}
