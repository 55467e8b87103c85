internal import Attribution
internal import SQLite
internal import Storage
internal import Threads

/// Looks at the match rates of all apps when a span of ``DriftHistory`` has ended, beside requests.
struct DriftScheduler {
    let shared: SharedState
    /// The end of the span that was looked at, or is being looked at; nil at the start.
    private var looked: Timestamp?
    /// Apps that are still to be looked at.
    private var waiting: [App] = []
    /// Whether the lease is to be given up when no app waits any more.
    private var holdsLease = false

    private struct App {
        let scope: Scope
        let name: String
    }

    /// How long one turn may take, in nanoseconds: whatever else is done beside requests waits for it.
    private static let turnNanoseconds: UInt64 = 100_000_000
    /// How long another process waits for this one to go on.
    private static let leaseMilliseconds: Int64 = 60_000
    /// What was looked at this much later than now was looked at by a clock that had leapt ahead.
    private static let leapMilliseconds: Int64 = 86_400_000

    init(shared: SharedState) {
        self.shared = shared
    }

    /// Whether the span that ended at `end` is to be looked at when the last look was at `looked`.
    static func isDue(_ end: Timestamp, after looked: Timestamp?) -> Bool {
        guard let looked else { return true }
        return end > looked || looked.milliseconds(since: end) > leapMilliseconds
    }

    /// Looks at as many apps as a turn has time for; those that are left wait for the next.
    mutating func runTurn(_ open: () throws(StoreError) -> SQLiteConnection) throws(StoreError) {
        guard let now = shared.settledNow() else { return }
        let end = DriftHistory.end(at: now)
        if Self.isDue(end, after: looked) {
            guard try begin(end, at: now, open) else { return }
        }
        guard let looked else { return }
        let deadline = MonotonicTime.now().nanoseconds + Self.turnNanoseconds
        while let app = waiting.last {
            waiting.removeLast()
            do throws(StoreError) {
                try look(at: app, end: looked, now: now, open)
            } catch {
                // Once more, after the others: what is wrong with one must not keep them waiting.
                waiting.insert(app, at: 0)
                throw error
            }
            if MonotonicTime.now().nanoseconds >= deadline { break }
        }
        guard waiting.isEmpty, holdsLease else { return }
        try shared.queue.perform(.job(.finish(.drift, holder: shared.jobHolder, progress: looked)))
        holdsLease = false
    }

    /// Takes the lease for the span that ended at `end`; false while another process holds it.
    private mutating func begin(
        _ end: Timestamp,
        at now: Timestamp,
        _ open: () throws(StoreError) -> SQLiteConnection
    ) throws(StoreError) -> Bool {
        let done = try reading(open) { reader throws(SQLiteError) in
            try reader.progress(of: .drift)
        }
        guard Self.isDue(end, after: done) else {
            (looked, waiting, holdsLease) = (end, [], false)
            return true
        }
        guard case .flag(true) = try shared.queue.perform(.job(.takeLease(lease(at: now)))) else {
            return false
        }
        // Pending updates of the span must be on disk before it is read.
        shared.queue.requestUpdates()
        try shared.queue.perform(.barrier)
        waiting = try reading(open) { reader throws(SQLiteError) in
            try reader.connection.statement(Self.apps).all {
                App(scope: Scope(app: $0.integer(0), isTest: false), name: $0.text(1))
            }
        }
        (looked, holdsLease) = (end, true)
        return true
    }

    private func lease(at now: Timestamp) -> JobLease {
        JobLease(of: .drift, holder: shared.jobHolder, at: now, milliseconds: Self.leaseMilliseconds)
    }

    private func look(
        at app: App,
        end: Timestamp,
        now: Timestamp,
        _ open: () throws(StoreError) -> SQLiteConnection
    ) throws(StoreError) {
        let scope = app.scope
        let findings = try reading(open) { reader throws(SQLiteError) in
            try reader.driftFindings(of: scope, end: end)
        }
        guard !findings.readings.isEmpty || !findings.events.isEmpty else { return }
        // Another process that took the lease meanwhile keeps what it finds.
        let step = JobStep.drift(findings, of: scope, lookedAt: end, holding: lease(at: now))
        guard case .flag(true) = try shared.queue.perform(.job(step)) else { return }
        for event in findings.events {
            let isBad = if case .began = event { true } else { false }
            shared.configuration.log.write(
                isBad ? .warning : .information,
                "app \(app.name): \(event.sentence)"
            )
        }
    }

    private func reading<Result>(
        _ open: () throws(StoreError) -> SQLiteConnection,
        _ body: (SQLiteReader) throws(SQLiteError) -> Result
    ) throws(StoreError) -> Result {
        let connection = try open()
        do throws(SQLiteError) {
            return try body(SQLiteReader(connection: connection))
        } catch {
            throw StoreError(error)
        }
    }

    static let apps: SQL = "SELECT number, name FROM apps"
}
