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

extension SQLiteSession: CheckStore {
    public func checks(_ query: CheckQuery) async throws(StoreError) -> CheckPage {
        try await flushUpdates()
        let apps = try appsByScope()
        return try await readInBackground { reader throws(SQLiteError) in
            try reader.page(query, of: apps)
        }
    }

    public func explanation(of reference: CheckReference, by explainer: Explainer) async throws(StoreError)
        -> Explanation?
    {
        try await flushUpdates()
        let apps = try appsByScope()
        let material = try await readInBackground { reader throws(SQLiteError) in
            try ExplanationReader(reader, apps).material(of: reference)
        }
        guard let material else { return nil }
        // Holds no snapshot meanwhile.
        return try await readInBackground { _ throws(SQLiteError) in explainer.explain(material) }
    }

    public func material(ofClick id: ClickID) async throws(StoreError) -> ClickExplanationInput? {
        try await flushUpdates()
        let apps = try appsByScope()
        return try await readInBackground { reader throws(SQLiteError) in
            try ClickExplanationReader(reader, apps).material(of: id)
        }
    }

    private func appsByScope() throws(StoreError) -> CheckedApps {
        var apps = CheckedApps()
        for app in try currentDirectory().apps {
            for isTest in [false, true] {
                if let scope = try scope(of: app.id, isTest: isTest) {
                    apps.add(app.id, isTest: isTest, scope)
                }
            }
        }
        return apps
    }
}

extension SQLiteSession: LearningStore {
    public func matchingModel(of app: AppID, isTest: Bool, at moment: Timestamp) async throws(StoreError)
        -> MatchingModel
    {
        guard let scope = try scope(of: app, isTest: isTest) else { return .fresh(at: moment) }
        return try read { reader throws(SQLiteError) in
            try reader.model(of: scope, at: moment)
        }
    }

    public func resetLearning(of app: AppID, isTest: Bool) async throws(StoreError) {
        guard let scope = try scope(of: app, isTest: isTest) else { return }
        shared.learnt.forget(scope)
        // In slices: no other write waits for all of it.
        while case .flag(true) = try await write(.learning(.forget(scope, limit: 1000))) {}
        shared.learnt.forget(scope)
    }
}
