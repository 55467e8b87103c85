/// The rule that credits a first launch to a click: the newest click of the app with that fingerprint which
/// is inside its attribution window and unclaimed, consumed exactly once.
public struct FirstLaunchMatching {
    private let store: any ClickStore

    /// A round is lost only when there is nothing left to claim, and the next look says so; more than a few
    /// need a crowd that keeps clicking.
    private static let roundLimit = 64

    /// The rule itself: the newest.
    private static let choose: @Sendable (CheckView) -> Click? = { $0.candidates.first }

    public init(store: any ClickStore) {
        self.store = store
    }

    /// - Throws: ``StoreError`` when nothing was decided. The caller says "try again", never "no match".
    public func match(_ check: Check) async throws(StoreError) -> MatchOutcome {
        let check = store.begin(check)
        for _ in 0..<Self.roundLimit {
            let view = try await store.view(for: check)
            if let replay = view.replay {
                store.note(.replay(replay), of: check)
                return .replay(replay)
            }
            guard let newest = Self.choose(view) else {
                store.note(.noMatch(view.reason), of: check)
                return .noMatch(view.reason)
            }
            switch try await store.claim(newest, by: .fingerprint, for: check, orElse: Self.choose) {
            case .claimed(let claim):
                store.answering(claim.click.id)
                return .match(claim)
            case .replayed(let claim):
                // Whoever was to have the answer first may never have been told.
                store.answering(claim.click.id)
                store.note(.replay(claim), of: check)
                return .replay(claim)
            case .lost:
                continue
            }
        }
        throw StoreError(.overloaded, "too many checks at once for one fingerprint")
    }
}
