internal import Synchronization

/// What all loops count together; read by anyone at any time.
final class Counters: Sendable {
    let openConnections = Atomic<Int>(0)
    let acceptedConnections = Atomic<Int>(0)
    let turnedAwayConnections = Atomic<Int>(0)
    let requests = Atomic<Int>(0)
    let acceptPauses = Atomic<Int>(0)
    let handshakes = Atomic<Int>(0)
    let resumedHandshakes = Atomic<Int>(0)
    let failedHandshakes = Atomic<Int>(0)
    let receivedBytes = Atomic<Int>(0)
    let sentBytes = Atomic<Int>(0)
    private let rejections = Mutex<[Status: Int]>([:])

    func countRejection(_ status: Status) {
        rejections.withLock { $0[status, default: 0] += 1 }
    }

    var statistics: Statistics {
        Statistics(
            openConnections: openConnections.load(ordering: .relaxed),
            acceptedConnections: acceptedConnections.load(ordering: .relaxed),
            turnedAwayConnections: turnedAwayConnections.load(ordering: .relaxed),
            requests: requests.load(ordering: .relaxed),
            rejections: rejections.withLock { $0 },
            acceptPauses: acceptPauses.load(ordering: .relaxed),
            handshakes: handshakes.load(ordering: .relaxed),
            resumedHandshakes: resumedHandshakes.load(ordering: .relaxed),
            failedHandshakes: failedHandshakes.load(ordering: .relaxed),
            receivedBytes: receivedBytes.load(ordering: .relaxed),
            sentBytes: sentBytes.load(ordering: .relaxed)
        )
    }
}

extension Atomic where Value == Int {
    func add(_ count: Int) {
        _ = wrappingAdd(count, ordering: .relaxed)
    }
}
