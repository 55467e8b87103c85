/// By what the counts are kept apart that are watched for a fall.
///
/// The raw value is the word in the database and in the JSON.
public enum DriftSide: String, CaseIterable, Sendable {
    /// Checks and their matches, by what the launch says: platform, OS version, SDK version.
    case launch
    /// Clicks and their matches, by what the click says: platform, OS version, browser.
    ///
    /// A check that found nothing cannot say which browser its click was in: a browser whose signals changed shows
    /// only where its clicks lead to fewer matches.
    case click
}

/// Launches or clicks whose match rate is watched together.
public struct DriftGroup: Hashable, Sendable {
    public enum Part: Hashable, Sendable {
        case value(String)
        /// Nothing told it.
        case unknown
        /// All that have too few matches to be watched each for itself.
        case others
        /// The whole app.
        case all
    }

    public let side: DriftSide
    public let platform: Part
    /// Major and minor number; where a launch's kernel only tells that it is that minor or a later one, with a `+`.
    public let osVersion: Part
    /// The SDK's version of a launch, the browser of a click.
    public let client: Part

    public init(_ side: DriftSide, platform: Part, osVersion: Part, client: Part) {
        self.side = side
        self.platform = platform
        self.osVersion = osVersion
        self.client = client
    }

    /// The group of a launch.
    public init(launchOn platform: Platform, release: OSRelease?, sdk: SDKVersion?) {
        self.init(
            .launch,
            platform: Part(platform),
            osVersion: release.map { .value(Self.text(of: $0)) } ?? .unknown,
            client: sdk.map { .value($0.text) } ?? .unknown
        )
    }

    /// The group of a click; `osVersion` is its major and minor number.
    public init(clickOn platform: Platform, osVersion: String?, browser: BrowserFamily) {
        self.init(
            .click,
            platform: Part(platform),
            osVersion: osVersion.map { Part(text: $0) } ?? .unknown,
            client: browser == .unknown ? .unknown : .value(browser.rawValue)
        )
    }

    /// Everything on one side of an app.
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
    /// `text` where it is one of ours: a word or a number of 24 characters at most; else unknown.
    public init(text: String) {
        let isWord = text.utf8.allSatisfy { byte in
            byte.isASCIIAlphanumeric || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
                || byte == UInt8(ascii: "+")
        }
        self = isWord && (1...24).contains(text.utf8.count) ? .value(text) : .unknown
    }

    init(_ platform: Platform) {
        self = platform == .unknown ? .unknown : .value(platform.rawValue)
    }

    /// The part's text in a name; values have none of these signs.
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
    /// The group within its side in one word, as a store keeps it: `ios/26.1/1.8.9`.
    public var name: String { "\(platform.text)/\(osVersion.text)/\(client.text)" }

    /// The group of a stored name; nil for what is none.
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
