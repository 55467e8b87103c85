public import Attribution

/// A click or a launch of a simulated world, with the values that a server receives, and the truth.
public enum TraceEvent: Sendable {
    case click(TracedClick)
    case launch(TracedLaunch)

    public var at: Timestamp {
        switch self {
        case .click(let click): click.at
        case .launch(let launch): launch.at
        }
    }
}

public struct TracedClick: Sendable {
    /// The click's position among the clicks of the trace.
    public var number: Int
    public var at: Timestamp
    /// The person who clicked, as part of the truth.
    public var person: UInt64
    public var device: Device
    /// The IPv4 address; nil if it is unknown.
    public var address: UInt32?
    public var userAgent: String
    public var campaign: Int
    /// The link's number; each click on a personal link has a number of its own.
    public var url: Int
}

public struct TracedLaunch: Sendable {
    /// The true cause of a launch.
    public enum Truth: Equatable, Sendable {
        /// The person's last click before the launch, by its number.
        case click(Int)
        case organic
        /// A reinstallation on the same device.
        case reinstall
        /// The previous launch's check again, because the response was lost.
        case retry
    }

    public var at: Timestamp
    public var person: UInt64
    public var device: Device
    /// The text that the client hashes.
    public var fingerprintText: String
    /// The texts of the other fingerprints that the server makes from a client's values.
    public var otherTexts: [String] = []
    /// Whether the client sends its values instead of a hash.
    public var sendsSignals = false
    public var address: UInt32?
    public var userAgent: String
    /// The operating system, as far as the user agent or the values report it; nil if the agent names none.
    public var release: OSRelease?
    /// The number of the click whose token the launch brings; nil for none.
    public var token: Int?
    public var truth: Truth
}

extension TracedClick {
    public var link: String { "myapp://promo/\(url)" }
    public var campaignKey: String { "CAMPAIGN\(campaign)" }

    /// The members of the click's body that a page's script knows, as JSON without braces; no value needs escaping.
    public var members: String {
        #""deeplink_url":"\#(link)","campaign_key":"\#(campaignKey)","#
            + #""platform":"\#(device.platform.rawValue)","signals":\#(device.browserSignals)"#
    }
}

extension Device {
    /// The signals that a page's script reads.
    ///
    /// An iPhone reports its system version without the patch number; an Android phone reports no system version.
    fileprivate var browserSignals: String {
        let system = #","osVersion":"\#(os.majorMinorText(for: .ios))""#
        let model = platform == .ios ? #""model":"\#(model)"\#(system)"# : #""uaModel":"\#(model)""#
        return #"{\#(model),"screenWidth":\#(width),"screenHeight":\#(height),"pixelRatio":\#(scale),"#
            + #""timezone":"\#(zone)","language":"\#(language)","touchPoints":5}"#
    }
}

extension TracedLaunch {
    /// The user agent of the app's requests.
    ///
    /// A user agent that the app sets itself names no operating system.
    public var agent: String {
        guard let release else { return "MyApp/1.0" }
        guard release.platform == .ios else {
            return "Dalvik/2.1.0 (Linux; U; Android \(release.major); \(device.model) Build/UP1A)"
        }
        let darwin = release.major < 26 ? release.major + 6 : release.major - 1
        return "MyApp/1 CFNetwork/1568.1 Darwin/\(darwin).\(release.minor ?? 0).0"
    }
}
