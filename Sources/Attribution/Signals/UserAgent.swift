/// The values that a user agent reveals about its device.
///
/// A value that the agent hides is nil or unknown.
public struct UserAgent: Equatable, Sendable {
    public var platform: Platform
    /// The model in the system's spelling: `iPhone`, `iPad`, `iPod touch`, or an Android device's model.
    public var model: String?
    public var system: OSVersionReading
    /// The language in the agent of an app's own browser: `tr_TR`.
    public var languageTag: String?
    /// Pixels per point in the agent of an app's own browser.
    public var scale: Double?
    /// The sides of the screen in pixels in the agent of an app's own browser.
    public var pixels: ScreenSize?

    /// The version; nil unless its major and minor numbers are known.
    public var osVersion: OSVersion? { system.version }

    init(platform: Platform, model: String? = nil, system: OSVersionReading = .unknown) {
        self.platform = platform
        self.model = model
        self.system = system
    }

    /// - Parameters:
    ///   - text: the header's value.
    ///   - touchPoints: the number of touch points that a script reported; more than one reveals an iPad or an
    ///     iPhone that calls itself a Macintosh to get desktop pages.
    ///   - isNarrow: whether the script reported a screen that is too narrow for an iPad.
    ///   - releases: the known versions of iOS.
    public init(
        _ text: String,
        touchPoints: Int? = nil,
        isNarrow: Bool = false,
        releases: IOSReleases = DeviceData.embedded.releases
    ) { self.init(AgentText(text.utf8.span), touchPoints: touchPoints, isNarrow: isNarrow, releases) }

    public init(_ text: Span<UInt8>, releases: IOSReleases = DeviceData.embedded.releases) {
        self.init(AgentText(text), touchPoints: nil, isNarrow: false, releases)
    }

    private init(_ text: AgentText, touchPoints: Int?, isNarrow: Bool, _ releases: IOSReleases) {
        if let device = IOSAgent(text, touchPoints: touchPoints, isNarrow: isNarrow, releases) {
            self.init(platform: .ios, model: device.model, system: device.system)
        } else if let device = AndroidAgent(text) {
            self.init(platform: .android, model: device.model, system: device.system)
            pixels = device.pixels
            languageTag = device.languageTag
        } else {
            let isEmpty = text.bytes.allSatisfy { $0.isBlank }
            self.init(platform: isEmpty ? .unknown : .other)
            return
        }
        readAppTokens(text)
    }

    /// Reads the additional values in the agents of apps' own browsers.
    private mutating func readAppTokens(_ text: AgentText) {
        languageTag =
            text.tag(after: .facebookLanguage) ?? languageTag ?? instagramLanguage(text)
            ?? text.tag(after: .byteFullLocale) ?? text.tag(after: .byteLocale)
            ?? text.tag(after: .weChatLanguage)
        guard platform == .ios else {
            if pixels == nil, text.contains(.facebookDisplay),
                let width = text.number(after: .width), let height = text.number(after: .height)
            {
                pixels = ScreenSize(Double(width), Double(height))
            }
            return
        }
        let whole =
            text.number(after: .facebookScale) ?? text.number(after: .appScale) ?? text.number(after: .scale)
        // An iPhone app on an iPad reports a scale that is not the screen's.
        if let whole, (1...3).contains(whole), !(model == "iPad" && text.contains(.iPhone)) {
            scale = Double(whole)
        }
        if let scale = text.end(of: .appScale) {
            pixels = text.list(from: scale).lazy.compactMap(ScreenSize.init(pixels:)).first
        }
    }

    /// Reads the language in `…; iOS 26_1; tr_TR; tr; scale=3.00; …`.
    private func instagramLanguage(_ text: AgentText) -> String? {
        guard text.contains(.appScale), let start = text.end(of: .appSystem) ?? text.end(of: .appPadSystem)
        else { return nil }
        return text.list(from: start).dropFirst().first.map { String(decoding: $0.prefix(35), as: UTF8.self) }
    }
}

/// A user agent as bytes, with the positions of the keywords that precede its values.
struct AgentText {
    let bytes: [UInt8]
    private let ends: InlineArray<32, Int16>

    /// The number of bytes of an agent that are read; no real agent is longer.
    static let maximumLength = 2048

    init(_ text: Span<UInt8>) {
        let text = text.extracting(first: Self.maximumLength)
        bytes = [UInt8](capacity: text.count) { free in
            for index in text.indices { free.append(text[index]) }
        }
        ends = AgentKeywordFinder.shared.ends(in: bytes)
    }

