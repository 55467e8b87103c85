internal import Attribution
internal import Glibc
internal import Server

/// The source of a backtest's events.
protocol EventSource: ~Copyable {
    /// The next event in the order of time; nil at the end.
    mutating func next() throws -> RecordedEvent?

    /// How much of it has been played with the event of that moment, 0…1; nil where that is not known.
    func share(at moment: Timestamp) -> Double?

    /// The gaps in the events so far; nil if the source does not know them.
    var gaps: BacktestGaps? { get }
}

/// The events of a trace file.
struct TraceSource: EventSource, ~Copyable {
    private let path: String
    private let file: OpenFile
    private let byteCount: Int64?
    private var readCount: Int64 = 0
    private var reader: TraceReader
    private var isAtEnd = false

    private static let chunk = 262_144

    /// - Parameter path: the file; `-` for standard input.
    /// - Throws: where it cannot be opened.
    init(_ path: String) throws {
        self.path = path
        // Always the same one, so that a trace comes to the same whenever it is played. Nothing of it is stored.
        guard let key = ServerKey(bytes: [UInt8](repeating: 0, count: ServerKey.byteCount)) else {
            preconditionFailure("a server key has as many bytes as that")
        }
        reader = TraceReader(key: key)
        file = try Self.open(path)
        // Without it nothing is missing but how far the reading has come.
        byteCount = (try? file.regularByteCount()) ?? nil
    }

    private static func open(_ path: String) throws -> OpenFile {
        try attempt {
            try OpenFile(path == "-" ? "/dev/stdin" : path, O_RDONLY)
        } orElse: {
            unreadable($0)
        }
    }

    var gaps: BacktestGaps? { nil }

    func share(at moment: Timestamp) -> Double? {
        byteCount.map { $0 > 0 ? min(Double(readCount) / Double($0), 1) : 1 }
    }

    mutating func next() throws -> RecordedEvent? {
        while true {
            do throws(TraceError) {
                if let event = try reader.next() { return event }
            } catch {
                throw CommandFailure(
                    "The trace \(path) cannot be read: \(error.message).",
                    advice: "Correct the line; the documentation's article on traces lists its members."
                )
            }
            guard !isAtEnd else { return nil }
            try readOn()
        }
    }

    private mutating func readOn() throws {
        let bytes = try attempt {
            try file.read(upTo: Self.chunk)
        } orElse: {
            Self.unreadable($0)
        }
        readCount += Int64(bytes.count)
        isAtEnd = bytes.isEmpty
        if isAtEnd { reader.end() } else { reader.append(bytes) }
    }

    private static func unreadable(_ error: SystemError) -> CommandFailure {
        CommandFailure(
            "The trace could not be read: \(error.text).",
            advice:
                "Give --trace the path of a file with a line of JSON for each event, or - for standard input."
        )
    }
}
