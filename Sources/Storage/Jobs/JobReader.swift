public import Attribution

/// The reads of background jobs.
///
/// Each read has a separate snapshot, so that a write-ahead log can be reset between two reads.
public protocol JobReader: DatabaseReader, NumberedRowReader, LearningReader, FilterReader, PostbackRows {
    /// Returns the stored progress of a job, or for `clock` the time that jobs last trusted; nil if none is stored.
    func storedProgress(of name: String) throws(Failure) -> Int64?
    func numberedApps() throws(Failure) -> [NumberedApp]
    func value(of name: StoredValue) throws(Failure) -> Int64?
    /// Returns the first day with counts of a scope.
    func firstCountedDay(of scope: Scope) throws(Failure) -> Timestamp?

    /// Returns the counts of a scope's watched groups up to the end of a span.
    func driftHistory(of scope: Scope, end: Timestamp) throws(Failure) -> DriftHistory
    /// Returns the groups of a scope that have an alarm.
    func driftAlarms(of scope: Scope) throws(Failure) -> [DriftReading]

    /// Passes index rows of a scope to `body` in their order, up to the limit.
    func indexedClicks(
        of scope: Scope,
        after position: IndexedClick.Position,
        atMost limit: Int,
        _ body: (IndexedClick) -> Void
    ) throws(Failure)
    /// Returns the first and the last identifier of the records of checks; nil if there are none.
    func checkRecordBounds() throws(Failure) -> ClosedRange<Int64>?
    /// Returns the last report of a scope's collisions; nil if none is stored.
    func collisionReport(of scope: Scope) throws(Failure) -> CollisionReport?
    /// Returns the figures of a scope's last report of a kind; empty if none is stored.
    func figures(of report: FigureReport, of scope: Scope) throws(Failure) -> [String: Double]

    /// Returns the scopes from which the model has learnt.
    func learntScopes() throws(Failure) -> [Scope]
    /// Returns the number of learnt counters of a scope, or of one of its families.
    func learntCounterCount(of scope: Scope, _ family: CounterFamily?) throws(Failure) -> Int
}

extension JobReader {
    /// Returns how far a job has got; nil before it ended for the first time.
    public func progress(of job: JobName) throws(Failure) -> Timestamp? {
        let progress = try storedProgress(of: job.rawValue)
        return progress.flatMap { $0 == JobLease.noProgress ? nil : Timestamp(milliseconds: $0) }
    }

    /// Returns the oldest day whose counts by name are not compacted; nil if nothing was counted.
    func firstUncompactedDay() throws(Failure) -> Timestamp? {
        if let day = try value(of: .compactedBefore) { return Timestamp(milliseconds: day) }
        var first: Timestamp?
        for scope in try numberedApps().flatMap(\.scopes) {
            guard let day = try firstCountedDay(of: scope) else { continue }
            first = min(day, first ?? day)
        }
        return first
    }

    /// Evaluates the match rates at the end of a span.
    public func driftFindings(of scope: Scope, end: Timestamp) throws(Failure) -> DriftDetector.Findings {
        let alarms = try driftAlarms(of: scope).compactMap(\.alarm)
        return DriftDetector.evaluate(try driftHistory(of: scope, end: end), alarms: alarms)
    }
}

/// Reads when jobs last trusted the wall clock.
public protocol ClockReader: JobReader, NumberReader {
    /// Returns the number of the newest record of a check; 0 without records.
    func newestCheck() throws(Failure) -> Int64
}

extension ClockReader {
    /// Returns when jobs last trusted the wall clock; if that is not stored, the time of the newest click or check.
    ///
    /// Nil if the database has none of the three.
    public func lastSettled() throws(Failure) -> Timestamp? {
        if let noted = try storedProgress(of: "clock") { return Timestamp(milliseconds: noted) }
        let newest = max(try newestClick(), try newestCheck())
        return newest > 0 ? RowIdentifier.time(of: newest) : nil
    }
}

/// The number, name and window of an app, as jobs need them.
public struct NumberedApp: Sendable {
    public let number: Int64
    public let name: String
    /// Nil for the standard window.
    public let window: AttributionWindow?
    /// The window for matches by fingerprint; nil for the clicks' own windows.
    public var fingerprintWindow: AttributionWindow?

