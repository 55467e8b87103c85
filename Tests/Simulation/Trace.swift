public import Attribution

/// A click or a launch of a simulated world, with what a server would see of it, and the truth.
public enum TraceEvent: Sendable {
    case click(TracedClick)
    case launch(TracedLaunch)

    public var at: Timestamp {
        switch self {
        case .click(let click): click.at
        case .launch(let launch): launch.at
        }
    }
}

public struct TracedClick: Sendable {
    /// Its place among the clicks of the trace.
    public var number: Int
    public var at: Timestamp
    /// Who clicked: the truth.
    public var person: UInt64
    public var device: Device
    /// IPv4; nil where it says nothing.
    public var address: UInt32?
    public var userAgent: String
    public var campaign: Int
    /// Unlike all others for a personal link.
    public var url: Int
}

public struct TracedLaunch: Sendable {
    /// What really led to a launch.
    public enum Truth: Equatable, Sendable {
        /// The person's last click before it.
        case click(Int)
        case organic
        /// The same device set up anew.
        case reinstall
        /// The same question again, because the answer was lost.
        case retry
    }

    public var at: Timestamp
    public var person: UInt64
    public var device: Device
    /// What the client hashes.
    public var fingerprintText: String
    public var address: UInt32?
    public var userAgent: String
    /// The system, as far as the agent tells it.
    public var release: OSRelease?
    /// The number of the click whose token it brings.
    public var token: Int?
    public var truth: Truth
}
