public import Attribution

/// Compacts the counts of old days; see ``CounterCompaction``.
///
/// If several processes have the database open, the one with the job's lease (the right to do it) compacts.
public struct CompactionJob<Reader: JobReader>: Job {
    public let name = JobName.compaction
    public let share = 1.0 / 8

    private let context: JobContext<Reader>
    /// The time until which this process has the lease; nil without it.
    private var leasedUntil: Timestamp?

    private static var interval: UInt64 { 1_000_000_000 }
    /// The time after which a slice ends, in nanoseconds, because other writes wait for it.
    private static var sliceNanoseconds: UInt64 { 2_000_000 }
    /// How long the lease lasts, in milliseconds; it is renewed when half of that is left.
    private static var leaseMilliseconds: Int64 { 60_000 }

    public init(_ context: JobContext<Reader>) { self.context = context }

    public mutating func slice(at _: UInt64) throws(StoreError) -> Due {
        guard let now = context.clock.settledNow() else { return .after(Self.interval) }
        let day = try context.read { reader throws(Reader.Failure) in try reader.firstUncompactedDay() }
        guard let day, day < CounterCompaction.end(at: now) else {
            if let day, leasedUntil != nil { try context.finish(.compaction, progress: day) }
            leasedUntil = nil
            return .after(Self.interval)
        }
        guard try holdsLease(at: now) else { return .after(Self.interval) }
        try context.queue.perform(.job(.compact(day: day, nanoseconds: Self.sliceNanoseconds)))
        return .more
    }

    private mutating func holdsLease(at now: Timestamp) throws(StoreError) -> Bool {
        let half = now.advanced(byMilliseconds: Self.leaseMilliseconds / 2)
        if let leasedUntil, half < leasedUntil { return true }
        let lease = context.lease(of: .compaction, at: now, milliseconds: Self.leaseMilliseconds)
        let isTaken = try context.take(lease)
        leasedUntil = isTaken ? now.advanced(byMilliseconds: Self.leaseMilliseconds) : nil
        return isTaken
    }
}
