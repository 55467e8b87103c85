import Foundation

/// Measures how long a server takes for what a test asks of it, however busy the machine is.
///
/// It leaves out the time for which the caller's thread, and the server's thread that waited longest, were ready to run
/// but other programs had the cores. A sum over all threads of the server would leave out too much, because they wait at
/// the same time.
public struct ServerStopwatch: Sendable {
    private let server: ProcessFigures
    private let waits: [String: Duration]
    private let ownWait: Duration
    private let start: ContinuousClock.Instant

    /// - Parameter server: the process of the server.
    public init(of server: Int32) {
        self.server = ProcessFigures(of: server)
        waits = self.server.waitsForCores
        ownWait = Self.ownWait()
        start = .now
    }

    /// The time since the start, without the waits for a core; read it on the thread that has started the watch.
    public var elapsed: Duration {
        let whole = ContinuousClock.now - start
        let longest = server.waitsForCores.map { $1 - (waits[$0] ?? .zero) }.max() ?? .zero
        return whole - longest - (Self.ownWait() - ownWait)
    }

    private static func ownWait() -> Duration { ProcessFigures.waitForCores(ofThreadIn: "/proc/thread-self") }
}
