/// A user agent of an Android device.
struct AndroidAgent {
    let model: String?
    let system: OSVersionReading
    var pixels: ScreenSize?
    var languageTag: String?

    /// Creates the agent; nil if it is not an Android device's.
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

    /// The largest number of lists to read; a list is the text after `Android`, with values separated by semicolons.
    private static let maximumLists = 3

    /// Reads the lists that start with `Android`; some apps put a list of their own before the list of their web view.
    private static func platform(in text: AgentText) -> (model: String?, version: OSVersion?) {
        var version: OSVersion?
        // In an agent of an app's own form, the position of the model is unknown, so read only the version.
        let isBrowser = text.contains(.mozilla) || text.contains(.dalvik) || isBare(text)
        var next = text.end(of: .android)
        var lists = 0
        while let start = next, lists < maximumLists {
            lists += 1
            let segments = text.list(from: start)
            if let found = segments.first.flatMap({ OSVersion(bytes: $0) }) {
                version = version ?? found
                // Chrome's reduced agent contains `Android 10; K` on every device.
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

    /// Returns whether the agent names no browser: `Linux; U; Android 13; Mi 10 Pro Build/…` or `Android 14; SM-A546E`.
    private static func isBare(_ text: AgentText) -> Bool {
        text.bytes.starts(with: "Linux;".utf8) || text.bytes.starts(with: "Android ".utf8)
    }

    private init(model: String?, system: OSVersionReading) {
        self.model = model
        self.system = system
    }

    /// Reads `Instagram 300.0 Android (36/16; 420dpi; 1080x2424; Google; Pixel 9; tokay; tokay; tr_TR; …`;
    /// the fields are API level and version, density, screen, maker, model, code name, chip and language.
    private static func instagram(_ text: AgentText) -> AndroidAgent? {
        guard let app = text.end(of: .instagram) ?? text.end(of: .threads),
            let start = listStart(in: text, after: app)
        else { return nil }
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

    /// Returns the position after `Android (` in the text after the app's name.
    private static func listStart(in text: AgentText, after app: Int) -> Int? {
        guard let bracket = text.bytes[app...].firstIndex(of: UInt8(ascii: "(")),
            let android = text.end(of: .android, after: app), android <= bracket
        else { return nil }
        return bracket + 1
    }
}

/// The spelling of Android's `Build.MODEL`.
enum AndroidModel {
    /// The letter that Chrome prints instead of the model.
    static let hidden = "K"

    static let maximumLength = 100

    /// Returns a model without the texts that agents add before and after it; nil if it is hidden or impossible.
    static func clean(_ text: String) -> String? { clean(Array(text.utf8)[...]) }

    /// Returns a model without the texts that agents add before and after it, from its bytes.
    static func clean(_ bytes: ArraySlice<UInt8>) -> String? {
        var model = upTo(wideSemicolon, upTo(miui, upTo(build, bytes))).trimmed
        if model.suffix(webView.count).elementsEqual(webView) { model = model.dropLast(webView.count) }
        if hasPrefix(model, samsung) { model = model.dropFirst(samsung.count) }
        model = model.trimmed
        // The bar separates the components of a fingerprint.
        guard !model.isEmpty, !model.elementsEqual(hidden.utf8), model.count <= maximumLength,
            !model.contains(where: { $0 < 0x20 || $0 == 0x7f || $0 == UInt8(ascii: "|") })
        else { return nil }
        return String(decoding: model, as: UTF8.self)
    }

    /// Returns the model in one part of an agent's list; nil for a part that is something else.
    static func model(inSegment segment: ArraySlice<UInt8>) -> String? {
        let isOther =
            notModels.contains { $0.count == segment.count && hasPrefix(segment, $0) }
            || otherPrefixes.contains { hasPrefix(segment, $0) } || isLocale(segment)
        return isOther ? nil : clean(segment)
    }

    private static let notModels = bytes([
        "u", "wv", "mobile", "tablet", "tv", "harmonyos", "openharmony", "arm", "arm_64", "arm64", "x86",
        "x86_64", "linux",
    ])

    private static let otherPrefixes = bytes(["rv:", "build/", "hmscore", "opera ", "release/"])

    private static let build = Array(" Build/".utf8)
    private static let miui = Array(" MIUI/".utf8)
    /// U+FF1B, the separator of Huawei's browser.
    private static let wideSemicolon = Array("\u{ff1b}".utf8)
    private static let webView = Array("; wv".utf8)
    private static let samsung = Array("samsung ".utf8)

    private static func bytes(_ words: [String]) -> [[UInt8]] { words.map { Array($0.utf8) } }

    /// Returns whether the text starts with the word, ignoring case; the word is in lower case.
    private static func hasPrefix(_ text: ArraySlice<UInt8>, _ word: [UInt8]) -> Bool {
        guard text.count >= word.count else { return false }
        for (index, byte) in word.enumerated()
        where text[text.startIndex + index].asciiLowercased != byte { return false }
        return true
    }

    /// Returns the text before the first occurrence of a word.
    private static func upTo(_ word: [UInt8], _ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var rest = text
        while let start = rest.firstIndex(of: word[0]) {
            if text[start...].starts(with: word) { return text[..<start] }
            rest = text[(start + 1)...]
        }
        return text
    }

    /// Returns whether a word is a locale such as `en`, `en-us` or `en_US`, which old agents put before the model.
    static func isLocale(_ word: ArraySlice<UInt8>) -> Bool {
        guard word.count == 2 || word.count == 5 else { return false }
        for (index, byte) in word.enumerated() {
            let isSeparator = byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
            guard index == 2 ? isSeparator : byte.isASCIILetter else { return false }
        }
        return true
    }
}
