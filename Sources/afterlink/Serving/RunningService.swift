internal import Attribution
internal import HTTPServer
internal import Server
internal import Threads

/// The service while it serves: made in order, stopped in the reverse one.
final class RunningService: Sendable {
    let log: Log
    /// The app that was made with a new database.
    let firstApp: FirstApp?
    private let logOutput: LogOutput
    private let store: OpenStore
    private let servers: Servers
    private let service: Service
    private let keeper: KeyMaintenanceThread
    /// Nil where plain HTTP is spoken.
    private let tls: ServedTLS?
    /// Nil where nobody looks at the copies of domain files.
    private let domainWatch: PeriodicThread?
    private let shutdownGrace: Duration

    /// What the process opens besides connections: the database for each loop, listeners, the log.
    static let ownDescriptors = 100
    /// How long the last writes may take once no request is left, in milliseconds.
    private static let storeGrace: UInt64 = 1500

    /// Opens everything, makes the first app on a new database, and begins to answer.
    ///
    /// - Parameters:
    ///   - chosen: the settings.
    ///   - origins: where those come from that are not their defaults.
    /// - Returns: the service, which answers.
    /// - Throws: what keeps it from that; then nothing of it runs.
    static func start(
        _ chosen: Configuration,
        _ origins: [ConfigurationReader.Origin] = []
    ) async throws -> RunningService {
        let tls = try ServedTLS(chosen)
        let settings = try TableFiles.settings(of: chosen)
        var configuration = chosen
        MemoryAllocator.returnLargeBlocks()
        let descriptors = DescriptorLimit.raise()
        configuration.maximumConnections = chosen.connectionLimit(descriptors: descriptors - ownDescriptors)
        let (lateStore, lateService) = (SetOnce<OpenStore>(), SetOnce<Service>())
        // First the addresses: where one is taken, nothing is made, and no keys that would never be shown.
        let servers = try Servers(configuration, lateStore, lateService, tls?.termination)
        try CommandDatabase.prepareDirectory(configuration)
        let modes = FileModes.tighten(database: configuration.databasePath)
        let output = try LogOutput(path: configuration.logFile)
        let log = try makeLog(configuration, output)
        // Before this process has it open, too.
        let others = Wiring.sharingWarnings(configuration)
        let store = try openStore(configuration, lateService, log)
        lateStore.value = store
        do {
            let apps = store.makeStores().apps
            let (keys, firstApp) =
                try await FirstApp.prepare(store, apps, configuration, others: .unlessBrought)
            let keyring = keys.keyring
            let service = makeService(settings, keyring, log, output, store, servers)
            lateService.value = service
            let keeper = try start(servers, firstApp) {
                try KeyMaintenanceThread(keys, keyring, dependencies(service, store, log))
            }
            let watch = try startWatch(configuration, store, service)
            let running = RunningService(
                log,
                output,
                firstApp,
                store,
                servers,
                service,
                keeper,
                tls,
                watch,
                configuration
            )
            let warnings =
                modes + others + keys.warnings + connectionWarnings(chosen, descriptors: descriptors)
            let isNew = firstApp != nil
            let known = (try? apps.directory()).map { remarks(on: $0, isNew ? [] : origins, configuration) }
            running.announce(configuration, warnings: warnings + (known ?? []))
            return running
        } catch {
            store.stop(Self.storeGrace)
            throw error
        }
    }

    /// The thread that looks at the copies of domain files; it has nothing to do with requests.
    private static func startWatch(
        _ configuration: Configuration,
        _ store: OpenStore,
        _ service: Service
    ) throws -> PeriodicThread? {
        guard configuration.domainWatch > 0 else { return nil }
        return try PeriodicThread("domains", every: .seconds(configuration.domainWatch)) { mustStop in
            // A connection of its own, which belongs to this thread.
            let stores = store.makeStores()
            defer { stores.endTurn() }
            guard let directory = try? stores.apps.directory() else { return }
            service.lookAtDomains(directory, unless: mustStop)
        }
    }

    private static func start(
        _ servers: Servers,
        _ firstApp: FirstApp?,
        keeping: () throws -> KeyMaintenanceThread
    ) throws -> KeyMaintenanceThread {
        do {
            let keeper = try keeping()
            try servers.start()
            return keeper
        } catch {
            guard let firstApp, !firstApp.madeKeys.isEmpty else { throw error }
            let failure = CommandFailure(describing: error)
            throw CommandFailure(
                "\(failure.explanation) The keys of the app \"\(firstApp.app.settings.name)\" were made before that, and"
                    + " nobody has seen them.",
                advice:
                    "\(failure.advice) Then make other keys with `afterlink keys create`, and revoke these:"
                    + " `afterlink keys list` shows them."
            )
        }
    }

