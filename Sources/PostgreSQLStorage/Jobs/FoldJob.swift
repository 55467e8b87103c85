#if PostgreSQL
internal import Attribution
internal import PostgreSQL
internal import Storage

/// Adds, each second, the deltas of all servers' transactions to the tables of counts.
///
/// The server with the lease does this. Before a report, any server adds the remaining deltas, so that the report is
/// exact: see ``BlockingConnection/foldAll()``.
struct FoldJob: Job {
    let name = JobName.fold
    let share = 0.5

    private let context: JobContext<PostgreSQLReader>
    private var memory = FoldMemory()

    private static let interval: UInt64 = 1_000_000_000
    /// How long the lease lasts, in milliseconds; each transaction renews it.
    private static let leaseMilliseconds: Int64 = 15_000

    init(_ context: JobContext<PostgreSQLReader>) { self.context = context }

    mutating func slice(at _: UInt64) throws(StoreError) -> Due {
        // No count depends on the time of the fold, so the job does not wait for a clock that has jumped.
        let state = context.state
        let now = state.configuration.clock.now().advanced(byMilliseconds: -state.clockLead)
        let lease = context.lease(of: .fold, at: now, milliseconds: Self.leaseMilliseconds)
        let isMore = try context.read { reader throws(PostgreSQLError) in
            try reader.connection.fold(&memory, under: lease)
        }
        return isMore ? .more : .after(Self.interval)
    }
}

/// The names that this server has admitted; valid until another server folds.
struct FoldMemory {
    fileprivate var names = AdmittedNames()
    /// The number of folds when this server added these names; nil before its first fold.
    fileprivate var foldCount: Int64?
}

extension BlockingConnection {
    /// The maximum number of deltas in one transaction.
    private static let deltasAtOnce = 256
    /// The maximum number of transactions before a report: a report must not wait until a long backlog is
    /// added.
    private static let maximumFolds = 16

    /// Adds all committed deltas, or the oldest of a long backlog; blocks while another server adds some, up
    /// to a second.
    func foldAll() throws(PostgreSQLError) {
        var memory = FoldMemory()
        var mayWaitAgain = true
        for _ in 0..<Self.maximumFolds {
            do throws(PostgreSQLError) {
                guard try fold(&memory, under: nil) else { return }
            } catch {
                // The connection waits half a second for a lock.
                guard error.kind == .lockTimeout, mayWaitAgain else { throw error }
                mayWaitAgain = false
            }
        }
    }

    /// Adds the oldest deltas to the tables of counts and deletes them, in one transaction.
    ///
    /// The job's row is locked meanwhile: if two servers admitted names at the same time, a day could have
    /// more names than its limit.
    ///
    /// - Parameters:
    ///   - memory: the names that this server has admitted; empty after a failure.
    ///   - lease: the lease to take or renew; nil to fold without it.
    /// - Returns: whether there may be more deltas; false also if another server has the lease.
    /// - Throws: the failure; then nothing was added, unless the connection was lost.
    func fold(_ memory: inout FoldMemory, under lease: JobLease?) throws(PostgreSQLError) -> Bool {
        do throws(PostgreSQLError) {
            return try transaction { () throws(PostgreSQLError) in
                guard let foldCount = try lockFold(lease) else { return false }
                let deltas = try execute(Self.takeDeltas, Int64(Self.deltasAtOnce))
                guard deltas.count > 0 else { return false }
                var sum = try deltas.sumOfCounts()
                var names = memory.foldCount == foldCount ? memory.names : AdmittedNames()
                memory = FoldMemory()
                let reader = PostgreSQLReader(connection: self)
                sum.counts = try sum.counts.admitted(by: &names) {
                    dimension,
                    scope,
                    period throws(PostgreSQLError) in
                    try reader.countedNames(of: dimension, scope, in: period)
                }
                _ = try rows(of: StatementBatch(adding: sum))
                memory = FoldMemory(names: names, foldCount: foldCount + 1)
                return deltas.count == Self.deltasAtOnce
            }
        } catch {
            // A commit that failed has admitted no names.
            memory = FoldMemory()
            throw error
        }
    }

    /// Locks the row of the job until the end of the transaction.
    ///
    /// - Returns: the number of folds so far, which starts at ``JobLease/noProgress``; nil if another server
    ///   has the lease.
    private func lockFold(_ lease: JobLease?) throws(PostgreSQLError) -> Int64? {
        guard let lease else { return try execute(Self.lockFold, JobLease.noProgress).value(0, 0) }
        let (now, length) = (lease.now.milliseconds, lease.milliseconds)
        let rows = try execute(
            JobRows.take,
            lease.job.rawValue,
            lease.holder,
            now,
            length,
            JobLease.noProgress,
            lease.isRenewal
        )
        return rows.count > 0 ? try rows.value(0, 0) : nil
    }

