#if PostgreSQL
internal import Attribution
internal import PostgreSQL
internal import Storage

/// Deletes, once a day, the rows outside of partitions that nothing needs any more.
///
/// Each slice reads some blocks of a table, because no index has the times of the rows.
struct SweepJob: Job {
    let name = JobName.sweep
    let share = 1.0 / 8

    private let context: JobContext<PostgreSQLReader>
    private var lease = RenewedLease(of: .sweep, milliseconds: 60_000)
    /// The tables that are not done yet, the current one last; empty between two sweeps.
    private var tables: [Sweep] = []
    private var block: Int64 = 0

    private static let interval: UInt64 = 60_000_000_000
    private static let day: Int64 = 86_400_000
    private static let blocksAtOnce: Int64 = 64

    init(_ context: JobContext<PostgreSQLReader>) { self.context = context }

    mutating func slice(at _: UInt64) throws(StoreError) -> Due {
        guard let now = context.settledNow() else { return .after(Self.interval) }
        if tables.isEmpty {
            let last = try context.read { reader throws(PostgreSQLError) in try reader.progress(of: .sweep) }
            if let last, abs(now.milliseconds(since: last)) < Self.day { return .after(Self.interval) }
            (tables, block) = (Self.sweeps, 0)
        }
        guard let table = tables.last, try lease.isHeld(at: now, in: context) else {
            tables = []
            return .after(Self.interval)
        }
        let (first, end) = (block, block + Self.blocksAtOnce)
        // Rows are deleted a day after nothing needs them any more, because clocks may be set back.
        let kept = table.keptSeconds(context.state.configuration) * 1000
        let time = now.milliseconds - Self.day - kept
        let blockCount: Int64 = try context.read { reader throws(PostgreSQLError) in
            let connection = reader.connection
            // A table that Citus distributes has blocks only in its shards, so one statement searches the whole table.
            if let all = table.ofShards, try connection.isCitus() {
                try connection.execute(all, time)
                return 0
            }
            return try connection.execute(table.ofBlocks, "(\(first),0)", "(\(end),0)", time).value(0, 0)
        }
        block = end
        if end >= blockCount {
            tables.removeLast()
            block = 0
        }
        guard tables.isEmpty else { return .more }
        try lease.finish(progress: now, in: context)
        return .after(Self.interval)
    }

    private struct Sweep {
        /// Deletes the rows that nothing needs from some blocks, and returns the number of the table's
        /// blocks.
        let ofBlocks: PreparedStatement
        /// Deletes these rows from a whole table that Citus distributes; nil for a table that it does not distribute.
        let ofShards: PreparedStatement?
        /// Returns the number of seconds for which rows are kept after their time.
        let keptSeconds: @Sendable (StoreConfiguration) -> Int64
    }

    /// For each table, the statements that delete rows.
    ///
    /// An idempotency key is stored as long as the partition of its click. The first key of a click with a long window
    /// is deleted with the click. Its further keys are deleted when no click of their time is stored any more.
    private static let sweeps = [
        sweep("installs", isDistributed: true) { "until < \($0)" },
        sweep("idempotencies", isDistributed: true) { time in
            """
            click & 64 = 0 AND click >> 16 < \(time)
            AND (click >> 16) / 86400000 NOT IN (SELECT slot FROM partitions)
            """
        },
        sweep("idempotencies", isDistributed: true, keptFor: longClickSeconds) {
            "click & 64 <> 0 AND click >> 16 < \($0)"
        },
        sweep("events", isDistributed: false, keptFor: installSeconds) { "number >> 16 < \($0)" },
        sweep("attributed_installs", isDistributed: false, keptFor: installSeconds) { "matched_at < \($0)" },
        sweep("live_clicks", isDistributed: false) { time in
            "expires_in < \(time) / CASE span WHEN 'second' THEN 1000 ELSE 3600000 END"
        },
    ]

    private static let installSeconds: @Sendable (StoreConfiguration) -> Int64 = {
        $0.installRetentionSeconds
    }
    /// The longest time from a click until it is deleted.
    private static let longClickSeconds: @Sendable (StoreConfiguration) -> Int64 = {
        AttributionWindow.allowedSeconds.upperBound
            + max($0.retentionSeconds, $0.matchRetentionSeconds ?? $0.retentionSeconds)
    }

    private static func sweep(
        _ table: StaticString,
        isDistributed: Bool,
        keptFor keptSeconds: @escaping @Sendable (StoreConfiguration) -> Int64 = { _ in 0 },
        _ isOver: (SQLText) -> SQLText
    ) -> Sweep {
        let ofBlocks: PreparedStatement = """
            WITH gone AS (DELETE FROM \(table) WHERE ctid >= $1::text::tid AND ctid < $2::text::tid AND \(isOver("$3")))
            SELECT pg_relation_size('\(table)') / current_setting('block_size')::int8
            """
        let ofShards = PreparedStatement("DELETE FROM \(table) WHERE \(isOver("$1"))")
        return Sweep(ofBlocks: ofBlocks, ofShards: isDistributed ? ofShards : nil, keptSeconds: keptSeconds)
    }
}
#endif
