/// The names of time zones, with their different spellings in browsers and systems.
public final class TimeZoneTable: Sendable {
    struct Zone: Sendable {
        let name: String
        /// The spellings that systems give to apps; their shares add up to 1.
        let spellings: [Spelling]
    }

    private let zones: [Zone]
    /// Positions in `zones` by every name as it is written.
    let positions: [String: Int]
    /// Positions in `zones` by every name in lower case.
    private let lowercasedPositions: [String: Int]

    /// The largest length of a zone's name, in bytes.
    private static let maximumLength = 64

    /// The names that systems use for an unknown zone.
    private static let unknown: Set<String> = ["etc/unknown", "factory", "localtime", "unknown", "undefined"]

    init(_ rows: TimeZoneRows) {
        zones = rows.names.map { names in
            let others = rows.spellings[names[0]] ?? []
            return Zone(name: names[0], spellings: Spelling.all(of: names[0], others: others))
        }
        positions = rows.positions
        let pairs = rows.positions.map { ($0.key.asciiLowercased, $0.value) }
        lowercasedPositions = Dictionary(pairs) { first, _ in first }
    }

    /// Returns the canonical name for all spellings of a zone.
    ///
    /// Case does not matter for known names. All names of UTC have the canonical name `UTC`, and a fixed
    /// offset has one such as `UTC+03:00`. A name that the table lacks is its own canonical name. Nil for a
    /// text that is no name, and for names that mean an unknown zone.
    public func canonical(_ name: String) -> String? {
        if let position = positions[name] { return zones[position].name }
        let name = name.trimmed
        guard Self.isWellFormed(name) else { return nil }
        let lowercased = name.asciiLowercased
        if let position = lowercasedPositions[lowercased] { return zones[position].name }
        guard !Self.unknown.contains(lowercased) else { return nil }
        return FixedOffset(lowercased)?.canonical ?? name
    }

    /// Whether the name is in the table (in capitals or small letters) or is a fixed offset; ``canonical(_:)`` also
    /// accepts other names.
    public func isKnown(_ name: String) -> Bool {
        let lowercased = name.asciiLowercased
        return lowercasedPositions[lowercased] != nil || FixedOffset(lowercased) != nil
    }

    /// Returns the names that apps may hash if the browser reports `name`; `name` comes first if systems use it.
    ///
    /// Empty for a text that is no name, and for a name that means an unknown zone.
    func spellings(given name: String) -> [Spelling] {
        if let position = positions[name] { return spellings(of: zones[position], given: name) }
        guard let canonical = canonical(name) else { return [] }
        if let position = positions[canonical] { return spellings(of: zones[position], given: name.trimmed) }
        guard let offset = FixedOffset(canonical) else { return [Spelling(canonical, weight: 1)] }
        return offset.spellings(given: name.trimmed)
    }

    /// Returns the zone's most likely spelling: every click of the zone is stored under it, whatever name its browser
    /// reports.
    ///
    /// Nil for a text that is no name, and for a name that means an unknown zone.
    func likeliest(_ name: String) -> String? {
        guard let canonical = canonical(name) else { return nil }
        if let position = positions[canonical] { return zones[position].spellings.first?.text }
        return FixedOffset(canonical)?.names.first ?? canonical
    }

    private func spellings(of zone: Zone, given name: String) -> [Spelling] {
        guard zone.spellings.count > 1 || zone.name != name else { return zone.spellings }
        if let own = zone.spellings.firstIndex(where: { $0.text == name }) {
            guard own > 0 else { return zone.spellings }
            var spellings = zone.spellings
            spellings.swapAt(0, own)
            return spellings
        }
        // If only the case differs, the page's script has changed it, not the system.
        if zone.spellings.contains(where: { $0.text.asciiLowercased == name.asciiLowercased }) {
            return zone.spellings
        }
        // Browsers do not invent names, so the system is probably set to this one.
        return [Spelling(name, weight: 0.5)]
            + zone.spellings.map { Spelling($0.text, weight: $0.weight * 0.5) }
    }

    private static func isWellFormed(_ name: String) -> Bool {
        (1...maximumLength).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                byte.isASCIIAlphanumeric || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "_")
                    || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ":")
            }
    }
}

/// A time zone that is only a difference from UTC.
struct FixedOffset: Equatable {
    /// The difference in minutes, positive east of Greenwich; less than 19 hours either way.
    let minutes: Int

    /// Reads `gmt+3`, `utc+03:00`, `+03:00`, `+0300`, and `etc/gmt-3` with the sign of POSIX: west is plus.
    init?(_ text: String) {
        var rest = text.asciiLowercased.utf8[...]
        let isInverted = rest.starts(with: "etc/".utf8)
        if isInverted { rest = rest.dropFirst(4) }
        let isNamed = rest.starts(with: "gmt".utf8) || rest.starts(with: "utc".utf8)
        if isNamed { rest = rest.dropFirst(3) }
        guard isNamed || !isInverted, let sign = rest.popFirst(),
            sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"), let minutes = Self.minutes(Array(rest))
        else { return nil }
        self.minutes = (sign == UInt8(ascii: "-")) != isInverted ? -minutes : minutes
    }

    /// The canonical name: `UTC+03:00`, and `UTC` for no difference.
    var canonical: String { minutes == 0 ? "UTC" : "UTC" + clock }

    /// Returns the names that apps may get from their system: the browser's name, and other names of the offset.
    func spellings(given name: String) -> [Spelling] {
        let distinct = [name] + names.filter { $0 != name }
        return distinct.map { Spelling($0, weight: 1 / Double(distinct.count)) }
    }

    /// The names that systems give to the offset.
    var names: [String] {
        let names = ["GMT" + clock, "GMT" + clock.filter { $0 != ":" }]
        guard minutes % 60 == 0 else { return names }
        return names + ["Etc/GMT\(minutes > 0 ? "-" : "+")\(minutes.magnitude / 60)"]
    }

    /// `+03:00`.
    private var clock: String {
        let (hours, rest) = minutes.magnitude.quotientAndRemainder(dividingBy: 60)
        return "\(minutes < 0 ? "-" : "+")\(Self.twoDigits(hours)):\(Self.twoDigits(rest))"
    }

    /// Reads `3`, `03`, `0330` or `03:30`, up to `18:59`.
    private static func minutes(_ text: [UInt8]) -> Int? {
        let digits = text.filter(\.isASCIIDigit)
        let hasColon = text.count == 5 && text[2] == UInt8(ascii: ":")
        guard text.count == digits.count + (hasColon ? 1 : 0), [1, 2, 4].contains(digits.count)
        else { return nil }
        let number = digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        let (hours, minutes) = digits.count == 4 ? (number / 100, number % 100) : (number, 0)
        return hours <= 18 && minutes < 60 ? hours * 60 + minutes : nil
    }

    private static func twoDigits(_ number: UInt) -> String { number < 10 ? "0\(number)" : String(number) }
}
