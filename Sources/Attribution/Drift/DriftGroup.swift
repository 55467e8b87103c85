internal import CMath

/// The kind of events that a ``DriftGroup`` counts.
///
/// The raw value is the word in the database and in the JSON.
public enum DriftSide: String, CaseIterable, Sendable {
    /// Checks and their matches, by the launch's platform, OS version and SDK version.
    case launch
    /// Clicks and their matches, by the click's platform, OS version and browser.
    ///
    /// A check without a match does not show through which browser its visitor had clicked. If a browser
    /// changes the values that it sends, only the matches of its clicks show the change.
    case click
}

/// The launches of one platform, OS version and SDK version, or the clicks of one platform, OS version and
/// browser, whose match rate is watched.
public struct DriftGroup: Hashable, Sendable {
    public enum Part: Hashable, Sendable {
        case value(String)
        case unknown
        /// All values that have too few matches to be watched by themselves.
        case others
        /// All values together, as in the group that stands for a whole app.
        case all
    }

    public let side: DriftSide
    public let platform: Part
    /// The major and minor number, or the major number alone if the minor is unknown.
    ///
    /// It ends with `+` if the app's user agent shows only that the version is this one or later.
    public let osVersion: Part
    /// The SDK version of a launch, the browser of a click.
    public let client: Part

    public init(_ side: DriftSide, platform: Part, osVersion: Part, client: Part) {
        (self.side, self.platform, self.osVersion, self.client) = (side, platform, osVersion, client)
    }

    public init(launchOn platform: Platform, release: OSRelease?, sdk: SDKVersion?) {
        self.init(
            .launch,
            platform: Part(platform),
            osVersion: release.map { .value(Self.text(of: $0)) } ?? .unknown,
            client: sdk.map { .value($0.text) } ?? .unknown
        )
    }

    /// Creates the group of a click; `osVersion` is its major and minor number.
    public init(clickOn platform: Platform, osVersion: String?, browser: BrowserFamily) {
        self.init(
            .click,
            platform: Part(platform),
            osVersion: osVersion.map { Part(text: $0) } ?? .unknown,
            client: browser == .unknown ? .unknown : .value(browser.rawValue)
        )
    }

    /// Returns the group of all launches or all clicks of an app.
    public static func whole(_ side: DriftSide) -> DriftGroup {
        DriftGroup(side, platform: .all, osVersion: .all, client: .all)
    }

    public var isWhole: Bool { platform == .all }

    private static func text(of release: OSRelease) -> String {
        guard let minor = release.minor else { return "\(release.major)" }
        return "\(release.major).\(minor)\(release.isAtLeast ? "+" : "")"
    }
}

extension DriftGroup.Part {
    /// Creates a value from 1 to 24 letters, digits, `.`, `_` and `+`; ``unknown`` for any other text.
    public init(text: String) {
        let isWord = text.utf8.allSatisfy { byte in
            byte.isASCIIAlphanumeric || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
                || byte == UInt8(ascii: "+")
        }
        self = isWord && (1...24).contains(text.utf8.count) ? .value(text) : .unknown
    }

    init(_ platform: Platform) { self = platform == .unknown ? .unknown : .value(platform.rawValue) }

    /// The part's text in a name; values never contain the characters `?`, `*` and `=`.
    fileprivate var text: String {
        switch self {
        case .value(let text): text
        case .unknown: "?"
        case .others: "*"
        case .all: "="
        }
    }

    fileprivate init(nameText: String) {
        self =
            switch nameText {
            case "?": .unknown
            case "*": .others
            case "=": .all
            default: DriftGroup.Part(text: nameText)
            }
    }
}

extension DriftGroup {
    /// The group's stored name, unique within its side: `ios/26.1/1.8.9`.
    public var name: String { "\(platform.text)/\(osVersion.text)/\(client.text)" }

    /// Reads a stored name; nil for a text that does not have three parts between slashes.
    public init?(_ side: DriftSide, name: String) {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
            .map { Part(nameText: String($0)) }
        guard parts.count == 3 else { return nil }
        self.init(side, platform: parts[0], osVersion: parts[1], client: parts[2])
    }
}

extension DriftGroup: Comparable {
    public static func < (left: DriftGroup, right: DriftGroup) -> Bool {
        (left.side.rawValue, left.name) < (right.side.rawValue, right.name)
    }
}

/// The program that opened a link, according to its user agent.
///
/// The raw value is the word in the database and in the JSON.
public enum BrowserFamily: String, CaseIterable, Sendable {
    case instagram, threads, facebook, messenger, tiktok, twitter, whatsapp, telegram, snapchat, pinterest
    case linkedin, wechat, line
    /// Google's search app, which shows pages in a view of its own.
    case googleApp = "google_app"
    case samsung, edge, opera, firefox, huawei, xiaomi, yandex, uc, brave, duckduckgo
    case chrome, safari
    /// An app that shows pages in a view of its own and does not name itself.
    case webView = "web_view"
    case other
    case unknown

    /// - Parameter userAgent: the click's user agent.
    public init(userAgent: String) { self = Browser(userAgent: userAgent).family }

    /// Returns the keyword that decides the family of a user agent in lower case, and the family; nil without a
    /// keyword.
    static func keyword(in bytes: [UInt8]) -> (keyword: String, family: BrowserFamily)? {
        tokens.firstMatch(in: bytes).map { keywords[$0] }
    }

