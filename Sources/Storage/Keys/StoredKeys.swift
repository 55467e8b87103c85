public import Attribution

/// Reads which keys the stored hashes need.
public protocol KeyNeedsReader: DatabaseReader {
    /// Returns the keys that stored hashes need at the given time.
    func requiredKeys(at now: Timestamp) throws(Failure) -> RequiredKeys
    /// Returns whether the address key of any stored day is no longer needed at the given time.
    func hasPastAddressDays(at now: Timestamp) throws(Failure) -> Bool
}

/// The check values of the server keys that a database stores, and the keys that its stored hashes need.
///
/// These functions wait for the database, so an event loop must not call them.
public struct StoredKeys: Sendable {
    private let state: StoreState
    private let read:
        @Sendable (_ now: Timestamp) throws(StoreError) -> (needs: RequiredKeys, hasPastDays: Bool)

    /// - Parameter threads: the threads of the open store.
    public init<Backend>(_ threads: StoreThreads<Backend>) where Backend.Reader: KeyNeedsReader {
        let backend = threads.backend
        state = threads.state
        // Read on the calling thread, not on the writing thread: only real writes may show that the disk works.
        read = { now throws(StoreError) in
            do throws(Backend.Reader.Failure) {
                let reader = try backend.openReader()
                return (try reader.requiredKeys(at: now), try reader.hasPastAddressDays(at: now))
            } catch { throw Backend.Reader.translated(error).error }
        }
    }

    /// Stores the current server key's check value (a hash that identifies the key).
    ///
    /// If the key replaces another one, the time of the replacement is stored with the former key. `checks` are the
    /// check values of all server keys in use, the current one first. If the key that was current last is not among
    /// them, the function changes nothing and returns `foreign`.
    public func confirm(_ checks: [KeyedHash], at now: Timestamp) throws(StoreError) -> ServerKeyRecognition {
        guard case .serverKeys(let recognition) = try state.queue.perform(.keys(.confirm(checks, at: now)))
        else { throw .mismatch }
        return recognition
    }

    /// Returns the keys that must not be destroyed, at the current time of the store's clock.
    ///
    /// It also deletes the stored days whose address keys are no longer needed, if jobs trust the clock.
    public func needs() throws(StoreError) -> RequiredKeys {
        let now = state.configuration.clock.now()
        let (needs, hasPastDays) = try read(now)
        guard hasPastDays, state.isClockSettled else { return needs }
        try state.queue.perform(.keys(.forgetAddressDays(before: now)))
        return needs
    }

    /// Removes a server key that no stored hash needs, by the first word of its check value.
    public func forget(_ check: UInt64) throws(StoreError) {
        try state.queue.perform(.keys(.forget(serverKey: check)))
    }
}
