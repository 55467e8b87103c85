internal import Attribution
internal import Server

/// A database that is open, whichever kind it is.
struct OpenStore: Sendable {
    /// A view for one thread, to be made on it.
    let makeStores: @Sendable () -> Stores
    let health: @Sendable () -> StoreHealth
    /// See ``ServerKeyRecognition``; takes the checks of the keys, the present one first.
    ///
    /// This and the two below wait for the disk.
    let confirm:
        @Sendable (_ serverKeys: [KeyedHash], _ now: Timestamp) throws(StoreError) -> ServerKeyRecognition
    /// Whether background jobs may act on the wall clock, which may have leapt.
    let isClockSettled: @Sendable () -> Bool
    let keyNeeds: @Sendable () throws(StoreError) -> RequiredKeys
    /// Takes the first word of a key's check.
    let forget: @Sendable (_ serverKey: UInt64) throws(StoreError) -> Void
    /// Finishes pending writes within the given number of milliseconds, and closes.
    let stop: @Sendable (_ milliseconds: UInt64) -> Void
}
