internal import Attribution

/// The changes of counts in a transaction, as bytes that another transaction adds to the tables.
///
/// If several servers counted in place, each transaction would wait for the rows that another has changed. So each
/// transaction stores its changes, and one job adds them to the tables.
public struct CountPayload: Equatable, Sendable {
    /// A link, or one of its variants.
    public struct LinkSlot: Hashable, Sendable {
        public let link: Int64
        /// Empty for the link as a whole.
        public let variant: String

        public init(link: Int64, variant: String) { (self.link, self.variant) = (link, variant) }
    }

    public var counts = CountDeltas()
    public var links: [LinkSlot: LinkCounts] = [:]
    /// The changes of numbers that are stored under a name.
    public var values: [StoredValue: Int64] = [:]

    public init() {}

    public var isEmpty: Bool { counts.isEmpty && links.isEmpty && values.isEmpty }

    public mutating func merge(_ other: CountPayload) {
        counts.merge(other.counts)
        links.merge(other.links) { $0 + $1 }
        values.merge(other.values, uniquingKeysWith: +)
    }
}

/// The bytes: a version, the texts, and then the changes, which refer to texts by their index in this list.
///
/// Numbers have as many bytes as they need, because a row above 2 KB would be compressed and stored outside
/// of its table.
extension CountPayload {
    private static let version: UInt8 = 1

    public var bytes: [UInt8] {
        var texts = TextTable()
        var body: [UInt8] = []
        body.packShort(counts.counts.count)
        for (key, count) in counts.counts {
            body.packShort(key.scope.number)
            body.packShort(key.label.campaign.map { texts.number(of: $0) + 1 } ?? 0)
            body.packShort(key.label.dimension.rawValue)
            body.packShort(texts.number(of: key.label.value))
            body.packShort(texts.number(of: key.metric))
            body.packShort(key.granularity.rawValue)
            body.packShort(key.period.milliseconds)
            body.packShort(count)
        }
        body.packShort(counts.live.count)
        for (slot, change) in counts.live {
            body.packShort(slot.scope.number)
            body.packShort(slot.time)
            body.packShort(change)
        }
        body.packShort(links.count)
        for (slot, counts) in links {
            body.packShort(slot.link)
            body.packShort(texts.number(of: slot.variant))
            for count in [counts.clicks, counts.robots, counts.matches, counts.tests] {
                body.packShort(count)
            }
        }
        body.packShort(values.count)
        for (name, value) in values {
            body.packShort(texts.number(of: name.rawValue))
            body.packShort(value)
        }
        var bytes = [Self.version]
        bytes.packShort(texts.texts.count)
        for text in texts.texts {
            bytes.packShort(text.utf8.count)
            bytes += text.utf8
        }
        return bytes + body
    }

    /// Reads the bytes; nil if they are no payload, or one that only a newer version knows.
    public init?(_ bytes: [UInt8]) {
        var reader = ShortReader(bytes)
        guard reader.byte() == Self.version else { return nil }
        var texts: [String] = []
        let isRead =
            reader.list { reader in
                guard let text = reader.text() else { return false }
                texts.append(text)
                return true
            }
            && reader.list { $0.addCount(to: &counts, texts) }
            && reader.list { reader in
                guard let scope = reader.number(), let time = reader.number(), let change = reader.number()
                else { return false }
                let slot = CountDeltas.ExpirySlot(scope: Scope(number: scope), time: time)
                guard counts.live[slot] == nil else { return false }
                counts.addLive(change, in: slot)
                return true
            }
            && reader.list { reader in
                guard let link = reader.number(), let variant = reader.text(of: texts),
                    let clicks = reader.number(), let robots = reader.number(), let matches = reader.number(),
                    let tests = reader.number()
                else { return false }
                links[LinkSlot(link: link, variant: variant)] = LinkCounts(
                    clicks: Int(clicks),
                    robots: Int(robots),
                    matches: Int(matches),
                    tests: Int(tests)
                )
                return true
            }
            && reader.list { reader in
                guard let name = reader.text(of: texts).flatMap(StoredValue.init(rawValue:)),
                    let value = reader.number()
                else { return false }
                values[name] = value
                return true
            }
        guard isRead, reader.isAtEnd else { return nil }
    }
}

/// The different texts of a payload, by the order of their first use.
private struct TextTable {
    private(set) var texts: [String] = []
    private var numbers: [String: Int] = [:]

    mutating func number(of text: String) -> Int {
        if let number = numbers[text] { return number }
        numbers[text] = texts.count
        texts.append(text)
        return texts.count - 1
    }
}

/// Reads numbers and texts from bytes that may be damaged.
private struct ShortReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    mutating func byte() -> UInt8? {
        guard position < bytes.count else { return nil }
        defer { position += 1 }
        return bytes[position]
    }

    /// Reads a number that ``Swift/Array/packShort(_:)`` has written.
    mutating func number() -> Int64? {
        var word: UInt64 = 0
        for shift in stride(from: 0 as UInt64, to: 64, by: 7) {
            guard let byte = byte() else { return nil }
            let part = UInt64(byte & 0x7f)
            guard (part << shift) >> shift == part else { return nil }
            word |= part << shift
            if byte & 0x80 == 0 { return Int64(bitPattern: word >> 1) ^ -Int64(bitPattern: word & 1) }
        }
        return nil
    }

    mutating func text() -> String? {
        guard let length = number(), length >= 0, length <= bytes.count - position else { return nil }
        defer { position += Int(length) }
        return String(validating: bytes[position..<position + Int(length)], as: UTF8.self)
    }

    /// Reads the number of a text in a list.
    mutating func text(of texts: [String]) -> String? {
        guard let number = number(), (0..<Int64(texts.count)).contains(number) else { return nil }
        return texts[Int(number)]
    }

    /// Calls `body` for each element of a list; returns false as soon as `body` does, or if there is no list.
    mutating func list(_ body: (inout ShortReader) -> Bool) -> Bool {
        // Each element has at least one byte, so a wrong count ends at the end of the bytes.
        guard let count = number(), count >= 0, count <= bytes.count else { return false }
        for _ in 0..<count where !body(&self) { return false }
        return true
    }

    mutating func addCount(to counts: inout CountDeltas, _ texts: [String]) -> Bool {
        guard let scope = number(), let campaign = number(), (0...Int64(texts.count)).contains(campaign),
            let dimension = number().flatMap(Dimension.init(rawValue:)), let value = text(of: texts),
            let metric = text(of: texts), let granularity = number().flatMap(Granularity.init(rawValue:)),
            let period = number(), let count = number()
        else { return false }
        let label = CounterLabel(campaign: campaign > 0 ? texts[Int(campaign) - 1] : nil, dimension, value)
        let key = CountKey(
            scope: Scope(number: scope),
            label: label,
            metric: metric,
            granularity: granularity,
            period: Timestamp(milliseconds: period)
        )
        guard counts.counts[key] == nil else { return false }
        counts.add(count, to: key)
        return true
    }
}
