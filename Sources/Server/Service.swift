public import Attribution
internal import DomainFiles
internal import FoundationEssentials
public import HTTPServer
internal import Synchronization
internal import Threads

/// The operator's settings for the service.
public struct ServiceSettings: Sendable {
    /// The attribution window of a click if its request, its link and its app all set none; `--attribution-window` sets
    /// it.
    public var attributionWindow = AttributionWindow.standard
    /// How long a caller that repeats its check gets the same response, in milliseconds; 0 switches this off.
    public var replayGrace: Int64 = 60_000
    /// How far Google's time of a store click may differ from the time of the click; `--play-bounds` sets it.
    public var playBounds = PlayBounds.standard
    /// The proxies whose `Forwarded` and `X-Forwarded-…` fields the service uses; other peers' fields are ignored.
    public var trustedProxies = TrustedProxies([])
    /// How many requests one address may make before it gets 429.
    public var rateLimits = RateLimits.standard
    /// The known robots, whose clicks are counted and never matched.
    public var robots = RobotAgents.embedded
    /// The tables of devices and systems that signals are read with.
    public var devices = DeviceData.embedded
    /// The addresses of relays; many distant people share one, so such an address does not distinguish visitors.
    public var relays = AddressRanges()
    /// The pages that people see when they open a link.
    public var pages = LandingPages.embedded
    /// The client for calls to outside servers.
    public var outgoing = OutgoingRequests()
    /// Sends postbacks; nil if the process sends none.
    public var postbackSender: PostbackSender?
    /// The exchange of attribution tokens with Apple Ads, for apps that use it.
    public var appleAds = AppleAdsExchange()
    /// The monitor of domain file copies; nil if it is switched off.
    public var domainWatch: DomainFileMonitor?
    /// The host for which the service's public address serves only the dashboard, and receives Apple's postbacks; nil
    /// for none.
    public var dashboardHost: LinkHost?
    /// The settings of the process, as the dashboard shows them.
    public var shown: [ShownSetting] = []
    /// For tests only: whether `X-Test-Time` sets the time of a request.
    public var usesTestClock = false
    /// The program's version; only operators see it, in statistics, metrics and the dashboard.
    public var version: String

    public init(version: String) { self.version = version }
}

/// The stores through which one event loop reads and writes the database.
///
/// It is created and used only on the loop's thread. It is a class, so that a request carries one reference.
public final class Stores {
    public let apps: any AppStore
    public let clicks: any ClickStore
    public let exports: any ExportStore
    public let sessions: any SessionStore
    private let all: any LoopStore

    /// Creates the stores of one database session; tests replace some of them.
    public init(
        _ all: any LoopStore,
        clicks: (any ClickStore)? = nil,
        exports: (any ExportStore)? = nil,
        sessions: (any SessionStore)? = nil
    ) {
        self.all = all
        apps = all
        self.clicks = clicks ?? all
        self.exports = exports ?? all
        self.sessions = sessions ?? all
    }

    public var statistics: any StatsStore { all }
    public var learning: any LearningStore { all }
    public var checks: any CheckStore { all }
    public var links: any LinkStore { all }
    public var events: any EventStore { all }
    public var audit: any AuditStore { all }
    public var privacy: any PrivacyStore { all }
    public var postbacks: any PostbackStore { all }
    public var applePostbacks: any ApplePostbackStore { all }

    /// Called with the number of connections that have work in this turn.
    public func beginTurn(with connectionCount: Int) { all.beginTurn(with: connectionCount) }
    /// Called before the loop sleeps; ends the read snapshot of the loop's turn.
    public func endTurn() { all.endTurn() }
}

/// The attribution service: the state that all event loops share.
public final class Service: Sendable {
    /// The maximum length of a body in bytes, for each path with its own limit.
    public static let bodiesByPath = [RecordEvents.path: RecordEvents.maximumBodyLength].merging(
        ReceiveApplePostback.paths.map { ($0, ReceiveApplePostback.maximumByteCount) }
    ) { $1 }

    public let settings: ServiceSettings
    public let metrics: Metrics
    let clock: WallClock
    let random: RandomSource
    /// The first keyring of the chain; ``Keyring/latest`` returns the current one.
    let keyring: Keyring
    let log: Log
    let storeHealth: @Sendable () -> StoreHealth
    let connections: @Sendable () -> Statistics
    let process: @Sendable () -> [MetricFamily]
    /// The time of the start on the monotonic clock, because a wall clock may be set back.
    private let startedAt = MonotonicTime.now()
    let rateLimiters: [RateLimiter?]
    /// Limits failed sign-ins to the dashboard: five at once, and then one every minute.
    let signInLimiter = RateLimiter(every: 60_000_000_000, burst: 5, countsLoopback: true)
    /// What the live pages of this server show.
    let liveFeed = LiveFeed()
    /// The earliest time of the next warning about an unnamed proxy, in nanoseconds of the monotonic clock.
    private let nextProxyHint = Atomic<UInt64>(0)
    private static let proxyHintNanoseconds: UInt64 = 60_000_000_000
    private let stopping = Atomic<Bool>(false)
    /// The time of the last `X-Test-Time`, in milliseconds; `Int64.min` before the first.
    private let testTime = Atomic<Int64>(.min)