    private static func makeService(
        _ settings: ServiceSettings,
        _ keyring: Keyring,
        _ log: Log,
        _ output: LogOutput,
        _ store: OpenStore,
        _ servers: Servers
    ) -> Service {
        Service(
            settings: settings,
            clock: .system,
            random: .system,
            keyring: keyring,
            log: log,
            storeHealth: store.health,
            connections: { servers.main.statistics },
            process: { ProcessFacts.samples() + [output.failureSample] }
        )
    }

    private static func dependencies(_ service: Service, _ store: OpenStore, _ log: Log)
        -> KeyMaintenance.Dependencies
    {
        let settings = service.settings
        return KeyMaintenance.Dependencies(
            store: store,
            log: log,
            clock: settings.usesTestClock ? service.backgroundClock : .system,
            usesTestClock: settings.usesTestClock,
            replayGrace: settings.replayGrace
        )
    }

    /// What is to be said of the apps and keys that there are.
    private static func remarks(
        on directory: Directory,
        _ origins: [ConfigurationReader.Origin],
        _ configuration: Configuration
    ) -> [String] {
        let without = InitialSettings.withoutEffect(origins, configuration, directory)
        return without.map { "\($0.text); \($0.advice)" } + directory.warnings + directory.policyWarnings()
    }

    private static func makeLog(
        _ configuration: Configuration,
        _ output: LogOutput
    ) throws -> Log {
        let isForPeople = configuration.logFile == nil && Console.errorIsTerminal
        let format = configuration.logFormat ?? (isForPeople ? .text : .json)
        return try Log(format: format, clock: .system) { output.write($0) }
    }

    /// Opens the store, whose clock is the service's, which is made after it.
    private static func openStore(
        _ configuration: Configuration,
        _ lateService: SetOnce<Service>,
        _ log: Log
    ) throws -> OpenStore {
        let testClock = WallClock { lateService.value?.backgroundClock.now() ?? WallClock.system.now() }
        let clock = configuration.usesTestClock ? testClock : .system
        return try attempt {
            try Wiring.openStore(configuration, for: .serving(clock: clock, log: log))
        } orElse: {
            CommandFailure(opening: $0)
        }
    }

    private init(
        _ log: Log,
        _ logOutput: LogOutput,
        _ firstApp: FirstApp?,
        _ store: OpenStore,
        _ servers: Servers,
        _ service: Service,
        _ keeper: KeyMaintenanceThread,
        _ tls: ServedTLS?,
        _ domainWatch: PeriodicThread?,
        _ configuration: Configuration
    ) {
        self.log = log
        self.logOutput = logOutput
        self.firstApp = firstApp
        self.store = store
        self.servers = servers
        self.service = service
        self.keeper = keeper
        self.tls = tls
        self.domainWatch = domainWatch
        shutdownGrace = .seconds(configuration.shutdownGrace)
    }

    var listenAddress: ListenAddress { servers.main.listenAddress }
    /// As in `https://127.0.0.1:8443`.
    var baseURL: String { "\(tls == nil ? "http" : "https")://\(servers.main.addressText)" }
    var metricsAddressText: String? { servers.metrics?.addressText }

    /// Stops accepting, finishes what is in flight, brings everything to disk, closes.
    ///
    /// Blocks until then.
    func stop() {
        service.beginStopping()
        log.event(.info, "stopping")
        domainWatch?.stop()
        servers.stop(within: shutdownGrace)
        keeper.stop()
        store.stop(Self.storeGrace)
        log.event(.info, "stopped")
        log.flush()
    }

    /// Lets a stop under way cut off what is still in flight.
    func dropInFlightRequests() {
        servers.stop(within: .zero)
    }

    func reopenLog() {
        log.flush()
        logOutput.reopen()
    }

    /// Shows what the certificate's file holds now; connections that are open go on.
    func reloadCertificate() {
        tls?.reload(log)
    }

    private func announce(_ configuration: Configuration, warnings: [String]) {
        log.event(.info, "afterlink \(ProgramVersion.text) listens on \(baseURL)")
        tls?.warn(log)
        if let metricsAddressText { log.event(.info, "metrics on \(metricsAddressText)") }
        if configuration.usesTestClock {
            log.event(.warning, "UNSAFE: the test clock is on, and any request can set the time")
        }
        for warning in warnings { log.event(.warning, warning) }
    }

    /// What an operator should know of how many connections there can be.
    private static func connectionWarnings(_ chosen: Configuration, descriptors: Int) -> [String] {
        let limit = chosen.connectionLimit(descriptors: descriptors - ownDescriptors)
        if let wanted = chosen.maximumConnections, wanted > descriptors - ownDescriptors {
            return [
                "only \(descriptors) files and sockets may be open, fewer than --maximum-connections \(wanted)"
                    + " needs; raise the limit with `ulimit -n` or LimitNOFILE"
            ]
        }
        guard chosen.maximumConnections == nil, limit < Configuration.connectionsWorthHaving else {
            return []
        }
        return [
            "only \(descriptors) files and sockets may be open, so that \(limit) connections are taken at most;"
                + " raise the limit with `ulimit -n` or LimitNOFILE"
        ]
    }
}
