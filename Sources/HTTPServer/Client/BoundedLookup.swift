internal import Synchronization
internal import Threads

/// Looks a name up on a thread of its own, so that whoever asks need not wait for longer than it likes.
///
/// The system's look-up cannot be ended: one that is given up goes on until its resolvers have answered, and counts
/// until then.
enum BoundedLookup {
    private static let mostUnderWay = 16
    private static let underWay = Atomic<Int>(0)

    private final class Result: Sendable {
        let addresses = Mutex<[PeerAddress]?>(nil)
        let isThere: WakeSignal

        init() throws(StartError) {
            isThere = try WakeSignal()
        }
    }

    static func addresses(
        of host: String,
        _ port: UInt16,
        until deadline: MonotonicTime,
        by lookup: @escaping HTTPSClient.Lookup
    ) throws(HTTPSFailure) -> [PeerAddress] {
        guard underWay.add(1, ordering: .relaxed).oldValue < mostUnderWay else {
            underWay.subtract(1, ordering: .relaxed)
            throw .resources
        }
        let result: Result
        do {
            let made = try Result()
            result = made
            try SystemThread.start {
                let addresses = lookup(host, port)
                made.addresses.withLock { $0 = addresses }
                underWay.subtract(1, ordering: .relaxed)
                made.isThere.raise()
            }
        } catch {
            underWay.subtract(1, ordering: .relaxed)
            throw .resources
        }
        guard result.isThere.wait(until: deadline), let addresses = result.addresses.withLock({ $0 }) else {
            throw .timedOut(stage: .name)
        }
        return addresses
    }
}
