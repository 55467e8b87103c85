#if PostgreSQL
internal import Attribution
internal import PostgreSQL
internal import Storage
internal import Threads

/// The connection of an event loop, which answers the questions of ``RowCache``.
///
/// It belongs to the thread of its loop. Each statement reads the primary server in a snapshot of its own. The snapshot
/// begins after the check came, so it contains every commit that was acknowledged before the check.
struct PostgreSQLLoopReader: LoopReader {
    typealias Failure = PostgreSQLError

    let questions: TurnQuestions
    /// On a thread without an event loop, the loop that each fetch runs until its end; nil on an event loop.
    var polling: PollingPort?

    var rows: RowCache { RowCache() }

    func fetch(for rows: RowCache, until deadline: UInt64) async throws(PostgreSQLError) {
        let end = MonotonicTime(nanoseconds: deadline)
        guard let polling else { return rows.fill(try await questions.ask(rows.missing, by: end)) }
        let (questions, missing) = (questions, rows.missing)
        let answers = polling.run { () async -> TurnQuestions.Answers in
            do throws(PostgreSQLError) {
                try await questions.waitUntilReady(by: end)
                return .success(try await questions.ask(missing, by: end))
            } catch { return .failure(error) }
        }
        rows.fill(try answers.get())
    }

    func beginSnapshot() {}
    func endSnapshot() {}

    // Apps and keys come into memory by `DirectoryCache.publish`, and there is no filter, so a loop never reads these.
    func number(of app: AppID) throws(PostgreSQLError) -> Int64? { throw Self.unused }
    func newestClick() throws(PostgreSQLError) -> Int64 { throw Self.unused }
    func directoryVersion() throws(PostgreSQLError) -> Int64 { throw Self.unused }
    func directorySnapshot() throws(PostgreSQLError) -> DirectoryCache.Snapshot { throw Self.unused }

    private static let unused = PostgreSQLError(.other, "A loop read what is in memory.")

    static func translated(_ error: PostgreSQLError) -> EngineFailure {
        // The connection reconnects by itself.
        EngineFailure(StoreError(error), endsBatch: true, endsConnection: false)
    }
}

extension PostgreSQLSettings {
    /// The settings of an event loop's connection.
    ///
    /// Each statement is planned once, when the tables may still be empty. The plan must use indexes for
    /// tables of any size: a plan that reads the whole of a small table would still be used when the table
    /// has grown. On Citus, statements are planned each time, because Citus finds the shard of a statement
    /// with arrays only when it plans the statement with their values.
    func forLoop(onCitus isCitus: Bool = false) -> PostgreSQLSettings {
        var settings = self
        if !isCitus { settings.session.append(SessionSetting("plan_cache_mode", "force_generic_plan")) }
        for name in ["seqscan", "bitmapscan", "hashjoin", "mergejoin"] {
            settings.session.append(SessionSetting("enable_\(name)", "off"))
        }
        return settings
    }
}
#endif
