/// What Google Play's install referrer service reports about an installation, except for the referrer itself.
public struct PlayInstall: Equatable, Sendable {
    /// A time that Play reports in whole seconds.
    ///
    /// The raw value is Play's own name, in requests and in the database.
    public enum Time: String, CaseIterable, Sendable {
        case storeClickOnDevice = "referrerClickTimestampSeconds"
        case installBeginOnDevice = "installBeginTimestampSeconds"
        /// When a link opened the app's page in the store, by Google's clock.
        case storeClick = "referrerClickTimestampServerSeconds"
        /// When the installation began, by Google's clock.
        case installBegin = "installBeginTimestampServerSeconds"
    }

    /// The seconds since 1970 of the known times.
    private var seconds: [Time: Int64] = [:]
    /// The version of the app that was installed, as Play names it.
    public var version: String?
    /// Whether the person used the app's instant version in the last seven days.
    public var isInstant: Bool?

    /// The range of seconds that are read; 0 means an unknown time, and the largest number is the end of the year 9999.
    public static let allowedSeconds: ClosedRange<Int64> = 0...253_402_300_799
    public static let versionName = "installVersion"
    public static let instantName = "googlePlayInstantParam"

    public init() {}

    /// The seconds since 1970 of a time; nil if Play does not know it.
    public subscript(time: Time) -> Int64? {
        get { seconds[time] }
        set { seconds[time] = newValue == 0 ? nil : newValue }
    }

    /// Returns a time to the second; nil if Play does not know it.
    public func at(_ time: Time) -> Timestamp? { self[time].map { Timestamp(milliseconds: $0 * 1000) } }

    /// Returns when the installation began, by Google's clock; nil if Play does not know it, or if the time was still to
    /// come at the launch.
    public func begin(before launch: Timestamp) -> Timestamp? {
        at(.installBegin).flatMap { $0.isAhead(of: launch) ? nil : $0 }
    }
}

/// The form in which the record of a check stores the report: the known values as `name=value&…`.
extension PlayInstall {
    public var text: String {
        var items = Time.allCases.compactMap { time in self[time].map { "\(time.rawValue)=\($0)" } }
        if let isInstant { items.append("\(Self.instantName)=\(isInstant)") }
        if let version {
            let escaped = String(decoding: PercentEncoding.queryValue(version), as: UTF8.self)
            items.append("\(Self.versionName)=\(escaped)")
        }
        return items.joined(separator: "&")
    }

    /// Reads a ``text``; ignores what this program does not know.
    public init(text: String) {
        for item in QueryItem.items(ofQuery: text[...].utf8) {
            if let time = Time(rawValue: item.name) {
                self[time] = Int64(item.value).flatMap { Self.allowedSeconds.contains($0) ? $0 : nil }
            } else if item.name == Self.instantName {
                isInstant = Bool(item.value)
            } else if item.name == Self.versionName {
                version = item.value
            }
        }
    }
}

/// The longest times in whole seconds by which Google's time of a store click may differ from the time of the click.
public struct PlayBounds: Equatable, Sendable {
    /// How many seconds the store click may come before the click, because clocks differ.
    public let before: Int64
    /// How many seconds the store click may come after the click, because the visitor reads the page first.
    public let after: Int64

    public static let standard = PlayBounds(before: 120, after: 1800)
    /// The allowed seconds of each bound, up to a day.
    public static let allowedSeconds: ClosedRange<Int64> = 0...86_400

    private init(before: Int64, after: Int64) { (self.before, self.after) = (before, after) }

    /// Reads `BEFORE:AFTER`; nil for any other text, and for seconds outside ``allowedSeconds``.
    public init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let seconds = parts.filter { $0.utf8.allSatisfy(\.isASCIIDigit) }.compactMap { Int64($0) }
        guard parts.count == 2, seconds.count == 2, seconds.allSatisfy(Self.allowedSeconds.contains)
        else { return nil }
        self.init(before: seconds[0], after: seconds[1])
    }

    public var text: String { "\(before):\(after)" }
}

/// Play's report on a launch, with the click that it is about.
public struct PlayEvidence: Equatable, Sendable {
    public let install: PlayInstall
    /// The click that the install referrer names, by a token that may be unverified; nil if it names none.
    public let click: ClickID?
    public var bounds = PlayBounds.standard

    public init(_ install: PlayInstall, referrer: String?) {
        self.install = install
        click = referrer.flatMap { InstallReferrer($0).reference?.namedClick }
    }

    /// Returns why the report casts doubt on a match of a click; nil if it does not, or is about another click.
    ///
    /// Google's and Afterlink's times are compared in whole seconds, because Google reports no fractions.
    public func finding(of click: ClickID, at clickedAt: Timestamp, launchedAt: Timestamp) -> PlayFinding? {
        guard click == self.click else { return nil }
        guard let storeClick = install[.storeClick], install.begin(before: launchedAt) != nil,
            let begin = install[.installBegin]
        else {
            // One clock made both times of the device, so their order counts even if the clock is wrong.
            guard let storeClick = install[.storeClickOnDevice], let begin = install[.installBeginOnDevice],
                begin < storeClick
            else { return .noServerTimes }
            return .clickInjection
        }
        guard begin >= storeClick else { return .clickInjection }
        let delay = storeClick - CivilDate.floorDivide(clickedAt.milliseconds, by: 1000)
        return (-bounds.before...bounds.after).contains(delay) ? nil : .clickSpamming
    }
}

extension ClickReference {
    /// The click that the reference names; nil for a text that is no token.
    var namedClick: ClickID? {
        switch self {
        case .click(let id): id
        case .token(let text): ClickToken.click(of: text)
        }
    }
}
