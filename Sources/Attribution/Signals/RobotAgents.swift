/// The known link previews, crawlers, monitors, scanners and programs, recognised by their user agents.
///
/// The built-in list is `Data/robots.tsv`, which explains its rows. The option `--robots` replaces rows by kind.
public struct RobotAgents: Sendable {
    /// The purpose of a robot.
    ///
    /// The raw value is the word in the file.
    public enum Purpose: String, CaseIterable, Sendable {
        /// A preview of a link that a person posted.
        case preview
        case crawler
        case monitor
        /// A mail gateway or a security service, which follows links before a person reads the mail.
        case scanner
        /// A browser that a program drives.
        case automation
        /// A library or a tool of programmers.
        case program
    }

    /// A robot, and the keyword in its user agent that identifies it.
    public struct Robot: Hashable, Sendable {
        public let purpose: Purpose
        public let vendor: String
        /// The keyword as in the file, in lower case; `^` means the agent's start, and `$` its end.
        public let keyword: String
        /// The URL of the page that publishes the robot's agent.
        public let source: String
    }

    public let known: [Robot]
    private let patterns: AgentPatternSet

    /// The number of bytes of an agent that are read; no real agent is longer.
    private static let maximumLength = 2048

    public static let embedded: RobotAgents = {
        do throws(DataFileError) {
            var rows = RobotRows()
            for file in EmbeddedData.files where file.name == "robots.tsv" {
                rows = try RobotRows(Array(file.text.utf8), file: file.name)
            }
            return RobotAgents(rows)
        } catch { preconditionFailure("the embedded list of robots does not parse: \(error.message)") }
    }()

    /// Creates the list from a file; if the file has no row of one kind, the built-in rows of that kind stay.
    ///
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - file: its name, for error messages.
    /// - Throws: an error with the position of the first row that cannot be read, or an error for a file without rows.
    public init(replacing bytes: [UInt8], file: String) throws(DataFileError) {
        var rows = try RobotRows(bytes, file: file)
        guard !rows.robots.isEmpty || !rows.people.isEmpty else {
            throw DataFileError(file, 0, 0, "contains no row", "Write at least one, or omit the file")
        }
        if rows.robots.isEmpty { rows.robots = Self.embedded.known }
        if rows.people.isEmpty { rows.people = Self.embedded.patterns.exceptions }
        self.init(rows)
    }

    private init(_ rows: RobotRows) {
        known = rows.robots
        patterns = AgentPatternSet(
            rows.robots.map { AgentPatternSet.Pattern($0.keyword, isWeak: $0.purpose == .program) },
            exceptions: rows.people
        )
    }

    /// Returns the robot with this agent; a program only if no other robot fits; nil for an unknown agent.
    public func robot(_ userAgent: Span<UInt8>) -> Robot? {
        patterns.firstMatch(in: userAgent.extracting(first: Self.maximumLength)).map { known[$0] }
    }

    public func robot(_ userAgent: String) -> Robot? { robot(userAgent.utf8.span) }

    /// Returns whether a click with this agent counts as a robot's.
    ///
    /// A program's click does not count as a robot's, because customers' servers post their visitors' clicks.
    public func isRobot(_ userAgent: String) -> Bool {
        robot(userAgent).map { $0.purpose != .program } ?? false
    }
}

/// Recognises requests that browsers send before a person taps.
///
/// Before a person has tapped a link, a browser may fetch its page, and even run it. The browser announces this in a
/// header: `Sec-Purpose: prefetch` with parameters such as `;prerender` (the prefetch specification of the W3C's
/// nav-speculation). Older versions use `Purpose`, `X-Moz` (Firefox before 115) or `X-Purpose: preview` (Safari).
public enum Prefetching {
    /// The header fields that may announce a prefetch, in lower case.
    public static let fieldNames = ["sec-purpose", "purpose", "x-purpose", "x-moz"]

    private static let words = ["prefetch", "prerender", "preview", "instant"]

    /// Returns whether the value of one of ``fieldNames`` announces a prefetch: whether one of its items,
    /// without parameters, is a word such as `prefetch`.
    public static func isAnnounced(by value: Span<UInt8>) -> Bool {
        var bytes: [UInt8] = []
        for index in value.indices { bytes.append(value[index].asciiLowercased) }
        return bytes.split(separator: UInt8(ascii: ",")).contains { item in
            let word = item.prefix { $0 != UInt8(ascii: ";") }.trimmed
            return words.contains { word.elementsEqual($0.utf8) }
        }
    }
}

