internal import Synchronization

/// Counts since the server's start, over all loops.
///
/// Each count is exact. But the server reads the counts one after the other while it runs, so they may not fit
/// together.
public struct Statistics: Sendable, Hashable {
    public var openConnections: Int = 0
    public var acceptedConnections: Int = 0

    /// Connections that the server refused because too many were open, or because it paused accepting.
    public var turnedAwayConnections: Int = 0

    /// Requests passed to a handler.
    public var requests: Int = 0

    /// The number of rejections, by the status code of their response.
    public var rejections: [Status: Int] = [:]

    /// How often a loop stopped accepting connections until its next sweep.
    ///
    /// The system refused a connection (EMFILE, ENFILE, ENOBUFS, ENOMEM), or peers dropped too many connections in a
    /// row before the loop accepted them.
    public var acceptPauses: Int = 0

    /// Finished TLS handshakes, including resumed ones.
    public var handshakes: Int = 0

    /// TLS handshakes that resumed an earlier session.
    public var resumedHandshakes: Int = 0

    /// TLS handshakes that started and did not finish, because one side refused, left, or was too slow.
    public var failedHandshakes: Int = 0

    /// When the certificate that the server presents expires, in seconds since 1970; `nil` without TLS.
    public var certificateExpiry: Int64?

    public var receivedBytes: Int = 0
    public var sentBytes: Int = 0

    /// The counts of a server before its first connection.
    public static let zero = Statistics()
}

/// The counts of all loops together; any thread may read them at any time.
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

    func countRejection(_ status: Status) { rejections.withLock { $0[status, default: 0] += 1 } }

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
    func add(_ count: Int) { _ = wrappingAdd(count, ordering: .relaxed) }
}
