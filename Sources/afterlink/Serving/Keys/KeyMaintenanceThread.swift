internal import Attribution
internal import Dispatch
internal import Server
internal import Threads

/// Maintains the keys on a thread of its own: reloads changed files, switches to a new server key, advances to the next
/// day's address key, and destroys keys that nothing is stored under.
///
/// Several processes of a database may do this at once: files change under a lock and in one step, address keys follow
/// from each other, and the database says which are still needed.
final class KeyMaintenanceThread: Sendable {
    private let stopping = DispatchSemaphore(value: 0)
    private let hasEnded = DispatchSemaphore(value: 0)

    /// Every process polls ten times before any of them uses a new key.
    private static let lookMilliseconds = 500

    /// - Parameters:
    ///   - keys: as the service was started with.
    ///   - keyring: of the service.
    ///   - work: what it needs besides.
    /// - Throws: when the system refuses the thread.
    init(_ keys: LoadedKeys, _ keyring: Keyring, _ work: KeyMaintenance.Dependencies) throws {
        try SystemThread.start { [stopping, hasEnded] in
            SystemThread.nameCurrent("keys")
            var work = KeyMaintenance(keys, keyring, work)
            while stopping.wait(timeout: .now() + .milliseconds(Self.lookMilliseconds)) == .timedOut {
                work.runOnce()
            }
            hasEnded.signal()
        }
    }

    /// Stops the thread, before the store; does not wait long for a disk that does not respond.
    func stop() {
        stopping.signal()
        _ = hasEnded.wait(timeout: .now() + .milliseconds(Self.lookMilliseconds))
    }
}