/// The rows of a list of robots.
struct RobotRows {
    var robots: [RobotAgents.Robot] = []
    /// Texts in the agents of people's browsers.
    ///
    /// A robot's keyword does not count if it starts within such a text, after the text's first character.
    var people: [String] = []

    /// A kind of row.
    ///
    /// The raw value is the word in the file.
    private enum Kind: String, CaseIterable {
        case robot
        case person
    }

    private static let keywordLength = 4...64

    init() {}

    init(_ bytes: [UInt8], file: String) throws(DataFileError) {
        let rows = try DataRow.rows(of: bytes, file: file, kinds: Kind.allCases.map(\.rawValue))
        var keywords: Set<String> = []
        for row in rows {
            let keyword: String
            switch Kind(rawValue: row.kind) {
            case .robot:
                try add(robot: row)
                keyword = row.columns[2]
            case .person:
                try add(person: row)
                keyword = row.columns[1]
            case nil: continue
            }
            guard keywords.insert("\(row.kind) \(keyword)").inserted
            else { throw row.repeated(at: row.kind == Kind.robot.rawValue ? 2 : 1) }
        }
    }

    private mutating func add(robot row: DataRow) throws(DataFileError) {
        try row.require(columns: 4...4, named: "its purpose, vendor, keyword and the page with its agent")
        guard let purpose = RobotAgents.Purpose(rawValue: row.columns[0]) else {
            let words = RobotAgents.Purpose.allCases.map(\.rawValue).joined(separator: ", ")
            throw row.error(at: 0, "is not the purpose of a robot", "Write one of \(words)")
        }
        try Self.requireKeyword(AgentPatternSet.Pattern(row.columns[2], isWeak: false).bytes, row, at: 2)
        try Self.requireSource(row, at: 3)
        robots.append(
            .init(purpose: purpose, vendor: row.columns[1], keyword: row.columns[2], source: row.columns[3])
        )
    }

    private mutating func add(person row: DataRow) throws(DataFileError) {
        try row.require(columns: 3...3, named: "the vendor, a text in the agent, and the page with the agent")
        try Self.requireKeyword(Array(row.columns[1].utf8), row, at: 1)
        try Self.requireSource(row, at: 2)
        people.append(row.columns[1])
    }

    private static func requireKeyword(_ keyword: [UInt8], _ row: DataRow, at index: Int)
        throws(DataFileError)
    {
        let isSmall = keyword.allSatisfy { (0x20...0x7e).contains($0) && $0 == $0.asciiLowercased }
        guard keywordLength.contains(keyword.count), isSmall else {
            throw row.error(
                at: index,
                "cannot be the keyword of an agent",
                "Write \(keywordLength.lowerBound) to \(keywordLength.upperBound) ASCII characters without capitals"
            )
        }
    }

    private static func requireSource(_ row: DataRow, at index: Int) throws(DataFileError) {
        let source = row.columns[index]
        guard source.hasPrefix("https://") || source.hasPrefix("http://")
        else { throw row.error(at: index, "is no web address", "Name the page with the agent, as https://…") }
    }
}

/// Finds many keywords in one pass over a user agent, ignoring case.
///
/// For most positions, one lookup in a bit filter shows that no keyword starts with the four bytes there.
struct AgentPatternSet: Sendable {
    struct Pattern: Sendable {
        /// The keyword in lower case, at least four bytes long.
        let bytes: [UInt8]
        let isAtStart: Bool
        let isAtEnd: Bool
        /// Whether the keyword counts only if no other one occurs.
        let isWeak: Bool

        /// Reads a text in which `^` means the agent's start and `$` its end.
        init(_ text: String, isWeak: Bool) {
            var bytes = text.utf8[...]
            isAtStart = bytes.first == UInt8(ascii: "^")
            if isAtStart { bytes = bytes.dropFirst() }
            isAtEnd = bytes.last == UInt8(ascii: "$")
            if isAtEnd { bytes = bytes.dropLast() }
            self.bytes = Array(bytes)
            self.isWeak = isWeak
        }
    }

