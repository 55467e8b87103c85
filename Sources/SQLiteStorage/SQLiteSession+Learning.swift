public import Attribution
internal import SQLite
internal import Storage

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
