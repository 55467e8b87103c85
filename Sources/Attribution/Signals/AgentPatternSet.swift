/// Many marks sought in one pass over a user agent, in letters of either case.
///
/// At most places nothing more is done than to look up whether any mark begins with the four bytes that stand there.
struct AgentPatternSet: Sendable {
    /// A part of an agent.
    struct Mark: Sendable {
        /// In lower case; ``AgentPatternSet`` takes no fewer than four.
        let bytes: [UInt8]
        let isAtStart: Bool
        let isAtEnd: Bool
        /// It counts only where no other does.
        let isWeak: Bool

        /// From a text in which `^` stands for the agent's beginning and `$` for its end.
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

    /// A text around a mark in which it is none.
    private struct Exception {
        let bytes: [UInt8]
        /// Where the mark begins in it.
        let offset: Int
    }

    let exceptions: [String]
    private let marks: [Mark]
    /// By mark.
    private let exceptionsOfMarks: [[Exception]]
    /// A bit for each hash of four bytes with which a mark begins.
    private let filter: [UInt64]
    /// The marks by the highest bits of that hash.
    private let buckets: [[Int]]

    private static let prefixLength = 4
    private static let filterBits: UInt32 = 14
    private static let bucketBits: UInt32 = 10

    /// Marks that come first are found first where several begin at one place.
    init(_ marks: [Mark], exceptions: [String]) {
        self.marks = marks
        self.exceptions = exceptions
        exceptionsOfMarks = marks.map { mark in
            exceptions.flatMap { Self.exceptions(from: mark.bytes, in: Array($0.utf8)) }
        }
        var filter = [UInt64](repeating: 0, count: 1 << (Self.filterBits - 6))
        var buckets = [[Int]](repeating: [], count: 1 << Self.bucketBits)
        for (position, mark) in marks.enumerated() {
            precondition(mark.bytes.count >= Self.prefixLength, "a mark has four bytes or more")
            let window = mark.bytes.prefix(Self.prefixLength).reduce(0) { Self.window($0, $1) }
            let hash = Self.hash(window)
            filter[Int(hash &>> (38 - Self.filterBits))] |= Self.bit(of: hash)
            buckets[Int(hash &>> (32 - Self.bucketBits))].append(position)
        }
        self.filter = filter
        self.buckets = buckets
    }

    /// The position of the mark that occurs first; a weak one only if there is no other.
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
            where isMark(position, in: text, at: start) {
                guard marks[position].isWeak else { return position }
                weak = weak ?? position
            }
        }
        return weak
    }

    private func isMark(_ position: Int, in text: Span<UInt8>, at start: Int) -> Bool {
        let mark = marks[position]
        guard !mark.isAtStart || start == 0, !mark.isAtEnd || start + mark.bytes.count == text.count,
            Self.holds(text, mark.bytes, at: start)
        else { return false }
        return !exceptionsOfMarks[position].contains { exception in
            start >= exception.offset && Self.holds(text, exception.bytes, at: start - exception.offset)
        }
    }

    private static func holds(_ text: Span<UInt8>, _ part: [UInt8], at start: Int) -> Bool {
        guard part.count <= text.count - start else { return false }
        for index in part.indices where text[start + index].asciiLowercased != part[index] { return false }
        return true
    }

    private static func exceptions(from mark: [UInt8], in text: [UInt8]) -> [Exception] {
        text.indices.dropFirst().compactMap { offset in
            // A mark may go on behind the exception, as bot/ behind cubot.
            zip(text[offset...], mark).allSatisfy(==) ? Exception(bytes: text, offset: offset) : nil
        }
    }

    /// The last four bytes, letters of either case alike; other bytes that this makes alike cost no more than a look.
    private static func window(_ window: UInt32, _ byte: UInt8) -> UInt32 {
        window &<< 8 | UInt32(byte | 0x20)
    }

    /// A hash whose highest bits are the best.
    private static func hash(_ window: UInt32) -> UInt32 {
        window &* 0x9e37_79b1
    }

    /// Which bit of its word in the filter belongs to a hash.
    private static func bit(of hash: UInt32) -> UInt64 {
        1 &<< UInt64(hash &>> (32 - filterBits) & 63)
    }
}
