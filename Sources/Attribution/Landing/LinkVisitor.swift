/// The device and browser of a link's visitor, according to the request.
public struct LinkVisitor: Equatable, Sendable {
    /// The kind of device for which a page is made.
    public enum Device: String, CaseIterable, Sendable {
        case iPhone
        case iPad
        case android
        /// Huawei's own system, without Google's services.
        case harmony
        /// A Mac, or an iPad that asks for desktop pages: both have the same agent, and a script
        /// distinguishes them.
        case macOrIPad
        case desktop
    }

    public let device: Device
    public let browser: BrowserFamily

    public init(device: Device, browser: BrowserFamily) {
        self.device = device
        self.browser = browser
    }

    /// - Parameter headers: the fields of the request that describe the browser.
    public init(_ headers: VisitHeaders) {
        self.init(device: Self.device(headers), browser: BrowserFamily(userAgent: headers.userAgent))
    }

    /// The platform whose links and stores the device uses.
    public var platform: Platform {
        switch device {
        case .iPhone, .iPad: .ios
        case .android, .harmony: .android
        case .macOrIPad, .desktop: .other
        }
    }

    private static func device(_ headers: VisitHeaders) -> Device {
        let agent = UserAgent(headers.userAgent)
        if agent.platform == .ios { return agent.model == "iPad" ? .iPad : .iPhone }
        let text = headers.userAgent.utf8.prefix(AgentText.maximumLength).map(\.asciiLowercased)
        let mark = marks.firstMatch(in: text)
        if let mark, mark < harmonyMarkCount { return .harmony }
        if agent.platform == .android || headers.hints.knownPlatform == .android { return .android }
        // Chrome on a Mac sends a platform hint; browsers on iPads send none.
        return mark != nil && headers.hints.platform == nil ? .macOrIPad : .desktop
    }

    private static let harmonyMarkCount = 3
    private static let marks = TokenSet(["openharmony", "harmonyos", "arkweb/", "macintosh"])
}
