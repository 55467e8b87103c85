internal import Attribution
internal import HTTPServer
internal import Server
internal import Storage
internal import Threads

/// A running service: all parts that ``start(_:_:databaseHasOpened:)`` creates and ``stop()`` stops.
final class RunningService: Sendable {
    /// The parts of the service.
    private struct Parts: Sendable {
        /// Nil for plain HTTP.
        let tls: ServedTLS?
        let servers: Servers
        let logOutput: LogOutput
        let log: Log
        let store: OpenStore
        /// The app that was created with a new database; nil for an existing one.
        let firstApp: FirstApp?
        let service: Service
        let keyMaintenance: KeyMaintenanceThread
        /// Nil if domain files are not monitored.
        let domainMonitor: PeriodicThread?
        let shutdownGrace: Duration
    }

    private let parts: Parts

    var log: Log { parts.log }
    var firstApp: FirstApp? { parts.firstApp }

    /// The minimum time for the last writes after the last request has ended, in milliseconds.
    private static let storeGrace: UInt64 = 1500
    /// The maximum time for the last writes, in milliseconds: a slow disk needs a second for each of a few syncs.
    private static let maximumStoreGrace: UInt64 = 5000
    /// The maximum time for the last lines of the log.
    private static let logGrace = Duration.seconds(1)
    /// The maximum time of a whole stop with the default `--shutdown-grace`, in milliseconds.
    private static let stopLimit: UInt64 = 8500

    /// Opens everything, creates the first app on a new database, and starts to serve.
    ///
    /// - Parameters:
    ///   - chosen: the settings.
    ///   - origins: the settings that the operator set, with their sources.
    ///   - databaseHasOpened: is called once the database is open, before an app is created.
    /// - Returns: the service, which serves.
    /// - Throws: the reason why it cannot serve; the process must end then, because threads may still run.
    static func start(
        _ chosen: Configuration,
        _ origins: [ConfigurationReader.Origin] = [],
        databaseHasOpened: @Sendable () -> Void = {}
    ) async throws -> RunningService {
        var (tls, read) = try readFiles(of: chosen)
        read.shown = ShownSetting.all(origins)
        var configuration = chosen
        MemoryAllocator.returnLargeBlocks()
        let descriptors = DescriptorLimit.raise()
        let available = descriptors - chosen.reservedDescriptors
        configuration.maximumConnections = chosen.connectionLimit(descriptors: available)
        configuration.maximumRefusedConnections = chosen.refusedConnectionLimit(descriptors: available)
        let (lateStore, lateService) = (SetOnce<OpenStore>(), SetOnce<Service>())
        // Bind the addresses first: if one is in use, no database is created, and no keys that would never be shown.
        let servers = try Servers(configuration, lateStore, lateService, tls?.termination)
        let sender = PostbackSender(
            allowed: configuration.postbackAllowances,
            userAgent: "Afterlink/\(ProgramVersion.text)",
            own: { servers.addresses }
        )
        read.postbackSender = sender
        let settings = read
        try CommandDatabase.prepareDirectory(configuration)
        let database = Wiring.database(configuration)
        let modes = FileModes.tighten(database: configuration.databasePath) { database.isOwn($0) }
        let output = try LogOutput(path: configuration.logFile)
        let log = try makeLog(configuration, output)
        // Called before this process opens the database itself.
        let holder = database.holder()
        let store = try openStore(configuration, lateService, sender, log)
        databaseHasOpened()
        lateStore.value = store
        var keyMaintenance: KeyMaintenanceThread?
        do {
            let stores = store.makeStores(nil)
            let apps = stores.apps
            let (keys, firstApp) = try await FirstApp.prepare(store, apps, configuration)
            if let host = chosen.dashboardHost { try check(dashboardHost: host, try apps.directory()) }
            let keyring = keys.keyring
            let service = Service(
                settings: settings,
                clock: .system,
                random: .system,
                keyring: keyring,
                log: log,
                storeHealth: store.health,
                connections: { servers.main.statistics },
                process: { ProcessFacts.samples() + [output.failureSample] }
            )
            lateService.value = service
            let (thread, domainMonitor) = try explaining(firstApp) {
                let started = try KeyMaintenanceThread(keys, keyring, of: service, store: store, log: log)
                keyMaintenance = started
                try servers.start()
                return (started, try startDomainMonitor(chosen, store, service))
            }
            let running = RunningService(
                Parts(
                    tls: tls,
                    servers: servers,
                    logOutput: output,
                    log: log,
                    store: store,
                    firstApp: firstApp,
                    service: service,
                    keyMaintenance: thread,
                    domainMonitor: domainMonitor,
                    shutdownGrace: .seconds(configuration.shutdownGrace)
                )
            )
            var unstored: [String] = []
            // If no other process has the file open, an address in it was left by a killed process.
            if holder == nil { unstored = await stored("", in: stores.sessions) }
            let addresses = running.dashboardURLs.joined(separator: " ")
            if !addresses.isEmpty { unstored += await stored(addresses, in: stores.sessions) }
            let warnings =
                unstored + modes + sharingWarnings(holder) + keys.warnings + servers.warnings
                + connectionWarnings(chosen, descriptors: descriptors)
            let isNew = firstApp != nil
            // If there is no app, another server has just created it, and this one has not read it yet.
            let known = (try? apps.directory()).flatMap { directory in
                directory.apps.isEmpty ? nil : remarks(on: directory, isNew ? [] : origins, configuration)
            }
            running.announce(configuration, warnings: warnings + (known ?? []))
            return running
        } catch {
            servers.stop(within: .zero)
            keyMaintenance?.stop()
            store.stop(Self.storeGrace)
            throw error
        }
    }

