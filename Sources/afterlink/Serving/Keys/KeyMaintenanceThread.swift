internal import Attribution
internal import Dispatch
internal import Server
internal import Threads

/// Sees on a thread of its own to what the keys are: follows the files when somebody changes them, begins to store under
/// a new server key, goes on to the next day's key for addresses, and destroys what nothing is stored under any more.
///
/// Any process of a database may do each of that, several at once as well: files are changed under a lock and in one
/// step, the keys for addresses follow from each other, and the database says which are still needed.
final class KeyMaintenanceThread: Sendable {
    private let stopping = DispatchSemaphore(value: 0)
    private let hasEnded = DispatchSemaphore(value: 0)

    /// A key that is made is used by no process before each has looked ten times.
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

    /// Ends it before the store; does not wait for long where the disk does not answer.
    func stop() {
        stopping.signal()
        _ = hasEnded.wait(timeout: .now() + .milliseconds(Self.lookMilliseconds))
    }
}
