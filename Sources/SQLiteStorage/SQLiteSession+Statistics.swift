public import Attribution
internal import SQLite

extension SQLiteSession: StatsStore {
    public func statistics(_ query: StatisticsQuery, at now: Timestamp) async throws(StoreError)
        -> StatisticsReport
    {
        try await flushNotes()
        let directory = try currentDirectory()
        let ids = query.app.map { [$0] } ?? directory.apps.map(\.id)
        var apps: [StatisticsReader.CountedApp] = []
        for id in ids {
            guard let scope = try scope(of: id, isTest: query.isTest) else { continue }
            apps.append(StatisticsReader.CountedApp(id: id, scope: scope))
        }
        var report = try read { connection throws(SQLiteError) in
            try StatisticsReader(connection: connection, query: query, apps: apps).report(at: now)
        }
        report.writeAheadLogBytes = logByteCount
        return report
    }
}