    /// Reads the certificate, and the files that replace tables and pages.
    ///
    /// - Throws: one failure for all files that cannot be used.
    static func readFiles(of configuration: Configuration) throws -> (ServedTLS?, ServiceSettings) {
        var failures: [CommandFailure] = []
        var (tls, settings): (ServedTLS?, ServiceSettings) = (nil, configuration.serviceSettings)
        do { tls = try ServedTLS(configuration) } catch { failures.append(CommandFailure(describing: error)) }
        do { settings = try TableFiles.settings(of: configuration) } catch {
            failures.append(CommandFailure(describing: error))
        }
        if let failure = CommandFailure(joining: failures) { throw failure }
        return (tls, settings)
    }

    /// Requires that no app lists the dashboard's host.
    private static func check(dashboardHost host: LinkHost, _ directory: Directory) throws {
        for app in directory.apps {
            guard let problem = LinkHostChange.problem(of: app.settings, withDashboardAt: host) else {
                continue
            }
            throw CommandFailure.configuration(problem.message)
                .advising(
                    "Correct --dashboard-host, or `afterlink apps set` of the app. Nothing was started."
                )
        }
    }

    /// Stores the URLs at which the dashboard is served, separated by blanks, for `afterlink dashboard`.
    ///
    /// - Returns: a warning if that failed.
    private static func stored(_ url: String, in sessions: any SessionStore) async -> [String] {
        do throws(StoreError) {
            let isNews = url.isEmpty ? try await !sessions.dashboards().isEmpty : true
            if isNews { try await sessions.setDashboard(url) }
            return []
        } catch {
            return [
                "the address of the dashboard could not be stored (\(error.explanation)):"
                    + " `afterlink dashboard` needs --dashboard-listen"
            ]
        }
    }

    /// Starts the thread that polls the copies of domain files; nil if `--domain-watch` is off.
    private static func startDomainMonitor(
        _ configuration: Configuration,
        _ store: OpenStore,
        _ service: Service
    ) throws -> PeriodicThread? {
        guard configuration.domainWatch > 0 else { return nil }
        return try PeriodicThread("domains", every: .seconds(configuration.domainWatch)) { mustStop in
            // A database connection belongs to one thread.
            let stores = store.makeStores(nil)
            defer { stores.endTurn() }
            guard let directory = try? stores.apps.directory() else { return }
            service.pollDomainFiles(directory, unless: mustStop) { app, data in
                do throws(StoreError) {
                    try store.publish(.domainFileChanged, app, data)
                } catch {
                    service.logFailure(of: "an event of a domain file", error)
                }
            }
        }
    }

    /// Runs a part of the start; its failure also says that the keys of a new app were not shown.
    private static func explaining<Result>(
        _ firstApp: FirstApp?,
        _ body: () throws -> Result
    ) throws -> Result {
        do {
            return try body()
        } catch {
            guard let firstApp, !firstApp.madeKeys.isEmpty else { throw error }
            let failure = CommandFailure(describing: error)
            let app = firstApp.app.settings.name
            throw CommandFailure.because(
                "\(failure.explanation) The keys of the new app \"\(app)\" were not shown."
            )
            .advising(
                "\(failure.advice) Then create other keys with `afterlink keys create`, and revoke these:"
                    + " `afterlink keys list` shows them."
            )
        }
    }

    /// Returns warnings about settings without effect, and about the destinations, policies and admin keys in the
    /// database.
    private static func remarks(
        on directory: Directory,
        _ origins: [ConfigurationReader.Origin],
        _ configuration: Configuration
    ) -> [String] {
        let without = InitialSettings.withoutEffect(origins, configuration, directory)
        return without.map { "\($0.text); \($0.advice)" }
            + directory.warnings(at: WallClock.system.now()) + directory.policyWarnings()
    }