    /// - Parameters:
    ///   - settings: the operator's settings.
    ///   - clock: the wall clock.
    ///   - random: the system's random bytes.
    ///   - keyring: the keys under which fingerprints, addresses and install ids are hashed.
    ///   - log: receives request lines and events.
    ///   - storeHealth: returns the state of the store, for readiness and metrics.
    ///   - connections: returns the counts of the HTTP server, for metrics.
    ///   - process: returns metrics of the process itself.
    public init(
        settings: ServiceSettings,
        clock: WallClock,
        random: RandomSource,
        keyring: Keyring,
        log: Log,
        storeHealth: @escaping @Sendable () -> StoreHealth,
        connections: @escaping @Sendable () -> Statistics,
        process: @escaping @Sendable () -> [MetricFamily] = { [] }
    ) {
        (self.settings, self.clock, self.random) = (settings, clock, random)
        (self.keyring, self.log, self.storeHealth) = (keyring, log, storeHealth)
        (self.connections, self.process) = (connections, process)
        rateLimiters = settings.rateLimits.makeLimiters()
        metrics = Metrics(routes: Routes.makePublic().map(\.name))
    }

    /// Logs, once a minute at most, that a refused address looks like a proxy that the settings do not name.
    func noteRefusedAddress(of request: Request) {
        guard request.hasField("x-forwarded-for") || request.hasField("forwarded") else { return }
        let peer = NetworkAddress(high: request.peer.high, low: request.peer.low)
        guard !settings.trustedProxies.ranges.contains(where: { $0.contains(peer) }) else { return }
        let now = request.firstByteAt.nanoseconds
        let due = nextProxyHint.load(ordering: .relaxed)
        let next = now + Self.proxyHintNanoseconds
        guard now >= due,
            nextProxyHint.compareExchange(expected: due, desired: next, ordering: .relaxed).exchanged
        else { return }
        let hint =
            "an address that sends X-Forwarded-For or Forwarded reached its rate limit and gets 429. If it is"
            + " your proxy, name it with --trusted-proxy; until then, all clients behind it count as one"
        log.event(.warning, hint)
    }

    /// Creates the handler of one event loop; called on the loop's thread.
    public func makeHandler(_ stores: Stores) -> any RequestHandler {
        let dashboard =
            settings.dashboardHost == nil ? [] : ReceiveApplePostback.makeRoutes() + Routes.makeDashboard()
        return ServiceHandler(
            service: self,
            routes: Routes.makePublic(),
            stores: stores,
            dashboard: dashboard
        )
    }

    /// Creates a handler for the metrics address: health, readiness and metrics, without a key.
    public func makeMetricsHandler(_ stores: Stores) -> any RequestHandler {
        ServiceHandler(service: self, routes: Routes.makeMonitoring(), stores: stores)
    }

    /// Creates a handler for the dashboard's address; called on the loop's thread.
    public func makeDashboardHandler(_ stores: Stores) -> any RequestHandler {
        ServiceHandler(service: self, routes: Routes.makeDashboard(), stores: stores, isDashboard: true)
    }

    /// Makes `/readyz` report from now on that the service is stopping.
    public func beginStopping() { stopping.store(true, ordering: .releasing) }

    /// Polls all copies of domain files once, if the monitor is on; blocks, so it must not run on an event loop.
    ///
    /// `noteChange` is called with the app and the members of a `domain_file.changed` event.
    public func pollDomainFiles(
        _ directory: Directory,
        unless mustStop: () -> Bool,
        noteChange: (AppID, String) -> Void
    ) {
        let (watch, client, now) = (settings.domainWatch, settings.outgoing, clock.now())
        watch?.pollAll(directory, by: client, at: now, log, unless: mustStop) { copy in
            let data = PostbackBody.text(copy)
            for app in directory.apps(listing: copy.host) { noteChange(app.id, data) }
        }
    }

    /// The current server keys.
    public var serverKeys: ServerKeys { keyring.latest.server }

    /// Logs that something could not be stored.
    public func logFailure(of what: String, _ error: StoreError) {
        log.event(.warning, "\(what) could not be stored: \(error.explanation)")
    }

    /// Creates the value that reconstructs the fingerprints of an app's stored clicks.
    public func reconstruction(for app: App.Settings) -> FingerprintReconstruction {
        FingerprintReconstruction(
            keys: keyring.latest.server.all,
            data: settings.devices,
            localization: app.localization(settings.devices.languages)
        )
    }

    /// How long the service has been running, in nanoseconds.
    var uptime: UInt64 { MonotonicTime.now().nanoseconds(since: startedAt) }

    var isStopping: Bool { stopping.load(ordering: .acquiring) }

    /// The clock of background work: the last test time, or the wall clock before the first.
    public var backgroundClock: WallClock {
        WallClock { [self] in
            let moment = testTime.load(ordering: .relaxed)
            return moment == .min ? clock.now() : Timestamp(milliseconds: moment)
        }
    }

    /// Returns the time of a request: its `X-Test-Time`, or the wall clock's time if the field is missing or
    /// the test clock is off.
    func moment(of request: Request) throws(APIError) -> Timestamp {
        guard settings.usesTestClock, let text = request.field("x-test-time") else { return clock.now() }
        guard let moment = Timestamp(iso8601: text) else {
            throw .invalidField("X-Test-Time", "is not an ISO 8601 time such as 2026-01-31T12:00:00.000Z")
        }
        testTime.store(moment.milliseconds, ordering: .relaxed)
        return moment
    }
}

extension WallClock {
    /// The machine's wall clock.
    public static let system = WallClock {
        Timestamp(milliseconds: Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)))
    }
}