    public init(number: Int64, name: String, window: AttributionWindow?) {
        (self.number, self.name, self.window) = (number, name, window)
    }

    /// The scopes of its live and its test traffic.
    public var scopes: [Scope] { [false, true].map { Scope(app: number, isTest: $0) } }
}

/// The reader that the jobs of one store share, and the store's state.
///
/// Only the thread of jobs uses it.
public final class JobContext<Reader: JobReader> {
    public let state: StoreState
    private let open: () throws(Reader.Failure) -> Reader
    /// Nil before the first read, and after a failure that ended the connection.
    private var reader: Reader?

    /// - Parameters:
    ///   - state: the state that the store's threads share.
    ///   - open: opens a connection for reading.
    public init(_ state: StoreState, open: @escaping () throws(Reader.Failure) -> Reader) {
        self.state = state
        self.open = open
        queue = state.queue
    }

    public let queue: WriteQueue
    var clock: JobClock { state.clock }

    /// The time for jobs; nil while the clock may have jumped.
    public func settledNow() -> Timestamp? { clock.settledNow() }

    public func read<Answer>(_ body: (Reader) throws(Reader.Failure) -> Answer) throws(StoreError) -> Answer {
        do throws(Reader.Failure) {
            if let reader { return try body(reader) }
            let opened = try open()
            reader = opened
            return try body(opened)
        } catch {
            let failure = Reader.translated(error)
            if failure.endsConnection { reader = nil }
            throw failure.error
        }
    }

    /// Closes the connection; the next read opens another one.
    func close() { reader = nil }

    /// Takes or renews a job's lease; false while another process holds it.
    public func take(_ lease: JobLease) throws(StoreError) -> Bool {
        guard case .flag(let isTaken) = try queue.perform(.job(.takeLease(lease))) else { throw .mismatch }
        return isTaken
    }

    public func lease(of job: JobName, at now: Timestamp, milliseconds: Int64) -> JobLease {
        JobLease(job: job, holder: state.jobHolder, now: now, milliseconds: milliseconds)
    }

    /// Releases a job's lease, and stores how far the job has got.
    public func finish(_ job: JobName, progress: Timestamp) throws(StoreError) {
        try queue.perform(.job(.finish(job, holder: state.jobHolder, progress: progress)))
    }
}

/// The right of one process to do a job until a time.
public struct JobLease: Sendable {
    /// The stored progress of a job that has never finished.
    public static let noProgress = Int64.min

    public let job: JobName
    /// The part of the job that the lease is for; empty for the whole job.
    public var subject = ""
    /// The random number that identifies this process's store.
    public let holder: Int64
    public var now: Timestamp
    /// How long the lease lasts, in milliseconds; longer than a slice of the job takes.
    public let milliseconds: Int64
    /// Whether to take the lease only if this process was the last one that took it, even if the lease has ended.
    public var isRenewal = false

    /// The name of the row that stores the lease.
    public var name: String { subject.isEmpty ? job.rawValue : "\(job.rawValue)/\(subject)" }
}

/// A job's lease that is renewed when half of it is left.
public struct RenewedLease {
    private let job: JobName
    private let milliseconds: Int64
    /// The time until which this process has the lease; nil without it.
    private var until: Timestamp?

    /// - Parameters:
    ///   - job: the job.
    ///   - milliseconds: how long the lease lasts after it was taken or renewed.
    public init(of job: JobName, milliseconds: Int64) { (self.job, self.milliseconds) = (job, milliseconds) }

    /// Returns whether this process has the lease; takes or renews it if that is due.
    public mutating func isHeld<Reader>(at now: Timestamp, in context: JobContext<Reader>) throws(StoreError)
        -> Bool
    {
        // If more than the whole length is left, the clock was set back, and another process may take the lease.
        let rest = until?.milliseconds(since: now) ?? 0
        if rest > milliseconds / 2, rest <= milliseconds { return true }
        let isTaken = try context.take(context.lease(of: job, at: now, milliseconds: milliseconds))
        until = isTaken ? now.advanced(byMilliseconds: milliseconds) : nil
        return isTaken
    }

    /// Releases the lease, and stores how far the job has got; does nothing without the lease.
    public mutating func finish<Reader>(progress: Timestamp, in context: JobContext<Reader>)
        throws(StoreError)
    {
        if until != nil { try context.finish(job, progress: progress) }
        until = nil
    }
}