    private static func makeLog(_ configuration: Configuration, _ output: LogOutput) throws -> Log {
        let isForPeople = configuration.logFile == nil && Console.errorIsTerminal
        let format = configuration.logFormat ?? (isForPeople ? .text : .json)
        return try Log(format: format, clock: .system) { output.write($0) }
    }

    /// Opens the store; a test clock is taken from the service, which is created later.
    private static func openStore(
        _ configuration: Configuration,
        _ lateService: SetOnce<Service>,
        _ sender: PostbackSender,
        _ log: Log
    ) throws -> OpenStore {
        let testClock = WallClock { lateService.value?.backgroundClock.now() ?? WallClock.system.now() }
        let clock = configuration.usesTestClock ? testClock : .system
        let replays = ReplaySettings(grace: configuration.replayGrace * 1000) {
            lateService.value?.reconstruction(for: $0)
        }
        let postbacks = PostbackSettings(
            send: { sender.send($0, $1) },
            keys: { lateService.value?.serverKeys },
            random: .system
        )
        return try CommandDatabase.explaining(configuration) {
            try $0.open(for: .serving(clock: clock, log: log, replays: replays, postbacks: postbacks))
        }
    }

    private init(_ parts: Parts) { self.parts = parts }

    var listenAddress: ListenAddress { parts.servers.main.listenAddress }
    /// The start of the dashboard's URLs; nil without a dashboard.
    var dashboardURL: String? { dashboardURLs.first }
    /// The starts of the dashboard's URLs, at its own address and at its host.
    private var dashboardURLs: [String] {
        let own = parts.servers.dashboard.map { server in
            "\(server.isSecure ? "https" : "http")://\(server.reachableAddressText)"
        }
        let hosted: String? = parts.service.settings.dashboardHost.map { host in
            let port = parts.servers.main.listenAddress.address.port
            if parts.tls != nil { return "https://\(host.text)\(port == 443 ? "" : ":\(port)")" }
            // A proxy speaks HTTPS; without one, signing in works on loopback only.
            let hasProxy = !parts.service.settings.trustedProxies.ranges.isEmpty
            return hasProxy ? "https://\(host.text)" : "http://\(host.text):\(port)"
        }
        return [own, hosted].compactMap(\.self)
    }
    /// The start of the service's URLs, as in `https://127.0.0.1:8443`.
    var baseURL: String { "\(parts.tls == nil ? "http" : "https")://\(parts.servers.main.addressText)" }

    /// Stops accepting, finishes requests in flight, writes everything to disk, and closes; blocks until all is closed.
    func stop() {
        let start = MonotonicTime.now()
        parts.service.beginStopping()
        log.event(.info, "stopping")
        parts.domainMonitor?.stop()
        parts.servers.stop(within: parts.shutdownGrace)
        parts.keyMaintenance.stop()
        // The store gets the time that the requests did not need.
        let elapsed = MonotonicTime.now().nanoseconds(since: start) / 1_000_000
        let left = Self.stopLimit - min(elapsed, Self.stopLimit)
        parts.store.stop(max(Self.storeGrace, min(Self.maximumStoreGrace, left)))
        log.event(.info, "stopped")
        log.flush(within: Self.logGrace)
    }

    /// Makes a stop that has begun drop the requests in flight.
    func dropInFlightRequests() { parts.servers.stop(within: .zero) }

    func reopenLog() {
        // Limit the wait: the calling thread must soon wait again for the signal that stops the service.
        log.flush(within: Self.logGrace)
        parts.logOutput.reopen()
    }

    /// Reads the files of the certificate and its key again, for new connections.
    func reloadCertificate() { parts.tls?.reload(log) }

    private func announce(_ configuration: Configuration, warnings: [String]) {
        log.event(.info, "afterlink \(ProgramVersion.text) listens on \(baseURL)")
        parts.tls?.warn(log)
        if let dashboardURL { log.event(.info, "dashboard at \(dashboardURL)") }
        if let metrics = parts.servers.metrics { log.event(.info, "metrics on \(metrics.addressText)") }
        if configuration.usesTestClock {
            log.event(.warning, "UNSAFE: the test clock is on, and any request can set the time")
        }
        for warning in warnings { log.event(.warning, warning) }
    }

    /// Returns a warning if another process has the database open.
    private static func sharingWarnings(_ holder: Int32?) -> [String] {
        guard let holder else { return [] }
        let process = holder == 0 ? "another process" : "process \(holder)"
        return [
            "\(process) has the database open already: if it serves, too, both share clicks, matches and keys, but not"
                + " rate limits and metrics"
        ]
    }

