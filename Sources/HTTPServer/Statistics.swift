internal import Synchronization

/// Counts since the start, over all loops; each is exact, together they are not of one instant.
public struct Statistics: Sendable, Hashable {
    public var openConnections: Int = 0
    public var acceptedConnections: Int = 0

    /// Connections answered 503 because too many were open, or because descriptors ran out.
    public var turnedAwayConnections: Int = 0

    /// Requests handed to a handler.
    public var requests: Int = 0

    /// Rejections answered, by status code.
    public var rejections: [Status: Int] = [:]

    /// Times that accepting was paused because the system refused (EMFILE, ENFILE, ENOBUFS, ENOMEM).
    public var acceptPauses: Int = 0

    /// TLS handshakes that were finished, resumed ones among them.
    public var handshakes: Int = 0

    /// TLS handshakes that took up an earlier session.
    public var resumedHandshakes: Int = 0

    /// TLS handshakes that were begun and not finished: refused, broken off, or too slow.
    public var failedHandshakes: Int = 0

    /// When the certificate that new handshakes show expires, in seconds since 1970; `nil` without TLS.
    public var certificateExpiry: Int64?

    public var receivedBytes: Int = 0
    public var sentBytes: Int = 0
}

extension Statistics {
    /// What a server counts before anybody came.
    public static let zero = Statistics()
}

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