    private static let lockFold: PreparedStatement = """
        INSERT INTO jobs VALUES ('fold', 0, 0, $1) ON CONFLICT (name) DO UPDATE SET progress = jobs.progress
        RETURNING progress
        """
    private static let takeDeltas: PreparedStatement = """
        DELETE FROM count_deltas WHERE ctid = ANY (
        ARRAY(SELECT ctid FROM count_deltas ORDER BY b, id LIMIT $1 FOR UPDATE SKIP LOCKED)) RETURNING payload
        """
}

extension ResultRows {
    /// Returns the sum of the deltas in the first column.
    func sumOfCounts() throws(PostgreSQLError) -> CountPayload {
        var sum = CountPayload()
        for row in 0..<count {
            guard let delta = CountPayload(try value(row, 0, as: [UInt8].self)) else {
                throw PostgreSQLError(.unexpectedValue, "A newer version of Afterlink has stored counts.")
            }
            sum.merge(delta)
        }
        return sum
    }
}

extension StatementBatch {
    /// Creates the statements that add counts to the tables, each with its rows in the order of their keys.
    fileprivate init(adding payload: CountPayload) {
        self.init()
        var counts = ColumnArrays(CountRecord.columns)
        for record in payload.counts.rows { counts.append(record) }
        if !counts.isEmpty { append(Self.addCounts, counts.parameters) }
        for (span, changes) in [("second", payload.counts.live), ("hour", payload.counts.liveByHour)] {
            let changes = changes.filter { $0.value != 0 }
            guard !changes.isEmpty else { continue }
            let (scopes, times) = (changes.keys.map(\.scope.number), changes.keys.map(\.time))
            append(Self.addLiveClicks, span, scopes, times, Array(changes.values))
        }
        if !payload.links.isEmpty {
            let (slots, counts) = (payload.links.keys, payload.links.values)
            var columns = Parameters(slots.map(\.link), slots.map(\.variant))
            for count in [\LinkCounts.clicks, \.robots, \.tests, \.matches] {
                columns.append(counts.map { Int64($0[keyPath: count]) })
            }
            append(Self.addLinkCounts, columns)
        }
        if !payload.values.isEmpty {
            append(Self.addValues, payload.values.keys.map(\.rawValue), Array(payload.values.values))
        }
        append(Self.countFold)
    }

    /// Several rows may have the same key: a zero byte in a text is sent as U+001A, so two texts may become equal.
    private static let addCounts: PreparedStatement = """
        INSERT INTO counts (\(CountRecord.columns))
        SELECT scope, campaign, dimension, span, period, value, metric, \(clamped: "sum(count)")
        FROM \(rowsWith: CountRecord.columns) GROUP BY 1, 2, 3, 4, 5, 6, 7 ORDER BY 1, 2, 3, 4, 5, 6, 7
        \(PostgreSQLWriter.addToConflicting)
        """
    private static let addLiveClicks: PreparedStatement = """
        INSERT INTO live_clicks SELECT scope, $1, time, change FROM unnest($2, $3, $4) AS k (scope, time, change)
        ORDER BY 1, 3 ON CONFLICT (scope, span, expires_in) DO UPDATE SET count = live_clicks.count + excluded.count
        """
    /// Drops the counts of a link that was deleted meanwhile.
    private static let addLinkCounts: PreparedStatement = """
        INSERT INTO link_counts SELECT * FROM unnest($1, $2, $3, $4, $5, $6) AS k (link)
        WHERE EXISTS (SELECT FROM links WHERE number = k.link FOR KEY SHARE) ORDER BY 1, 2
        ON CONFLICT (link, variant) DO UPDATE SET clicks = link_counts.clicks + excluded.clicks,
        robots = link_counts.robots + excluded.robots, tests = link_counts.tests + excluded.tests,
        matches = link_counts.matches + excluded.matches
        """
    private static let addValues: PreparedStatement = """
        INSERT INTO progress SELECT * FROM unnest($1, $2) ORDER BY 1
        ON CONFLICT (name) DO UPDATE SET value = progress.value + excluded.value
        """
    private static let countFold: PreparedStatement =
        "UPDATE jobs SET progress = progress + 1 WHERE name = 'fold'"
}
#endif
