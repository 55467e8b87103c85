/// The releases of iOS and iPadOS, how common each is, and what else tells a version.
///
/// iPadOS has the versions of iOS, so that one table serves both.
public final class IOSReleases: Sendable {
    /// One release, as a possibility.
    public struct Release: Hashable, Sendable {
        public let version: OSVersion
        /// As the system spells it.
        public let text: String
        /// How likely it is among the possibilities it is listed with, 0…1.
        public let share: Double

        init(_ version: OSVersion, on platform: Platform = .ios, share: Double = 1) {
            self.version = version
            text = version.text(for: platform)
            self.share = share
        }
    }

    /// A version that Safari prints in the place of its own.
    struct Freeze: Sendable {
        let token: OSVersion
        let first: OSVersion
        /// Nil when the latest versions still print it.
        let last: OSVersion?

        func covers(_ version: OSVersion) -> Bool {
            // The token's own version prints the truth.
            version == token || version >= first && (last.map { version.majorMinor <= $0 } ?? true)
        }
    }

    /// Every release, the most common first.
    public let all: [Release]
    /// One release each.
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
        byMinor = Dictionary(grouping: rows.weights) { $0.version.majorMinor }
            .mapValues(Self.normalized)
        byMajor = Dictionary(grouping: rows.weights) { $0.version.major }.mapValues(Self.normalized)
        byFrozenToken = Dictionary(rows.freezes.map { ($0.token, $0) }) { first, _ in first }
            .mapValues { freeze in Self.normalized(rows.weights.filter { freeze.covers($0.version) }) }
        builds = rows.builds
        majorByBuildNumber = rows.majorByBuildNumber
        majorByDarwin = rows.majorByDarwin
        truthfulBrowsers = TokenSet(rows.truthfulBrowsers)
    }

    /// The releases that a reading leaves possible, the most common first; a version that is no known release
    /// stands for itself.
    public func candidates(for reading: OSVersionReading) -> [Release] {
        switch reading {
        case .unknown: all
        case .frozen(let token): byFrozenToken[token] ?? [Release(token)]
        case .major(let major): byMajor[major] ?? []
        case .minor(let version): byMinor[version.majorMinor] ?? [Release(version)]
        case .exact(let version): byVersion[version] ?? [Release(version)]
        }
    }

    /// Whether Safari prints this in the place of other versions.
    func isFrozen(_ token: OSVersion) -> Bool {
        byFrozenToken[token] != nil
    }

    /// What the name of a build (`23B85`) tells: exactly where the release is known, else by its letter, which
    /// counts the minor versions from A.
    ///
    /// Safari prints `15E148` on every device, whose number is in no table.
    func reading(ofBuild name: ArraySlice<UInt8>) -> OSVersionReading {
        guard name.count <= 12, let letter = name.dropFirst(2).first,
            let number = Int(String(decoding: name.prefix(2), as: UTF8.self)),
            let major = majorByBuildNumber[number]
        else { return .unknown }
        if let version = builds[String(decoding: name, as: UTF8.self)] { return .exact(version) }
        guard (UInt8(ascii: "A")...UInt8(ascii: "H")).contains(letter) else { return .unknown }
        return .minor(OSVersion(major: major, minor: Int(letter - UInt8(ascii: "A"))))
    }

    /// What the version of the kernel in an app's default agent (`Darwin/25.1.0`) tells.
    func reading(ofDarwin version: OSVersion) -> OSVersionReading {
        guard let major = major(ofDarwin: version.major) else { return .unknown }
        return version.minor < Self.lastDarwinMinor
            ? .minor(OSVersion(major: major, minor: version.minor)) : .major(major)
    }

    /// The kernel counts the system's minor versions and stops here: this one or a later.
    static let lastDarwinMinor = 6

    /// The system's major version for the kernel's.
    func major(ofDarwin major: Int) -> Int? {
        majorByDarwin[major]
    }

    /// Whether the agent is of a browser that fills in the system's version itself, truthfully.
    func isTruthfulBrowser(_ agent: [UInt8]) -> Bool {
        truthfulBrowsers.firstMatch(in: agent) != nil
    }

    private static func normalized(_ weights: [(version: OSVersion, weight: Double)]) -> [Release] {
        let sum = weights.reduce(0) { $0 + $1.weight }
        return
            weights
            .sorted { ($0.weight, $0.version) > ($1.weight, $1.version) }
            .map { Release($0.version, share: $0.weight / sum) }
    }
}
