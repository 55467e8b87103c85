internal import Attribution
internal import Server

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
        let remaking = FingerprintReconstruction(
            keys: keys,
            data: data,
            localization: app.settings.localization(data.languages)
        )
        return HistorySource(
            try Wiring.history(configuration, of: app.id, isTest: isTest, remaking: remaking)
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
    private(set) var history: any TrafficHistory

    init(_ history: any TrafficHistory) {
        self.history = history
    }

    var gaps: BacktestGaps? {
        BacktestGaps(history.gaps, firstHeld: history.isWhole ? nil : history.span?.first)
    }

    func share(at moment: Timestamp) -> Double? {
        guard let (first, last) = history.span, last > first else { return nil }
        let played = Double(moment.milliseconds(since: first)) / Double(last.milliseconds(since: first))
        return min(max(played, 0), 1)
    }

    mutating func next() throws -> RecordedEvent? {
        try history.next()
    }
}
