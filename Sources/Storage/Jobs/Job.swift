public import Attribution
internal import Threads

/// The name of a background job.
///
/// The raw value names the row of its lease and its progress.
public enum JobName: String, CaseIterable, Sendable {
    case checkpoint
    case retention
    case drift
    case collisions
    case filter
    case summaries
    case learning
    case fading
}

/// Work beside requests, done in slices of a few milliseconds by the one ``JobThread``.
public protocol Job {
    var name: JobName { get }
    /// The part of a core that it may take: above 0, at most 1.
    ///
    /// It is asked after each slice, and may change.
    var share: Double { get }
    /// Whether it goes before every other job that is due.
    var comesFirst: Bool { get }

    /// Works for a few milliseconds.
    ///
    /// - Parameter now: the reading of the monotonic clock, in nanoseconds.
    /// - Returns: when it wants to go on.
    /// - Throws: why it failed; the next slice tries again.
    mutating func slice(at now: UInt64) throws(StoreError) -> Due
}

extension Job {
    public var comesFirst: Bool { false }

    /// Runs slices without pauses until nothing is left to do: for commands and tests.
    public mutating func runToEnd(at now: UInt64 = 0) throws(StoreError) {
        while try slice(at: now) == .more {}
    }
}

/// When a job wants its next slice.
///
/// One that is asked for by ``JobRequests`` gets it sooner, as soon as its share of the time allows.
public enum Due: Equatable, Sendable {
    /// As soon as the job's share of the time allows: there is more to do.
    case more
    /// So many nanoseconds after the end of the slice.
    case after(UInt64)
    case whenAsked
}

/// Decides which job is next, so that each keeps to its share of the time, and one that fails waits longer each time.
///
/// Nothing here touches a clock.
public struct JobSchedule {
    private struct Entry {
        var job: any Job
        /// When the next slice is due, and when its share of the time allows one, in nanoseconds.
        var dueAt: UInt64
        var allowedAt: UInt64
        /// Slices that failed since the last one that did not.
        var failureCount: UInt64 = 0

        /// Sets when the next slice may be and is due, after one that has ended.
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

    /// From the start to the first slices, so that what else is to be read then comes first.
    public static let firstPause: UInt64 = 1_000_000_000
    /// How long a job waits after a slice that failed, twice as long after each further one, and at most.
    public static let firstBackoff: UInt64 = 1_000_000_000
    public static let maximumBackoff: UInt64 = 8_000_000_000

    /// - Parameters:
    ///   - jobs: of equal ones that are due, the first goes first.
    ///   - now: the time of the start, in nanoseconds.
    public init(_ jobs: [any Job], at now: UInt64) {
        entries = jobs.map { Entry(job: $0, dueAt: now + Self.firstPause, allowedAt: now) }
    }

    /// When the next slice of any job is due.
    public var nextDueAt: UInt64 { entries.map(\.dueAt).min() ?? .max }

    /// Lets jobs run as soon as their shares of the time allow.
    public mutating func ask(for jobs: Set<JobName>) {
        for index in entries.indices where jobs.contains(entries[index].job.name) {
            entries[index].dueAt = min(entries[index].dueAt, entries[index].allowedAt)
        }
    }

    /// Runs a slice of the job that has been due for longest; does nothing where none is due.
    ///
    /// - Parameters:
    ///   - clock: the monotonic clock, in nanoseconds.
    ///   - report: called with the job's name, and with its error where it failed.
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
            let backoff = min(Self.firstBackoff << min(entries[index].failureCount, 8), Self.maximumBackoff)
            entries[index].failureCount += 1
            entries[index].allowedAt = end + backoff
            entries[index].dueAt = end + backoff
            report(entries[index].job.name, error, end)
        }
    }
}

/// Where other threads ask for jobs, and say that the store stops; shared by all.
public final class JobRequests: Sendable {
    private struct State: Sendable {
        var asked: Set<JobName> = []
        var isStopping = false
    }

    private let state = ConditionLock(State())

    public init() {}

    /// Asks for a slice of a job as soon as its share of the time allows.
    public func ask(for job: JobName) {
        guard state.withLock({ $0.asked.insert(job).inserted }) else { return }
        state.broadcast()
    }

    /// Lets the jobs end after the slice that is under way.
    public func stop() {
        state.withLock { $0.isStopping = true }
        state.broadcast()
    }

    /// Waits until a job is asked for, or until a time in nanoseconds of the monotonic clock.
    ///
    /// - Returns: the jobs that were asked for since the last call; nil when the store stops.
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

/// The one thread for all work beside requests: runs the slices of jobs as a ``JobSchedule`` decides.
public struct JobThread {
    private var schedule: JobSchedule
    private let requests: JobRequests
    private let failures: FailureLog

    public init(_ jobs: [any Job], _ requests: JobRequests, failures: FailureLog) {
        schedule = JobSchedule(jobs, at: MonotonicTime.now().nanoseconds)
        self.requests = requests
        self.failures = failures
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
