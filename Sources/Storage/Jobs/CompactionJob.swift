public import Attribution

/// Compacts the counts of old days; see ``CounterCompaction``.
///
/// If several processes have the database open, the one with the job's lease (the right to do it) compacts.
public struct CompactionJob<Reader: JobReader>: Job {
    public let name = JobName.compaction
    public let share = 1.0 / 8

    private let context: JobContext<Reader>
    private var lease = RenewedLease(of: .compaction, milliseconds: 60_000)
    /// Where the compaction of the current day continues; nil between two days.
    private var position: CompactionPosition?

    private static var interval: UInt64 { 1_000_000_000 }
    /// The time after which a slice ends, in nanoseconds, because other writes wait for it.
    private static var sliceNanoseconds: UInt64 { 2_000_000 }

    public init(_ context: JobContext<Reader>) { self.context = context }

    public mutating func slice(at _: UInt64) throws(StoreError) -> Due {
        guard let now = context.clock.settledNow() else { return .after(Self.interval) }
        let day = try context.read { reader throws(Reader.Failure) in try reader.firstUncompactedDay() }
        guard let day, day < CounterCompaction.end(at: now) else {
            if let day { try lease.finish(progress: day, in: context) }
            return .after(Self.interval)
        }
        guard try lease.isHeld(at: now, in: context) else { return .after(Self.interval) }
        if position?.day != day { position = nil }
        let start = position ?? CompactionPosition(startOf: day)
        let step = JobStep.compact(start, nanoseconds: Self.sliceNanoseconds)
        guard case .compacted(let end) = try context.queue.perform(.job(step)) else { throw .mismatch }
        position = end
        return .more
    }
}
