internal import Attribution
internal import HTTPServer
internal import Server
internal import Synchronization

/// The service while it serves: made in order, stopped in the reverse one.
final class RunningService: Sendable {
    let log: Log
    /// The app that was made with a new database.
    let firstApp: FirstApp?
    private let logOutput: LogOutput
    private let store: OpenStore
    private let service: Service
    private let server: WebServer
    private let metricsServer: WebServer?
    private let shutdownGrace: Duration

    /// How long the last writes may take once no request is left, in milliseconds.
    private static let storeGrace: UInt64 = 1500

    /// Opens everything, makes the first app on a new database, and begins to answer.
    static func start(_ configuration: Configuration) async throws(CommandFailure) -> RunningService {
        try CommandDatabase.prepareDirectory(configuration)
        let output = try LogOutput(path: configuration.logFile)
        let isForPeople = configuration.logFile == nil && Console.errorIsTerminal
        let format = configuration.logFormat ?? (isForPeople ? .text : .json)
        let log = Log(format: format, clock: .system) { output.write($0) }
        let lateService = Late<Service>()
        let store = try openStore(configuration, lateService, log)
        do throws(CommandFailure) {
            let apps = store.makeStores().apps
            let (serverKey, firstApp) = try await FirstApp.prepare(
                apps,
                configuration,
                others: .unlessBrought
            )
            let running = try RunningService(
                configuration,
                log,
                output,
                store,
                lateService,
                serverKey,
                firstApp
            )
            running.announce(configuration, warnings: (try? apps.directory().warnings) ?? [])
            return running
        } catch {
            store.stop(Self.storeGrace)
            throw error
        }
    }

    /// Opens the store, whose clock is the service's, which is made after it.
    private static func openStore(
        _ configuration: Configuration,
        _ lateService: Late<Service>,
        _ log: Log
    ) throws(CommandFailure) -> OpenStore {
        let testClock = WallClock { lateService.value?.backgroundClock.now() ?? WallClock.system.now() }
        let clock = configuration.usesTestClock ? testClock : .system
        do throws(StoreError) {
            return try Wiring.openStore(configuration, for: .serving(clock: clock, log: log))
        } catch {
            throw CommandFailure(opening: error)
        }
    }

    private init(
        _ configuration: Configuration,
        _ log: Log,
        _ logOutput: LogOutput,
        _ store: OpenStore,
        _ lateService: Late<Service>,
        _ serverKey: ServerKey,
        _ firstApp: FirstApp?
    ) throws(CommandFailure) {
        do throws(StartError) {
            let server = try WebServer(configuration.serverConfiguration) { loop in
                try lateService.made().makeHandler(loop: loop, stores: store.makeStores())
            }
            metricsServer = try configuration.metricsConfiguration.map { settings throws(StartError) in
                try WebServer(settings) { _ in
                    try lateService.made().makeMetricsHandler(stores: store.makeStores())
                }
            }
            service = Service(
                settings: configuration.serviceSettings,
                clock: .system,
                random: .system,
                serverKey: serverKey,
                log: log,
                storeHealth: store.health,
                connections: { server.statistics }
            )
            lateService.value = service
            try metricsServer?.start()
            try server.start()
            self.server = server
        } catch {
            throw CommandFailure(error)
        }
        self.log = log
        self.logOutput = logOutput
        self.store = store
        self.firstApp = firstApp
        shutdownGrace = .seconds(configuration.shutdownGrace)
    }

    var listenAddress: ListenAddress { server.listenAddress }
    var addressText: String { server.addressText }
    var metricsAddressText: String? { metricsServer?.addressText }

    /// Stops accepting, finishes what is in flight, brings everything to disk, closes.
    ///
    /// Blocks until then.
    func stop() {
        service.beginStopping()
        log.event(.info, "stopping")
        server.stop(within: shutdownGrace)
        metricsServer?.stop(within: .zero)
        store.stop(Self.storeGrace)
        log.event(.info, "stopped")
        log.flush()
    }

    /// Lets a stop under way cut off what is still in flight.
    func hurry() {
        server.stop(within: .zero)
    }

    func reopenLog() {
        log.flush()
        logOutput.reopen()
    }

    private func announce(_ configuration: Configuration, warnings: [String]) {
        log.event(.info, "afterlink \(ProgramVersion.text) listens on \(addressText)")
        if let metricsAddressText { log.event(.info, "metrics on \(metricsAddressText)") }
        if configuration.usesTestClock {
            log.event(.warning, "UNSAFE: the test clock is on, and any request can set the time")
        }
        for warning in warnings { log.event(.warning, warning) }
    }
}
