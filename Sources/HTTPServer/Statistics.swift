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

    public var receivedBytes: Int = 0
    public var sentBytes: Int = 0
}

extension Statistics {
    /// What a server counts before anybody came.
    public static let zero = Statistics()
}
