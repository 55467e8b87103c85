/// A user agent of an Android device.
struct AndroidAgent {
    let model: String?
    let osVersion: OSVersion?

    /// Nil when the agent is of no such device.
    init?(_ text: AgentText) {
        if let device = Self.instagram(text) {
            self = device
            return
        }
        guard let start = text.end(of: "Android") else { return nil }
        let segments = Self.list(in: text, from: start)
        let appModel = text.value(after: "FBDV/") { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: "]") }
        model =
            appModel.flatMap { AndroidModel.clean($0) }
            ?? segments.dropFirst().lazy.compactMap(AndroidModel.model(inSegment:)).first
        // Chrome's reduced agent says `Android 10; K` on every device.
        let isReduced = segments.dropFirst().contains(AndroidModel.hidden)
        osVersion =
            text.version(after: "FBSV/") ?? (isReduced ? nil : segments.first.flatMap { OSVersion($0) })
    }

    private init(model: String?, osVersion: OSVersion?) {
        self.model = model
        self.osVersion = osVersion
    }

    /// `Instagram 300.0 Android (36/16; 420dpi; 1080x2424; Google; Pixel 9; tokay; …`: API level and version,
    /// density, screen, maker, model.
    private static func instagram(_ text: AgentText) -> AndroidAgent? {
        guard let app = text.end(of: "Instagram "), let start = text.end(of: " Android (", from: app) else {
            return nil
        }
        let fields = list(in: text, from: start)
        guard fields.count >= 5, let slash = fields[0].utf8.firstIndex(of: UInt8(ascii: "/")) else {
            return nil
        }
        let version = fields[0][slash...].dropFirst()
        return AndroidAgent(model: AndroidModel.clean(fields[4]), osVersion: OSVersion(version))
    }

    /// The parts between semicolons, up to the closing bracket.
    private static func list(in text: AgentText, from start: Int) -> [String] {
        text.bytes[start...].prefix { $0 != UInt8(ascii: ")") }
            .split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
            .map { String(decoding: $0.trimmed, as: UTF8.self) }
    }
}

/// The spelling of Android's `Build.MODEL`.
enum AndroidModel {
    /// What Chrome prints in the place of the model.
    static let hidden = "K"

    static let maximumLength = 100

    /// A model with what agents add to it removed; nil when it is hidden or empty.
    static func clean(_ text: String) -> String? {
        var model = text
        if let build = model.range(ofASCII: " Build/") { model = String(model[..<build.lowerBound]) }
        model = model.trimmed
        if model.hasSuffix("; wv") { model = String(model.dropLast(4)) }
        if model.asciiLowercased.hasPrefix("samsung ") { model = String(model.dropFirst(8)) }
        model = model.trimmed
        guard !model.isEmpty, model != hidden, model.utf8.count <= maximumLength else { return nil }
        return model
    }

    /// The model in one part of an agent's list; nil for a part that is something else.
    static func model(inSegment segment: String) -> String? {
        let text = segment.trimmed
        let word = text.asciiLowercased
        if notModels.contains(word) || word.hasPrefix("rv:") || word.hasPrefix("build/") || isLocale(word) {
            return nil
        }
        return clean(text)
    }

    private static let notModels: Set<String> = [
        "u", "wv", "mobile", "tablet", "tv", "harmonyos", "arm", "arm_64", "arm64", "x86", "x86_64", "linux",
    ]

    /// `en`, `en-us` or `en_US`, which old agents put before the model.
    private static func isLocale(_ word: String) -> Bool {
        let parts = word.utf8.split(whereSeparator: { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") })
        return (1...2).contains(parts.count) && word.utf8.count <= 5
            && parts.allSatisfy { $0.count == 2 && $0.allSatisfy(\.isASCIILetter) }
    }
}