    /// A text in the agents of people's browsers, and a position in this text.
    ///
    /// A keyword that starts at the position does not count where the whole text occurs.
    private struct Exception {
        let bytes: [UInt8]
        /// The keyword's position in the text, at least 1.
        let offset: Int
    }

    let exceptions: [String]
    private let patterns: [Pattern]
    /// The exceptions of each pattern, in the order of `patterns`.
    private let exceptionsOfPatterns: [[Exception]]
    /// A bit for each hash of the first four bytes of a keyword.
    private let filter: [UInt64]
    /// The indices of patterns, by the highest bits of the same hash.
    private let buckets: [[Int]]

    private static let prefixLength = 4
    private static let filterBits: UInt32 = 14
    private static let bucketBits: UInt32 = 10

    /// Creates the set; if several keywords start at one position, the first of `patterns` is found.
    init(_ patterns: [Pattern], exceptions: [String]) {
        self.patterns = patterns
        self.exceptions = exceptions
        exceptionsOfPatterns = patterns.map { pattern in
            exceptions.flatMap { Self.exceptions(from: pattern.bytes, in: Array($0.utf8)) }
        }
        var filter = [UInt64](repeating: 0, count: 1 << (Self.filterBits - 6))
        var buckets = [[Int]](repeating: [], count: 1 << Self.bucketBits)
        for (position, pattern) in patterns.enumerated() {
            precondition(pattern.bytes.count >= Self.prefixLength, "a keyword has four bytes or more")
            let window = pattern.bytes.prefix(Self.prefixLength).reduce(0) { Self.window($0, $1) }
            let hash = Self.hash(window)
            filter[Int(hash &>> (38 - Self.filterBits))] |= Self.bit(of: hash)
            buckets[Int(hash &>> (32 - Self.bucketBits))].append(position)
        }
        self.filter = filter
        self.buckets = buckets
    }

    /// Returns the index of the keyword that occurs first; a weak keyword only if there is no other.
    func firstMatch(in text: Span<UInt8>) -> Int? {
        var window: UInt32 = 0
        var weak: Int?
        for index in text.indices {
            window = Self.window(window, text[index])
            let hash = Self.hash(window)
            guard filter[Int(hash &>> (38 - Self.filterBits))] & Self.bit(of: hash) != 0 else { continue }
            let start = index - (Self.prefixLength - 1)
            guard start >= 0 else { continue }
            for position in buckets[Int(hash &>> (32 - Self.bucketBits))]
            where matches(position, in: text, at: start) {
                guard patterns[position].isWeak else { return position }
                weak = weak ?? position
            }
        }
        return weak
    }

    private func matches(_ position: Int, in text: Span<UInt8>, at start: Int) -> Bool {
        let pattern = patterns[position]
        guard !pattern.isAtStart || start == 0, !pattern.isAtEnd || start + pattern.bytes.count == text.count,
            Self.contains(text, pattern.bytes, at: start)
        else { return false }
        return !exceptionsOfPatterns[position].contains { exception in
            start >= exception.offset && Self.contains(text, exception.bytes, at: start - exception.offset)
        }
    }

    private static func contains(_ text: Span<UInt8>, _ part: [UInt8], at start: Int) -> Bool {
        guard part.count <= text.count - start else { return false }
        for index in part.indices where text[start + index].asciiLowercased != part[index] { return false }
        return true
    }

    private static func exceptions(from keyword: [UInt8], in text: [UInt8]) -> [Exception] {
        text.indices.dropFirst().compactMap { offset in
            // The keyword may be longer than the rest of the exception, such as bot/ in cubot.
            zip(text[offset...], keyword).allSatisfy(==) ? Exception(bytes: text, offset: offset) : nil
        }
    }

    /// Returns the window of the last four bytes after the text's next byte was added, ignoring case.
    ///
    /// The mask 0x20 makes letters lower case. It also makes a few other bytes equal, which only costs a needless
    /// comparison.
    private static func window(_ window: UInt32, _ byte: UInt8) -> UInt32 {
        window &<< 8 | UInt32(byte | 0x20)
    }

    /// Returns a hash whose highest bits depend on all input bits.
    private static func hash(_ window: UInt32) -> UInt32 { window &* 0x9e37_79b1 }

    /// Returns the bit of a hash within its word of the filter.
    private static func bit(of hash: UInt32) -> UInt64 { 1 &<< UInt64(hash &>> (32 - filterBits) & 63) }
}
