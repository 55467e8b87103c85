/// What an app's traffic has taught, as a store keeps it: the same for all servers on one database.
public protocol LearningStore {
    /// The model as of a moment, made of all that is stored; the priors' where nothing has been learnt.
    func matchingModel(of app: AppID, isTest: Bool, at moment: Timestamp) async throws(StoreError)
        -> MatchingModel

    /// Forgets what the app's traffic has taught: it begins as on a fresh server.
    ///
    /// Servers that run see it within some seconds; what they have learnt in these seconds may come after.
    func resetLearning(of app: AppID, isTest: Bool) async throws(StoreError)
}
