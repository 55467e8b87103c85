public import Attribution
internal import SQLite
internal import Storage

extension SQLiteSession: StatsStore {
    public func statistics(_ query: StatisticsQuery, at now: Timestamp) async throws(StoreError)
        -> StatisticsReport
    {
        try await flushUpdates()
        let directory = try currentDirectory()
        let ids = query.app.map { [$0] } ?? directory.apps.map(\.id)
        var apps: [(id: AppID, scope: Scope)] = []
        for id in ids {
            guard let scope = try scope(of: id, isTest: query.isTest) else { continue }
            apps.append((id, scope))
        }
        var report = try read { reader throws(SQLiteError) in
            try StatisticsReader(reader, query, of: apps).report(at: now)
        }
        report.writeAheadLogBytes = logByteCount
        return report
    }

    /// Never called on a loop that has requests: it reads everything.
    public func countCollisions(
        of app: AppID,
        isTest: Bool,
        window: AttributionWindow,
        at now: Timestamp,
        progress: (Double) -> Void
    ) async throws(StoreError) -> CollisionReport? {
        guard let scope = try scope(of: app, isTest: isTest) else { return nil }
        var census = CollisionCensus(of: [CollisionCensus.Place(scope: scope, window: window)])
        var isMore = true
        while isMore {
            isMore = try read { reader throws(SQLiteError) in try census.runSlice(reader) }
            // A serving process must be able to begin its log anew.
            endTurn()
            progress(census.progress)
        }
        return census.reports(at: now)[scope]
    }
}