    func contains(_ keyword: AgentKeyword) -> Bool { ends[keyword.rawValue] > 0 }

    /// Returns the end of the first occurrence of a keyword; nil if it does not occur.
    func end(of keyword: AgentKeyword) -> Int? {
        let end = Int(ends[keyword.rawValue])
        return end > 0 ? end : nil
    }

    /// Returns the end of the first occurrence of a keyword that starts at `start` or later; nil without one.
    func end(of keyword: AgentKeyword, after start: Int) -> Int? {
        if let first = end(of: keyword), first - keyword.text.utf8.count >= start { return first }
        let text = Array(keyword.text.utf8)
        var rest = bytes[min(start, bytes.count)...]
        while let candidate = rest.firstIndex(of: text[0]) {
            if bytes[candidate...].starts(with: text) { return candidate + text.count }
            rest = bytes[(candidate + 1)...]
        }
        return nil
    }

    /// Returns the bytes after a keyword for which `belongs` is true; nil if there are none.
    func value(after keyword: AgentKeyword, while belongs: (UInt8) -> Bool) -> ArraySlice<UInt8>? {
        guard let start = end(of: keyword) else { return nil }
        let value = bytes[start...].prefix(while: belongs)
        return value.isEmpty ? nil : value
    }

    /// Returns the version of digits, dots and underscores after a keyword; nil without one.
    func version(after keyword: AgentKeyword) -> OSVersion? {
        value(after: keyword) { $0.isASCIIDigit || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "_") }
            .flatMap { OSVersion(bytes: $0) }
    }

    /// The kernel's version in the default agent of an iOS app's own requests
    /// (`CFNetwork/1568.1 Darwin/24.1.0`); nil for another agent, and for an app on an Intel Mac.
    var darwin: OSVersion? { contains(.cfNetwork) && !contains(.intel) ? version(after: .darwin) : nil }

    /// Returns the whole number of up to six digits after a keyword; nil without one.
    func number(after keyword: AgentKeyword) -> Int? {
        value(after: keyword, while: \.isASCIIDigit).flatMap(Self.number)
    }

    /// Returns the language tag after a keyword, cut to 35 characters; nil without one.
    func tag(after keyword: AgentKeyword) -> String? {
        value(after: keyword, while: \.isASCIIWordByte).map { String(decoding: $0.prefix(35), as: UTF8.self) }
    }

    static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        guard (1...6).contains(digits.count), digits.allSatisfy(\.isASCIIDigit) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }

    /// Returns the parts between semicolons from `start` up to the bracket that closes the list, trimmed.
    ///
    /// Brackets are counted, because names of models may contain some: `moto g(60)s`.
    func list(from start: Int) -> [ArraySlice<UInt8>] {
        var parts: [ArraySlice<UInt8>] = []
        parts.reserveCapacity(8)
        var partStart = start
        let end = endOfList(from: start)
        for index in start..<end where bytes[index] == UInt8(ascii: ";") {
            parts.append(bytes[partStart..<index].trimmed)
            partStart = index + 1
        }
        parts.append(bytes[partStart..<end].trimmed)
        return parts
    }

    private func endOfList(from start: Int) -> Int {
        var depth = 0
        var first: Int?
        for index in start..<bytes.count {
            if bytes[index] == UInt8(ascii: "(") { depth += 1 }
            guard bytes[index] == UInt8(ascii: ")") else { continue }
            if depth == 0 { return index }
            depth -= 1
            first = first ?? index
        }
        return first ?? bytes.count
    }
}

/// The keywords in user agents that precede the values to read.
enum AgentKeyword: Int, CaseIterable {
    case iPhone, iPad, iPod, macintosh, android, windowsPhone
    case mozilla, dalvik, system, version, mobile, cfNetwork, darwin, intel
    case facebookSystemVersion, facebookDevice, facebookScale, facebookLanguage, facebookDisplay
    case instagram, threads, appSystem, appPadSystem, appScale, scale, width, height
    case byteFullLocale, byteLocale, weChatLanguage

