import Foundation

/// Measures how long a server takes for what a test asks of it, however busy the machine is.
///
/// It leaves out the time for which the server's threads and the caller's thread were ready to run, but other programs
/// had the cores.
public struct Stopwatch: Sendable {
    private let server: ProcessFigures
    private let waitAtStart: Duration
    private let start: ContinuousClock.Instant

    /// - Parameter server: the process of the server.
    public init(of server: Int32) {
        self.server = ProcessFigures(of: server)
        waitAtStart = Self.wait(of: self.server)
        start = .now
    }

    /// The time since the start, without the waits for a core; read it on the thread that has started the watch.
    public var elapsed: Duration {
        let whole = ContinuousClock.now - start
        // The waits of threads that have ended meanwhile are no longer in the sum.
        return whole - max(.zero, Self.wait(of: server) - waitAtStart)
    }

    private static func wait(of server: ProcessFigures) -> Duration {
        server.waitForCores + ProcessFigures.waitForCores(ofThreadIn: "/proc/thread-self")
    }
}
