/// An HTTP/1.1 server: one event loop a core, each with its own listener and handler.
public final class WebServer: Sendable {
    private let configuration: Configuration
    private let makeHandler: @Sendable (Int) throws -> any RequestHandler

    /// Binds the address; nothing is accepted before `start`.
    public init(
        _ configuration: Configuration,
        makeHandler: @escaping @Sendable (_ loop: Int) throws -> any RequestHandler
    ) throws(StartError) {
        self.configuration = configuration
        self.makeHandler = makeHandler
    }

    /// The port that is listened on; the one the system picked, if 0 was asked for.
    public var port: UInt16 {
        configuration.listenAddress.address.port
    }

    /// Address and port as they stand in a URL: `127.0.0.1:8080`, `[::1]:8080`.
    public var addressText: String {
        configuration.listenAddress.description
    }

    /// Starts the loops' threads, makes their handlers on them, and begins to accept.
    public func start() throws(StartError) {}

    /// Stops gracefully: accepts no more, closes idle connections, finishes requests under way.
    ///
    /// Returns when all loops have ended, at the latest after the grace; what was not answered then is
    /// cut off. May be called from any thread; a second call hurries the first.
    public func stop(within grace: Duration) {}

    /// Waits until the loops have ended.
    public func waitUntilStopped() {}

    public var statistics: Statistics {
        Statistics()
    }
}