    var text: String {
        switch self {
        case .iPhone: "(iPhone"
        case .iPad: "(iPad"
        case .iPod: "(iPod"
        case .macintosh: "(Macintosh;"
        case .android: "Android"
        // The agent of a Windows Phone also contains Android, for pages that search for that word.
        case .windowsPhone: "Windows Phone"
        case .mozilla: "Mozilla/"
        case .dalvik: "Dalvik/"
        case .system: " OS "
        case .version: " Version/"
        case .mobile: " Mobile/"
        case .cfNetwork: " CFNetwork/"
        case .darwin: " Darwin/"
        // The default agent of an app on an Intel Mac ends with this.
        case .intel: "(x86_64)"
        // Facebook's apps: [FBAN/FBIOS;FBDV/iPhone15,2;FBSV/26.2;FBSS/3;FBLC/tr_TR].
        case .facebookSystemVersion: "FBSV/"
        case .facebookDevice: "FBDV/"
        case .facebookScale: "FBSS/"
        case .facebookLanguage: "FBLC/"
        case .facebookDisplay: "FBDM/"
        // Instagram and Threads: (iPhone13,3; iOS 26_1; tr_TR; tr; scale=3.00; 1170x2532; …).
        case .instagram: "Instagram "
        case .threads: "Barcelona "
        case .appSystem: "; iOS "
        case .appPadSystem: "; iPadOS "
        case .appScale: "; scale="
        // AFNetworking and Alamofire: (iPhone; iOS 17.2; Scale/3.00).
        case .scale: "Scale/"
        // FBDM/{density=3.0,width=1080,height=2076}.
        case .width: "width="
        case .height: "height="
        // TikTok: ByteFullLocale/tr, ByteLocale/tr-TR.
        case .byteFullLocale: "ByteFullLocale/"
        case .byteLocale: "ByteLocale/"
        // WeChat: Language/zh_CN.
        case .weChatLanguage: " Language/"
        }
    }
}

/// Finds all keywords in one pass over a text, byte by byte.
struct AgentKeywordFinder: Sendable {
    static let shared = AgentKeywordFinder()

    private struct Entry {
        let keyword: Int
        /// The range in `bytes` of the keyword's bytes after its first two.
        let rest: Range<Int>
        /// The index of the next entry that starts with the same two bytes; -1 for none.
        let next: Int
    }

    private let bytes: [UInt8]
    private let entries: [Entry]
    /// For each two bytes that a keyword may start with, the index of the first entry; -1 for none.
    ///
    /// Each byte that starts a keyword has a block of 256 indices, one for each second byte.
    private let first: [Int16]
    /// For each byte that starts a keyword, the number of its block in `first`, from 1; 0 for any other.
    private let blocks: [UInt8]

    private init() {
        precondition(AgentKeyword.allCases.count <= 32, "there is room for 32 keywords")
        var bytes: [UInt8] = []
        var entries: [Entry] = []
        var first: [Int16] = []
        var blocks = [UInt8](repeating: 0, count: 256)
        for keyword in AgentKeyword.allCases {
            let text = Array(keyword.text.utf8)
            if blocks[Int(text[0])] == 0 {
                first += [Int16](repeating: -1, count: 256)
                blocks[Int(text[0])] = UInt8(first.count / 256)
            }
            let slot = (Int(blocks[Int(text[0])]) - 1) * 256 + Int(text[1])
            let start = bytes.count
            bytes += text.dropFirst(2)
            entries.append(
                Entry(keyword: keyword.rawValue, rest: start..<bytes.count, next: Int(first[slot]))
            )
            first[slot] = Int16(entries.count - 1)
        }
        (self.bytes, self.entries, self.first, self.blocks) = (bytes, entries, first, blocks)
    }

    /// Returns the end of the first occurrence of each keyword, by its raw value; 0 for a missing keyword.
    func ends(in text: [UInt8]) -> InlineArray<32, Int16> {
        var ends = InlineArray<32, Int16>(repeating: 0)
        let text = text.span
        let blocks = blocks.span
        let first = first.span
        let entries = entries.span
        let keywords = bytes.span
        guard text.count >= 2 else { return ends }
        for start in 0..<text.count - 1 {
            let block = Int(blocks[Int(text[start])])
            guard block > 0 else { continue }
            var entry = Int(first[(block - 1) * 256 + Int(text[start + 1])])
            while entry >= 0 {
                let candidate = entries[entry]
                entry = candidate.next
                let end = start + 2 + candidate.rest.count
                guard ends[candidate.keyword] == 0, end <= text.count else { continue }
                var index = 0
                while index < candidate.rest.count,
                    text[start + 2 + index] == keywords[candidate.rest.lowerBound + index]
                { index += 1 }
                if index == candidate.rest.count { ends[candidate.keyword] = Int16(clamping: end) }
            }
        }
        return ends
    }
}
