/// A user agent of an Android device.
struct AndroidAgent {
    let model: String?
    let system: OSVersionReading
    var pixels: ScreenSize?
    var languageTag: String?

    /// Nil when the agent is of no such device.
    init?(_ text: AgentText) {
        if let device = Self.instagram(text) {
            self = device
            return
        }
        let isFacebook = text.contains(.facebookDevice) && text.contains(.facebookSystemVersion)
        guard text.contains(.android) || isFacebook, !text.contains(.windowsPhone) else { return nil }
        let appModel = text.value(after: .facebookDevice) {
            $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: "]")
        }
        let platform = Self.platform(in: text)
        model = appModel.flatMap { AndroidModel.clean($0) } ?? platform.model
        system =
            (text.version(after: .facebookSystemVersion) ?? platform.version)
            .map(OSVersionReading.exact) ?? .unknown
    }

    /// No app puts more than one list before that of its web view.
    private static let maximumLists = 3

    /// What the lists say that begin with `Android`; some apps put a short one before that of their web view.
    private static func platform(in text: AgentText) -> (model: String?, version: OSVersion?) {
        var version: OSVersion?
        // What an app writes into an agent of its own design is in no known order.
        let isBrowser = text.contains(.mozilla) || text.contains(.dalvik) || isBare(text)
        var next = text.end(of: .android)
        var lists = 0
        while let start = next, lists < maximumLists {
            lists += 1
            let segments = text.list(from: start)
            if let found = segments.first.flatMap({ OSVersion(bytes: $0) }) {
                version = version ?? found
                // Chrome's reduced agent says `Android 10; K` on every device.
                let isHidden = segments.dropFirst().contains { $0.elementsEqual(AndroidModel.hidden.utf8) }
                if isHidden { return (nil, found == OSVersion(major: 10) ? nil : found) }
            }
            if !isBrowser, version != nil { return (nil, version) }
            if isBrowser,
                let model = segments.dropFirst().lazy.compactMap(AndroidModel.model(inSegment:)).first
            {
                return (model, version)
            }
            next = text.end(of: .android, after: start)
        }
        return (nil, version)
    }

    /// `Linux; U; Android 13; Mi 10 Pro Build/…` and `Android 14; SM-A546E`, without a browser's name.
    private static func isBare(_ text: AgentText) -> Bool {
        text.bytes.starts(with: "Linux;".utf8) || text.bytes.starts(with: "Android ".utf8)
    }

    private init(model: String?, system: OSVersionReading) {
        self.model = model
        self.system = system
    }

    /// `Instagram 300.0 Android (36/16; 420dpi; 1080x2424; Google; Pixel 9; tokay; tokay; tr_TR; …`: API level and
    /// version, density, screen, maker, model, names of the device and its chip, language.
    private static func instagram(_ text: AgentText) -> AndroidAgent? {
        guard let app = text.end(of: .instagram) ?? text.end(of: .threads),
            let start = listStart(in: text, after: app)
        else {
            return nil
        }
        let fields = text.list(from: start)
        guard fields.count >= 5, let slash = fields[0].firstIndex(of: UInt8(ascii: "/")) else { return nil }
        let version = OSVersion(bytes: fields[0][(slash + 1)...])
        var agent = AndroidAgent(
            model: AndroidModel.model(inSegment: fields[4]),
            system: version.map(OSVersionReading.exact) ?? .unknown
        )
        agent.pixels = ScreenSize(pixels: fields[2])
        if fields.count >= 8, AndroidModel.isLocale(fields[7]) {
            agent.languageTag = String(decoding: fields[7], as: UTF8.self)
        }
        return agent
    }

    /// Where the list after `Android (` begins, in what follows the app's own name.
    private static func listStart(in text: AgentText, after app: Int) -> Int? {
        guard let bracket = text.bytes[app...].firstIndex(of: UInt8(ascii: "(")),
            let android = text.end(of: .android, after: app), android <= bracket
        else { return nil }
        return bracket + 1
    }
}
