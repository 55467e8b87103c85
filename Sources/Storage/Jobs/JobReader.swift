public import Attribution

/// What background jobs ask a database.
///
/// Each question is answered in a snapshot of its own, so that a write-ahead log can begin anew between them.
public protocol JobReader {
    associatedtype Failure: Error

    /// What a failure means for the job, and for the connection that met it.
    static func translated(_ failure: Failure) -> EngineFailure

    /// How far a job is; nil before its first end.
    func progress(of job: JobName) throws(Failure) -> Timestamp?
    func numberedApps() throws(Failure) -> [NumberedApp]
    /// The oldest day whose counts by name have not been compacted; nil where nothing was counted.
    func firstUncompactedDay() throws(Failure) -> Timestamp?

    /// The counts of a scope up to the end of a span.
    func driftHistory(of scope: Scope, end: Timestamp) throws(Failure) -> DriftHistory
    /// The groups of a scope whose alarms are on.
    func driftAlarms(of scope: Scope) throws(Failure) -> [DriftReading]

    /// Feeds index rows of a scope in their order, at most so many.
    func indexedClicks(
        of scope: Scope,
        after place: IndexedClick.Place,
        atMost limit: Int,
        _ body: (IndexedClick) -> Void
    ) throws(Failure)
    /// The first and the last identifier of the records of checks; nil where there are none.
    func checkRecordBounds() throws(Failure) -> ClosedRange<Int64>?
    /// Feeds records of checks in their order with the time of their click, at most so many.
    func checkRecords(
        after id: Int64,
        atMost limit: Int,
        _ body: (CheckRecord, _ clickedAt: Timestamp?) -> Void
    ) throws(Failure)
    /// The last report of a scope's collisions; nil where nothing has been counted yet.
    func collisionReport(of scope: Scope) throws(Failure) -> CollisionReport?

    /// Scopes from which something has been learnt.
    func learntScopes() throws(Failure) -> [Scope]
    /// What a scope's stored sums are relative to; nil where nothing has been learnt.
    func learningEpoch(of scope: Scope) throws(Failure) -> LearningEpoch?
    /// The stored sums of the families that belong to the model.
    func modelSums(of scope: Scope) throws(Failure) -> [CounterKey: Double]
    /// The number of learnt counters of a scope; of one family unless nil.
    func learntCounterCount(of scope: Scope, _ family: CounterFamily?) throws(Failure) -> Int
    /// Feeds the open clicks of a key newest first, those older than a position, at most so many.
    func openClicks(
        of key: KeySummary.Key,
        before position: RowPosition,
        atMost limit: Int,
        _ body: (IndexRecord) -> Void
    ) throws(Failure)
}

extension JobReader {
    /// Everything of the posterior that is not about one launch.
    public func model(of scope: Scope, at moment: Timestamp) throws(Failure) -> MatchingModel {
        guard let epoch = try learningEpoch(of: scope) else { return .fresh(at: moment) }
        return MatchingModel(sums: try modelSums(of: scope), epoch: epoch, at: moment)
    }

    /// What there is to find at the end of a span, with the alarms that are on.
    public func driftFindings(of scope: Scope, end: Timestamp) throws(Failure) -> DriftDetector.Findings {
        let alarms = try driftAlarms(of: scope).compactMap(\.alarm)
        return DriftDetector.evaluate(try driftHistory(of: scope, end: end), alarms: alarms)
    }

    /// Sums up a key's open clicks in one go.
    public func summary(of key: KeySummary.Key, at moment: Timestamp) throws(Failure) -> KeySummary? {
        var builder = KeySummary.Builder(at: moment)
        try openClicks(of: key, before: .last, atMost: .max) { builder.add($0) }
        return builder.finished()
    }
}

extension RowPosition {
    /// After all others.
    static let last = RowPosition(clickedAt: .max, click: .max)
}

/// An app as jobs know it.
public struct NumberedApp: Sendable {
    public let number: Int64
    public let name: String
    /// Nil for the standard one.
    public let window: AttributionWindow?

    public init(number: Int64, name: String, window: AttributionWindow?) {
        self.number = number
        self.name = name
        self.window = window
    }

    /// Its live traffic and its test traffic.
    public var scopes: [Scope] { [false, true].map { Scope(app: number, isTest: $0) } }
}

/// What the jobs of one store share: a reader, the queue of writes, the clock, and the store's name in leases.
///
/// Used on the jobs' thread alone.
public final class JobContext<Reader: JobReader> {
    let queue: WriteQueue
    let clock: JobClock
    let log: StoreLog
    private let holder: Int64
    private let open: () throws(Reader.Failure) -> Reader
    /// Nil before the first question, and after a failure that its connection does not survive.
    private var reader: Reader?

    /// - Parameters:
    ///   - queue: where writes are done.
    ///   - clock: what jobs go by.
    ///   - holder: the number of this process's store in leases.
    ///   - log: where findings are reported.
    ///   - open: opens a connection for reading.
    public init(
        queue: WriteQueue,
        clock: JobClock,
        holder: Int64,
        log: StoreLog,
        open: @escaping () throws(Reader.Failure) -> Reader
    ) {
        self.queue = queue
        self.clock = clock
        self.holder = holder
        self.log = log
        self.open = open
    }

    func read<Answer>(_ body: (Reader) throws(Reader.Failure) -> Answer) throws(StoreError) -> Answer {
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

    /// Takes or renews a job's lease; false while another process holds it.
    func take(_ lease: JobLease) throws(StoreError) -> Bool {
        guard case .flag(let isTaken) = try queue.perform(.job(.takeLease(lease))) else { throw .mismatch }
        return isTaken
    }

    func lease(of job: JobName, at now: Timestamp, milliseconds: Int64) -> JobLease {
        JobLease(of: job, holder: holder, at: now, milliseconds: milliseconds)
    }

    /// Gives up a job's lease, and stores how far the job has got.
    func finish(_ job: JobName, progress: Timestamp) throws(StoreError) {
        try queue.perform(.job(.finish(job, holder: holder, progress: progress)))
    }
}

/// The right of one process to do a job for a while.
public struct JobLease: Sendable {
    public let job: JobName
    /// The number of this process's store.
    public let holder: Int64
    public let now: Timestamp
    /// How long it lasts; longer than a slice of the job takes.
    public let milliseconds: Int64

    public init(of job: JobName, holder: Int64, at now: Timestamp, milliseconds: Int64) {
        self.job = job
        self.holder = holder
        self.now = now
        self.milliseconds = milliseconds
    }
}
