public import Attribution
internal import Threads

/// The name of a background job.
///
/// The raw value names the row that stores the job's lease and progress.
public enum JobName: String, CaseIterable, Sendable {
    case checkpoint
    case retention
    /// Deletes old entries of the audit log.
    case audit
    /// Deletes Apple's postbacks after their retention.
    case applePostbacks = "apple_postbacks"
    case compaction
    case drift
    case collisions
    /// Compares other windows and minimum confidences.
    case policyGrid = "policy_grid"
    /// Sends postbacks; each endpoint has a lease of its own.
    case postbacks
    case filter
    case summaries
    case learning
    case fading
    /// Adds up the counts that servers have written separately.
    case fold
    /// Creates and drops partitions.
    case partitions
    /// Reads apps and keys that other servers have changed.
    case directory
    case keys
    /// Reads the size of the database.
    case size
    /// Deletes rows that no partition contains.
    case sweep
}

/// Background work that the ``JobThread`` runs in slices of a few milliseconds.
public protocol Job {
    var name: JobName { get }
    /// The share of a core that the job may use: above 0, at most 1; read after each slice.
    var share: Double { get }
    /// Whether the job runs before every other job that is due.
    var comesFirst: Bool { get }
    /// The pause before the first slice, in nanoseconds.
    var firstPause: UInt64 { get }
    /// The maximum time that the job waits after a failure before it tries again, in nanoseconds.
    var maximumBackoff: UInt64 { get }

    /// Works for a few milliseconds.
    ///
    /// - Parameter now: the reading of the monotonic clock, in nanoseconds.
    /// - Returns: when the next slice is due.
    /// - Throws: if the slice failed; the next slice tries again.
    mutating func slice(at now: UInt64) throws(StoreError) -> Due
}

extension Job {
    public var comesFirst: Bool { false }
    public var firstPause: UInt64 { JobSchedule.firstPause }
    public var maximumBackoff: UInt64 { 8_000_000_000 }

    /// Runs slices without pauses until there is nothing left to do; for commands and tests.
    public mutating func runToEnd(at now: UInt64 = 0) throws(StoreError) {
        while try slice(at: now) == .more {}
    }
}

/// When a job's next slice is due.
///
/// A request in ``JobRequests`` makes it due earlier, but not before the job's share allows.
public enum Due: Equatable, Sendable {
    /// The next slice is due as soon as the job's share allows, because there is more to do.
    case more
    /// The next slice is due this number of nanoseconds after the end of the slice.
    case after(UInt64)
    case whenAsked
}

/// Decides which job runs next, so that each keeps to its share, and a job that fails waits longer each time.
///
/// The schedule has no clock: callers pass the time, or a clock to read.
public struct JobSchedule {
    private struct Entry {
        var job: any Job
        /// When the next slice is due, and when the job's share allows it, in nanoseconds.
        var dueAt: UInt64
        var allowedAt: UInt64
        /// The number of slices that have failed since the last success.
        var failureCount: UInt64 = 0

        /// Sets when the next slice is allowed and due, after a slice has ended.
        mutating func wait(_ next: Due, from start: UInt64, to end: UInt64) {
            let worked = Double(end - min(start, end))
            allowedAt = end + UInt64(worked / job.share - worked)
            switch next {
            case .more: dueAt = allowedAt
            case .after(let pause): dueAt = max(allowedAt, end + pause)
            case .whenAsked: dueAt = .max
            }
        }
    }

    private var entries: [Entry]

    /// The pause before the first slices of most jobs, in nanoseconds, so that other reads at the start come first.
    public static let firstPause: UInt64 = 1_000_000_000
    /// How long a job waits after its first failure, in nanoseconds; the wait doubles with each failure up to
    /// ``Job/maximumBackoff``.
    public static let firstBackoff: UInt64 = 1_000_000_000

    /// - Parameters:
    ///   - jobs: the jobs; if two have been due equally long, the one that is earlier in this list runs first.
    ///   - now: the time of the start, in nanoseconds.
    public init(_ jobs: [any Job], at now: UInt64) {
        entries = jobs.map { Entry(job: $0, dueAt: now + $0.firstPause, allowedAt: now) }
    }

