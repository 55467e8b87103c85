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
        try attempt({ try OpenFile(path == "-" ? "/dev/stdin" : path, O_RDONLY) }, orElse: unreadable)
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
                throw CommandFailure.because("The trace \(path) cannot be read: \(error.message).")
                    .advising("Correct the line; the documentation's article on traces lists its members.")
            }
            guard !isAtEnd else { return nil }
            try readOn()
        }
    }

    private mutating func readOn() throws {
        let bytes = try attempt({ try file.read(upTo: Self.chunk) }, orElse: Self.unreadable)
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

/// The database whose clicks and checks are played.
struct BacktestDatabase {
    private let configuration: Configuration
    private let app: App
    private let policy: MatchPolicy
    private let isTest: Bool
    private let keys: [ServerKey]
    private let data: DeviceData

    init(_ invocation: Invocation) throws {
        configuration = try ConfigurationReader.read(invocation)
        try CommandDatabase.require(configuration)
        keys = try KeyCopy(server: configuration.serverKeyPath).keys
        data = try TableFiles.settings(of: configuration).devices
        isTest = invocation.arguments.has("test")
        let database = try CommandDatabase.open(configuration, for: .reading)
        defer { database.close() }
        let directory = try database.directory()
        app = try AppChoice.find(invocation.arguments.value("app"), in: directory)
        policy = directory.policy(of: app.id) ?? MatchPolicy()
    }

    func source() throws -> HistorySource {
        let localization = app.settings.localization(data.languages)
        let remaking = FingerprintReconstruction(keys: keys, data: data, localization: localization)
        return HistorySource(
            history: try Wiring.database(configuration).history(
                of: app.id,
                isTest: isTest,
                remaking: remaking
            )
        )
    }

    /// Everything is counted where everything is there: then nothing was learnt before.
    func plans(_ options: BacktestOptions, _ history: any TrafficHistory) -> BacktestPlans {
        options.plans(
            policy: policy,
            replayGrace: configuration.replayGrace * 1000,
            usualWarmUp: history.isWhole ? 0 : 1
        )
    }

    var nothing: CommandFailure {
        CommandFailure(
            "The database holds no \(isTest ? "test " : "")clicks and checks of the app \"\(app.settings.name)\".",
            advice:
                "They are kept for as long as --retention says after a click's window, and checks as long."
        )
    }
}

/// The events of a database.
struct HistorySource: EventSource {
    var history: any TrafficHistory

    var gaps: BacktestGaps? {
        BacktestGaps(gaps: history.gaps, firstHeld: history.isWhole ? nil : history.span?.first)
    }

    func share(at moment: Timestamp) -> Double? {
        guard let (first, last) = history.span, last > first else { return nil }
        let played = Double(moment.milliseconds(since: first)) / Double(last.milliseconds(since: first))
        return min(max(played, 0), 1)
    }

    mutating func next() throws -> RecordedEvent? { try history.next() }
}
