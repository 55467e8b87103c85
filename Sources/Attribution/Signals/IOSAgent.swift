/// A user agent of an iPhone, an iPad or an iPod touch.
struct IOSAgent {
    /// `iPhone`, `iPad` or `iPod touch`, as `UIDevice.model` says; nil for an app that does not tell.
    let model: String?
    let osVersion: OSVersion?

    /// Nil when the agent is of no such device.
    init?(_ text: AgentText, touchPoints: Int?) {
        if let model = Self.model(in: text) {
            self.model = model
            osVersion = Self.osVersion(in: text)
        } else if text.contains("(Macintosh;"), let touchPoints, touchPoints > 1 {
            // An iPad in desktop dress prints a frozen macOS version, but Safari's own is that of iPadOS.
            model = "iPad"
            osVersion = text.version(after: "FBSV/") ?? text.version(after: " Version/")
        } else if text.contains(" CFNetwork/"), text.contains(" Darwin/") {
            // The default agent of an iOS app's own requests.
            model = nil
            osVersion = nil
        } else {
            return nil
        }
    }

    private static func model(in text: AgentText) -> String? {
        if text.contains("(iPhone") { return "iPhone" }
        if text.contains("(iPad") { return "iPad" }
        if text.contains("(iPod") { return "iPod touch" }
        return nil
    }

    /// The iOS version by the most reliable of the agent's statements.
    ///
    /// Since iOS 26 Safari prints 18_6 or 18_7 in the place of the OS version, so that this token counts only
    /// where something else bears it out. A weaker statement that agrees may add its patch number.
    private static func osVersion(in text: AgentText) -> OSVersion? {
        let token = text.version(after: " OS ")
        let version = text.version(after: " Version/")
        let best =
            text.version(after: "FBSV/") ?? text.version(after: "; iOS ") ?? build(in: text)
            ?? (honestBrowsers.firstMatch(in: text.bytes) != nil ? token : nil)
            ?? version.flatMap { $0.major >= 26 ? $0 : nil }
        guard let best else { return isFrozen(token) && version == nil ? nil : token }
        guard best.patch == 0, let token, token.agreesInMajorAndMinor(with: best) else { return best }
        return token
    }

    /// Browsers other than Safari fill in the OS token themselves, truthfully.
    private static let honestBrowsers = TokenSet([
        "CriOS/", "FxiOS/", "EdgiOS/", "OPiOS/", "OPT/", "OPX/", "DuckDuckGo/", "GSA/", "YaBrowser/",
        "Brave/", "Focus/", "Ddg/",
    ])

    static func isFrozen(_ token: OSVersion?) -> Bool {
        token == OSVersion(major: 18, minor: 6) || token == OSVersion(major: 18, minor: 7)
    }

    /// Major version by the number that begins Apple's build names.
    private static let majorOfBuild = [19: 15, 20: 16, 21: 17, 22: 18, 23: 26]

    /// The version that a real build name (`Mobile/23B85`) belongs to: its letter counts the minor versions.
    ///
    /// Safari freezes it at `15E148`, which says nothing and is in no row of the table.
    private static func build(in text: AgentText) -> OSVersion? {
        guard let name = text.value(after: " Mobile/", while: \.isASCIIAlphanumeric) else { return nil }
        let digits = name.utf8.prefix(while: \.isASCIIDigit)
        guard digits.count == 2, let number = Int(String(decoding: digits, as: UTF8.self)),
            let major = majorOfBuild[number], let letter = name.utf8.dropFirst(2).first,
            (UInt8(ascii: "A")...UInt8(ascii: "H")).contains(letter)
        else { return nil }
        return OSVersion(major: major, minor: Int(letter - UInt8(ascii: "A")))
    }
}
