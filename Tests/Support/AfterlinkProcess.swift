public import Foundation

/// An `afterlink serve` process on the database of an ``Installation``; it is killed when this value is
/// released.
public final class AfterlinkProcess: Sendable {
    public let port: UInt16
    /// The installation that the server runs on; its folder is not deleted before this value is released.
    public let installation: Installation
    /// The program that the process runs.
    public let program: URL
    private let process: ChildProcess

    public var identifier: Int32 { process.identifier }
    public var isRunning: Bool { process.isRunning }

    /// Starts `afterlink serve` and waits until it listens.
    ///
    /// - Parameters:
    ///   - installation: the installation whose database is served.
    ///   - arguments: settings in addition to the address and the database.
    ///   - program: the program to run; nil for ``Installation/binary``.
    ///   - environment: variables in addition to those of this process.
    ///   - endsWithStarter: whether the kernel ends the server when the thread that started it ends.
    /// - Throws: `ChildProcess.Failure` with the end of the server's log if the server ends before it listens.
    public init(
        _ installation: Installation,
        _ arguments: [String] = [],
        program: URL? = nil,
        environment: [String: String] = [:],
        endsWithStarter: Bool = false
    ) throws {
        self.installation = installation
        self.program = program ?? installation.binary
        process = try ChildProcess(
            self.program,
            ["serve", "--listen", "127.0.0.1:0", "--database", installation.databaseArgument]
                + installation.settings + arguments,
            // Several servers run at once, and only one of them could have the dashboard's default address.
            environment: ["AFTERLINK_DASHBOARD_LISTEN": "off"].merging(environment) { $1 },
            errorLog: installation.folder.appending(path: "server.log"),
            endsWithStarter: endsWithStarter
        )
        guard let line = process.line(containing: "listening on http"),
            let port = line.split(separator: ":").last.flatMap({ UInt16($0) })
        else {
            process.kill()
            let log = installation.log.suffix(2000)
            throw ChildProcess.Failure(description: "the server did not start: \(log)")
        }
        self.port = port
    }

    /// Ends the process at once, without a signal that it could handle.
    public func kill() { process.kill() }

    /// Requests a graceful stop, without waiting.
    public func terminate(with signal: Int32 = SIGTERM) { process.send(signal) }

    /// - Returns: the exit status, or the negative number of the signal that ended the process.
    @discardableResult
    public func waitUntilExit() -> Int32 { process.waitUntilExit() }

    /// - Returns: the exit status, as ``waitUntilExit()`` returns it; nil if the process has not ended within
    ///   the limit.
    public func exitStatus(withinSeconds limit: Int) -> Int32? {
        let end = ContinuousClock.now + .seconds(limit)
        _ = Polling.until { !isRunning || ContinuousClock.now > end }
        return isRunning ? nil : waitUntilExit()
    }
}