    /// The keywords in user agents, in lower case; the first one of the list that occurs decides.
    ///
    /// Apps come before browsers, because an app's web view also calls itself Chrome or Safari; other
    /// browsers come before Chrome and Safari, because most of them also name one of these.
    private static let keywords: [(keyword: String, family: BrowserFamily)] = [
        ("instagram", .instagram), ("barcelona", .threads), ("fban/messenger", .messenger),
        ("fb_iab/messenger", .messenger), ("fb_iab/orca", .messenger), ("mlite", .messenger),
        ("fban/", .facebook), ("fbav/", .facebook), ("fb_iab", .facebook), ("fbios", .facebook),
        ("tiktok", .tiktok), ("musical_ly", .tiktok), ("musically", .tiktok), ("bytedancewebview", .tiktok),
        ("bytelocale", .tiktok), ("trill_", .tiktok), ("twitter", .twitter), ("whatsapp", .whatsapp),
        ("[wa4a/", .whatsapp), ("telegram", .telegram), ("snapchat", .snapchat), ("pinterest", .pinterest),
        ("linkedin", .linkedin), ("micromessenger", .wechat), (" line/", .line), (" gsa/", .googleApp),
        ("samsungbrowser/", .samsung), ("edgios/", .edge), ("edga/", .edge), ("edg/", .edge),
        ("opr/", .opera), ("opt/", .opera), ("opios/", .opera), ("opera", .opera), ("fxios/", .firefox),
        ("firefox/", .firefox), ("huaweibrowser/", .huawei), ("miuibrowser/", .xiaomi),
        ("yabrowser/", .yandex), ("yaapp", .yandex), ("ucbrowser/", .uc), ("brave/", .brave),
        ("duckduckgo/", .duckduckgo), (" ddg/", .duckduckgo), ("crios/", .chrome), ("; wv)", .webView),
        ("chrome/", .chrome), (" safari/", .safari), (" mobile/", .webView),
    ]

    private static let tokens = TokenSet(keywords.map(\.keyword))
}

/// The version of the requesting SDK, from its header: `paylisher-ios/1.8.9`.
public struct SDKVersion: Hashable, Sendable {
    public let number: OSVersion

    /// Reads the version after the last slash: up to three numbers, which end at the first character that is
    /// neither a digit nor a dot.
    ///
    /// Returns nil if the version does not start with a number from 1 to 999, or if the header has more than 100 bytes.
    ///
    /// The product's name is not read: it is free text, and other values reveal the check's platform.
    public init?(header: Span<UInt8>) {
        guard header.count <= Self.maximumLength else { return nil }
        var start = 0
        for index in header.indices where header[index] == UInt8(ascii: "/") { start = index + 1 }
        var bytes: [UInt8] = []
        var dots = 0
        for index in start..<header.count {
            let byte = header[index]
            if byte == UInt8(ascii: ".") { dots += 1 }
            guard byte.isASCIIDigit || byte == UInt8(ascii: "."), dots < 3 else { break }
            bytes.append(byte)
        }
        if bytes.last == UInt8(ascii: ".") { bytes.removeLast() }
        guard let number = OSVersion(bytes: bytes) else { return nil }
        self.number = number
    }

    public init?(header: String) { self.init(header: header.utf8.span) }

    /// The version with three numbers: `1.9` and `1.9.0` are the same release.
    public var text: String { "\(number.major).\(number.minor).\(number.patch)" }

    /// The maximum length in bytes: longer than any header of a real client.
    private static let maximumLength = 100
}

/// A number of trials (checks or clicks), and the number of matches among them.
public struct DriftCount: Equatable, Sendable {
    public var trials: Int64
    public var matches: Int64

    public init(trials: Int64 = 0, matches: Int64 = 0) {
        self.trials = trials
        self.matches = matches
    }

    /// The matches per trial, at most 1; nil without a trial.
    public var rate: Double? { trials > 0 ? min(1, Double(matches) / Double(trials)) : nil }

    public static func + (left: DriftCount, right: DriftCount) -> DriftCount {
        DriftCount(trials: left.trials &+ right.trials, matches: left.matches &+ right.matches)
    }

    public static func - (left: DriftCount, right: DriftCount) -> DriftCount {
        DriftCount(trials: left.trials &- right.trials, matches: left.matches &- right.matches)
    }

    public static func += (left: inout DriftCount, right: DriftCount) { left = left + right }

    /// The trials, and the matches limited to the number of trials.
    ///
    /// A day can have more matches than clicks, because matches of older clicks count on it too.
    var bounded: (trials: Double, matches: Double) {
        let trials = Double(max(0, trials))
        return (trials, min(trials, Double(max(0, matches))))
    }

    /// The logarithm of the odds of a match, and its variance.
    ///
    /// Half a match and half a miss are added, so that both are finite.
    ///
    /// Source: Haldane: The estimation and significance of the logarithm of a ratio of frequencies (1956).
    var logOdds: (value: Double, variance: Double) {
        let (trials, matches) = bounded
        let hits = matches + 0.5
        let misses = trials - matches + 0.5
        return (cmath_log(hits / misses), 1 / hits + 1 / misses)
    }
}

extension RandomAccessCollection where Element == DriftCount {
    var sum: DriftCount { reduce(DriftCount(), +) }
}

/// The properties by which a check is counted for the watch on match rates.
///
/// It contains no text, so that counting a check without a match costs only a table lookup.
public struct CountedLaunch: Hashable, Sendable {
    public let platform: Platform
    public let release: OSRelease?
    public let sdk: SDKVersion?

    public init(platform: Platform = .unknown, release: OSRelease? = nil, sdk: SDKVersion? = nil) {
        self.platform = platform
        self.release = release
        self.sdk = sdk
    }

    public var group: DriftGroup { DriftGroup(launchOn: platform, release: release, sdk: sdk) }
}