    /// Returns warnings about a limit of open files that leaves too few connections.
    private static func connectionWarnings(_ given: Configuration, descriptors: Int) -> [String] {
        let available = descriptors - given.reservedDescriptors
        let limit = given.connectionLimit(descriptors: available)
        if let wanted = given.maximumConnections, wanted > available {
            return [
                "the process may open only \(descriptors) files and sockets, too few for --maximum-connections"
                    + " \(wanted); raise the limit with `ulimit -n` or LimitNOFILE"
            ]
        }
        guard given.maximumConnections == nil, limit < Configuration.connectionsWorthHaving else { return [] }
        return [
            "the process may open only \(descriptors) files and sockets, which allows \(limit) connections; raise the"
                + " limit with `ulimit -n` or LimitNOFILE"
        ]
    }
}

/// The main server, the server of the dashboard, and a server for metrics if `--metrics-listen` is set.
struct Servers: Sendable {
    let main: WebServer
    let metrics: WebServer?
    /// Nil if the dashboard is off, or if another program has its default address.
    let dashboard: WebServer?
    private(set) var warnings: [String] = []

    /// Binds the addresses; ``start()``, which needs the store and the service, begins to accept.
    init(
        _ configuration: Configuration,
        _ lateStore: SetOnce<OpenStore>,
        _ lateService: SetOnce<Service>,
        _ tls: TLSTermination?
    ) throws {
        main = try WebServer(configuration.serverConfiguration(tls)) { _, port in
            try lateService.get().makeHandler(lateStore.get().makeStores(port))
        }
        do throws(StartError) {
            dashboard = try configuration.dashboardListen.address.map { address throws(StartError) in
                // Beyond this machine, the session's cookie needs HTTPS.
                var settings = Self.configurationForFewClients(at: address)
                settings.tls = address.isLoopback ? nil : tls
                return try WebServer(settings) { _, port in
                    try lateService.get().makeDashboardHandler(lateStore.get().makeStores(port))
                }
            }
        } catch {
            guard error.cause == .listening else { throw error }
            guard configuration.dashboardListen == .standard else {
                throw CommandFailure(error, addressOf: "--dashboard-listen")
            }
            dashboard = nil
            warnings = [
                "the service runs without a dashboard: \(error.message). Name a free address with --dashboard-listen, or"
                    + " give --dashboard-listen off"
            ]
        }
        if let dashboard, !dashboard.isSecure, !dashboard.listenAddress.isLoopback {
            warnings = [
                "the dashboard listens on \(dashboard.addressText) without TLS, so browsers on other machines can sign in only"
                    + " through a --trusted-proxy with HTTPS; give --tls-certificate and --tls-key, or a loopback address"
            ]
        }
        // The address of the metrics is internal and serves plain HTTP.
        metrics = try configuration.metricsListen.map { address throws(StartError) in
            try WebServer(Self.configurationForFewClients(at: address)) { _, port in
                try lateService.get().makeMetricsHandler(lateStore.get().makeStores(port))
            }
        }
    }

    /// Returns the configuration of a server for a few people or programs.
    ///
    /// It allows few connections, because a flood of them must not use up the process's descriptors.
    private static func configurationForFewClients(at address: ListenAddress) -> HTTPServerConfiguration {
        var configuration = HTTPServerConfiguration(listenAddress: address, loopCount: 1)
        configuration.maximumConnections = 200
        configuration.maximumRefusedConnections = 16
        return configuration
    }

    /// The addresses that the servers listen on.
    var addresses: [PeerAddress] { [main, metrics, dashboard].compactMap { $0?.listenAddress.address } }

    func start() throws {
        try metrics?.start()
        try dashboard?.start()
        try main.start()
    }

    /// Stops the servers, and blocks until they have ended; metrics last, because they show the progress of the stop.
    func stop(within grace: Duration) {
        dashboard?.stop(within: .zero)
        main.stop(within: grace)
        metrics?.stop(within: .zero)
    }
}

extension WebServer {
    /// The address as a browser on this machine reaches it: loopback, if the server listens on all addresses.
    fileprivate var reachableAddressText: String {
        let address = listenAddress.address
        let isAny = address.ipv4 == 0 || (address.ipv4 == nil && address.high == 0 && address.low == 0)
        return isAny ? "127.0.0.1:\(address.port)" : addressText
    }
}

extension ShownSetting {
    /// Returns every setting with its value and its source; for a secret, only whether it is set.
    static func all(_ origins: [ConfigurationReader.Origin]) -> [ShownSetting] {
        Setting.all.map { setting in
            guard let origin = origins.last(where: { $0.setting.name == setting.name }) else {
                let value = setting.isSecret ? "not set" : setting.defaultText
                return ShownSetting(name: setting.name, value: value, origin: "default")
            }
            return ShownSetting(name: setting.name, value: origin.shownValue, origin: origin.place)
        }
    }
}
