/// What stands in user agents before the values that are read from them.
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
        // It names Android, too, for pages that look for it.
        case .windowsPhone: "Windows Phone"
        case .mozilla: "Mozilla/"
        case .dalvik: "Dalvik/"
        case .system: " OS "
        case .version: " Version/"
        case .mobile: " Mobile/"
        case .cfNetwork: " CFNetwork/"
        case .darwin: " Darwin/"
        // Apps of Macs end their default agent so.
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

/// Finds all marks in one pass over a text, byte by byte.
struct AgentKeywordFinder: Sendable {
    static let shared = AgentKeywordFinder()

    private struct Entry {
        let mark: Int
        /// The place of the mark's bytes after its first two, in `bytes`.
        let rest: Range<Int>
        /// Where the next entry that begins with the same pair of bytes stands; -1 for none.
        let next: Int
    }

    private let bytes: [UInt8]
    private let entries: [Entry]
    /// The first entry of each pair of bytes, a block of 256 for each first byte; -1 for none.
    private let first: [Int16]
    /// For each byte that begins a mark its block in `first`, from 1; 0 for the others, which most of a text are.
    private let blocks: [UInt8]

    private init() {
        precondition(AgentKeyword.allCases.count <= 32, "the places of marks have room for 32")
        var bytes: [UInt8] = []
        var entries: [Entry] = []
        var first: [Int16] = []
        var blocks = [UInt8](repeating: 0, count: 256)
        for mark in AgentKeyword.allCases {
            let text = Array(mark.text.utf8)
            if blocks[Int(text[0])] == 0 {
                first += [Int16](repeating: -1, count: 256)
                blocks[Int(text[0])] = UInt8(first.count / 256)
            }
            let slot = (Int(blocks[Int(text[0])]) - 1) * 256 + Int(text[1])
            let start = bytes.count
            bytes += text.dropFirst(2)
            entries.append(Entry(mark: mark.rawValue, rest: start..<bytes.count, next: Int(first[slot])))
            first[slot] = Int16(entries.count - 1)
        }
        self.bytes = bytes
        self.entries = entries
        self.first = first
        self.blocks = blocks
    }

    /// Where the first occurrence of each mark ends, by its raw value; 0 for those that do not occur.
    func ends(in text: [UInt8]) -> InlineArray<32, Int16> {
        var ends = InlineArray<32, Int16>(repeating: 0)
        let text = text.span
        let blocks = blocks.span
        let first = first.span
        let entries = entries.span
        let marks = bytes.span
        guard text.count >= 2 else { return ends }
        for start in 0..<text.count - 1 {
            let block = Int(blocks[Int(text[start])])
            guard block > 0 else { continue }
            var entry = Int(first[(block - 1) * 256 + Int(text[start + 1])])
            while entry >= 0 {
                let candidate = entries[entry]
                entry = candidate.next
                let end = start + 2 + candidate.rest.count
                guard ends[candidate.mark] == 0, end <= text.count else { continue }
                var index = 0
                while index < candidate.rest.count,
                    text[start + 2 + index] == marks[candidate.rest.lowerBound + index]
                {
                    index += 1
                }
                if index == candidate.rest.count { ends[candidate.mark] = Int16(clamping: end) }
            }
        }
        return ends
    }
}