    /// When the next slice of any job is due, in nanoseconds of the monotonic clock.
    public var nextDueAt: UInt64 { entries.map(\.dueAt).min() ?? .max }

    /// Makes jobs due as soon as their shares allow.
    public mutating func ask(for jobs: Set<JobName>) {
        for index in entries.indices where jobs.contains(entries[index].job.name) {
            entries[index].dueAt = min(entries[index].dueAt, entries[index].allowedAt)
        }
    }

    /// Runs a slice of one due job: a job with ``Job/comesFirst`` if one is due, otherwise the job that has
    /// been due for longest.
    ///
    /// - Parameters:
    ///   - clock: the monotonic clock, in nanoseconds.
    ///   - report: called with the job's name, its error if it failed, and the end of the slice.
    public mutating func runSlice(_ clock: () -> UInt64, report: (JobName, StoreError?, UInt64) -> Void) {
        let start = clock()
        let due = entries.indices.filter { entries[$0].dueAt <= start }.min { left, right in
            let (left, right) = (entries[left], entries[right])
            guard left.job.comesFirst == right.job.comesFirst else { return left.job.comesFirst }
            return left.dueAt < right.dueAt
        }
        guard let index = due else { return }
        do throws(StoreError) {
            let next = try entries[index].job.slice(at: start)
            let end = clock()
            entries[index].failureCount = 0
            entries[index].wait(next, from: start, to: end)
            report(entries[index].job.name, nil, end)
        } catch {
            let end = clock()
            let doubled = Self.firstBackoff << min(entries[index].failureCount, 8)
            let backoff = min(doubled, entries[index].job.maximumBackoff)
            entries[index].failureCount += 1
            entries[index].allowedAt = end + backoff
            entries[index].dueAt = end + backoff
            report(entries[index].job.name, error, end)
        }
    }
}

/// Requests for jobs by other threads, and the signal that the store stops.
public final class JobRequests: Sendable {
    private struct State: Sendable {
        var asked: Set<JobName> = []
        var isStopping = false
    }

    private let state = ConditionLock(State())

    public init() {}

    /// Requests a slice of a job as soon as its share allows.
    public func ask(for job: JobName) {
        guard state.withLock({ $0.asked.insert(job).inserted }) else { return }
        state.broadcast()
    }

    /// Ends the jobs after the current slice.
    public func stop() {
        state.withLock { $0.isStopping = true }
        state.broadcast()
    }

    /// Waits until a job is requested, or until a time in nanoseconds of the monotonic clock.
    ///
    /// - Returns: the jobs that were requested since the last call; nil when the store stops.
    func wait(until moment: UInt64) -> Set<JobName>? {
        var isStopping = false
        let asked = state.wait(until: moment) { state -> Set<JobName>? in
            isStopping = state.isStopping
            guard isStopping || !state.asked.isEmpty else { return nil }
            defer { state.asked = [] }
            return state.asked
        }
        return isStopping ? nil : asked ?? []
    }
}

/// The thread that runs the slices of all jobs in the order of a ``JobSchedule``.
public struct JobThread {
    private var schedule: JobSchedule
    private let requests: JobRequests
    private let failures: FailureLog

    public init(_ jobs: [any Job], _ requests: JobRequests, failures: FailureLog) {
        schedule = JobSchedule(jobs, at: MonotonicTime.now().nanoseconds)
        (self.requests, self.failures) = (requests, failures)
    }

    /// Works until the store stops.
    public mutating func run() {
        while let asked = requests.wait(until: schedule.nextDueAt) {
            schedule.ask(for: asked)
            schedule.runSlice({ MonotonicTime.now().nanoseconds }) { [failures] job, error, end in
                guard let error else { return failures.noteSuccess(of: .job(job), at: end) }
                if error.code != .stopping { failures.note(error, of: .job(job), at: end) }
            }
        }
    }
}
