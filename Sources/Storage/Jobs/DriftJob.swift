public import Attribution

/// Detects drops in the match rates of all apps after each quarter of a day (a span of ``DriftHistory``).
///
/// Each slice evaluates one app. If several processes have the database open, only the process with the job's lease
/// (the right to do it) evaluates apps.
public struct DriftJob<Reader: JobReader>: Job {
    public let name = JobName.drift
    public let share = 0.1

    private let context: JobContext<Reader>
    /// The end of the last span whose evaluation was started; nil at the start.
    private var end: Timestamp?
    /// Apps that are not evaluated yet.
    private var waiting: [NumberedApp] = []
    /// Whether the lease must be released after the last app.
    private var holdsLease = false

    private static var interval: UInt64 { 1_000_000_000 }
    /// How long the lease lasts, in milliseconds.
    private static var leaseMilliseconds: Int64 { 60_000 }

    public init(_ context: JobContext<Reader>) { self.context = context }

    public mutating func slice(at _: UInt64) throws(StoreError) -> Due {
        guard let now = context.clock.settledNow() else { return .after(Self.interval) }
        let latest = DriftHistory.end(at: now)
        if DriftHistory.isDue(latest, after: end) {
            guard try begin(latest, at: now) else { return .after(Self.interval) }
        }
        if let end, let app = waiting.popLast() {
            do throws(StoreError) {
                guard try evaluate(app, end: end, lease(at: now)) else {
                    // Another process evaluates the span, or has evaluated it or a later one.
                    (self.end, waiting, holdsLease) = (nil, [], false)
                    return .after(Self.interval)
                }
            } catch {
                // The app is tried again after the other apps, so that its failure does not delay them.
                waiting.insert(app, at: 0)
                throw error
            }
        }
        guard waiting.isEmpty else { return .more }
        if let end, holdsLease {
            try context.finish(.drift, progress: end)
            holdsLease = false
        }
        return .after(Self.interval)
    }

    /// Takes the lease to evaluate the span that ended at `end`; returns false while another process holds it.
    ///
    /// If the span was evaluated before, the function takes no lease and returns true.
    private mutating func begin(_ end: Timestamp, at now: Timestamp) throws(StoreError) -> Bool {
        let done = try context.read { reader throws(Reader.Failure) in try reader.progress(of: .drift) }
        guard DriftHistory.isDue(end, after: done) else {
            (self.end, waiting, holdsLease) = (end, [], false)
            return true
        }
        guard try context.take(lease(at: now)) else { return false }
        // Pending updates of the span must be on disk before it is read.
        context.queue.requestUpdates()
        try context.queue.perform(.barrier)
        waiting = try context.read { reader throws(Reader.Failure) in try reader.numberedApps() }
        (self.end, holdsLease) = (end, true)
        return true
    }

    private func lease(at now: Timestamp) -> JobLease {
        context.lease(of: .drift, at: now, milliseconds: Self.leaseMilliseconds)
    }

    /// Evaluates an app, and stores and logs the findings; returns false if this process must not store them.
    private func evaluate(_ app: NumberedApp, end: Timestamp, _ lease: JobLease) throws(StoreError) -> Bool {
        let scope = Scope(app: app.number, isTest: false)
        let findings = try context.read { reader throws(Reader.Failure) in
            try reader.driftFindings(of: scope, end: end)
        }
        guard !findings.readings.isEmpty || !findings.events.isEmpty else { return true }
        // If another process has taken the lease meanwhile, it stores its own findings.
        let step = JobStep.drift(findings, of: scope, end: end, holding: lease)
        guard case .flag(true) = try context.queue.perform(.job(step)) else { return false }
        for event in findings.events {
            let level: StoreLog.Level = if case .began = event { .warning } else { .information }
            context.state.configuration.log.write(level, "app \(app.name): \(event.sentence)")
        }
        return true
    }
}

extension DriftHistory {
    /// An evaluation more than this many milliseconds in the future was made while the clock had jumped ahead.
    private static let leapMilliseconds: Int64 = 86_400_000

    /// Whether the span that ended at `end` must be evaluated; the last evaluated span ended at `last`.
    public static func isDue(_ end: Timestamp, after last: Timestamp?) -> Bool {
        guard let last else { return true }
        return end > last || last.milliseconds(since: end) > leapMilliseconds
    }
}

/// Reads of the counts of watched groups, and of the results of their last evaluation.
public protocol DriftRows {
    associatedtype Failure: Error

    /// Calls `body` with the counts of one side's groups (of clicks or of launches), one for each quarter of a day, name
    /// and metric.
    func driftCounts(
        of scope: Scope,
        _ side: DriftSide,
        from first: Timestamp,
        before end: Timestamp,
        _ body: (_ period: Timestamp, _ name: String, _ metric: String, _ count: Int64) -> Void
    ) throws(Failure)
    /// Returns at most `limit` groups as of the last evaluation, in the order of side and name.
    func driftGroups(of scope: Scope, atMost limit: Int) throws(Failure) -> [DriftReading]
}

extension DriftRows {
    /// Returns the counts of a scope's watched groups up to the end of a span.
    public func driftHistory(of scope: Scope, end: Timestamp) throws(Failure) -> DriftHistory {
        try driftHistory(of: scope, from: DriftHistory.start(before: end), end: end)
    }

    func driftHistory(of scope: Scope, from first: Timestamp, end: Timestamp) throws(Failure) -> DriftHistory
    {
        var history = DriftHistory(end: end)
        for side in DriftSide.allCases {
            // The names repeat in each span, so each is parsed once.
            var groups: [String: DriftGroup?] = [:]
            try driftCounts(of: scope, side, from: first, before: end) { period, name, metric, number in
                let group = groups[name] ?? DriftGroup(side, name: name)
                groups[name] = .some(group)
                guard let group else { return }
                let isTrials = metric == CountWord.trials
                let count = DriftCount(trials: isTrials ? number : 0, matches: isTrials ? 0 : number)
                history.add(count, of: group, in: period)
            }
        }
        return history
    }
}
