public import Attribution
public import HTTPServer
internal import Synchronization
internal import Threads

/// What an operator sets about the service itself.
public struct ServiceSettings: Sendable {
    /// For clicks that bring no window of their own, of apps that have none.
    public var attributionWindow = AttributionWindow.standard
    /// How long the same caller may have an answer again, in milliseconds; 0 switches it off.
    public var replayGrace: Int64 = 60_000
    /// Peers whose `Forwarded` and `X-Forwarded-For` count.
    public var trustedProxies = TrustedProxies([])
    /// How much one address may ask for.
    public var rateLimits = RateLimits.standard
    /// Whose clicks are counted and never matched.
    public var robots = RobotAgents.embedded
    /// By which signals are read.
    public var devices = DeviceData.embedded
    /// Addresses that many people share who are not near each other: they tell visitors apart no more than private ones.
    public var relays = AddressRanges()
    /// What people see who open a link.
    public var pages = LandingPages.embedded
    /// How servers outside are called.
    public var outgoing = OutgoingRequests()
    /// What looks at the copies of domain files; nil where nobody does.
    public var domainWatch: DomainFileMonitor?
    /// For tests only: whether `X-Test-Time` sets the time of a request.
    public var usesTestClock = false
    /// The program's own version, told in statistics and metrics to operators only.
    public var version: String

    public init(version: String) {
        self.version = version
    }
}

/// What one event loop works with: its own view of the stores.
///
/// Made on the loop's thread and touched only there.
public struct Stores {
    public let clicks: any ClickStore
    public let apps: any AppStore
    public let statistics: any StatsStore
    public let learning: any LearningStore
    public let checks: any CheckStore
    public let links: any LinkStore
    /// Called before the loop sleeps: what was held open for its turn may end.
    public let endTurn: () -> Void
    /// Called when the loop has seen for how many connections there is something to do.
    public let beginTurn: (Int) -> Void

    public init(
        clicks: any ClickStore,
        apps: any AppStore,
        statistics: any StatsStore,
        learning: any LearningStore,
        checks: any CheckStore,
        links: any LinkStore,
        endTurn: @escaping () -> Void = {},
        beginTurn: @escaping (Int) -> Void = { _ in }
    ) {
        self.clicks = clicks
        self.apps = apps
        self.statistics = statistics
        self.learning = learning
        self.checks = checks
        self.links = links
        self.endTurn = endTurn
        self.beginTurn = beginTurn
    }
}

/// The attribution service: what all event loops share.
public final class Service: Sendable {
    public let settings: ServiceSettings
    public let metrics: Metrics
    let clock: WallClock
    let random: RandomSource
    /// The first of the rings; see ``Keyring/latest``.
    let keyring: Keyring
    let log: Log
    let storeHealth: @Sendable () -> StoreHealth
    let connections: @Sendable () -> Statistics
    let process: @Sendable () -> [StoreHealth.Sample]
    /// Uptime is told by the monotonic clock: a wall clock may be set back.
    private let startedAt = MonotonicTime.now()
    let rateLimiters: RateLimiters
    /// Nanoseconds of the monotonic clock before which nothing is said of unnamed proxies.
    private let nextProxyHint = Atomic<UInt64>(0)
    private static let proxyHintNanoseconds: UInt64 = 60_000_000_000
    private let stopping = Atomic<Bool>(false)
    /// The moment of the last `X-Test-Time`, in milliseconds; `Int64.min` before the first.
    private let testTime = Atomic<Int64>(.min)

    /// - Parameters:
    ///   - settings: what the operator chose.
    ///   - clock: the wall clock.
    ///   - random: the system's random bytes.
    ///   - keyring: what fingerprints, addresses and install ids are hashed under.
    ///   - log: where request lines and events go.
    ///   - storeHealth: how the store is, for readiness and metrics.
    ///   - connections: how the HTTP server is, for metrics.
    ///   - process: what metrics tell of the process itself; those of one name follow each other.
    public init(
        settings: ServiceSettings,
        clock: WallClock,
        random: RandomSource,
        keyring: Keyring,
        log: Log,
        storeHealth: @escaping @Sendable () -> StoreHealth,
        connections: @escaping @Sendable () -> Statistics,
        process: @escaping @Sendable () -> [StoreHealth.Sample] = { [] }
    ) {
        self.settings = settings
        self.clock = clock
        self.random = random
        self.keyring = keyring
        self.log = log
        self.storeHealth = storeHealth
        self.connections = connections
        self.process = process
        rateLimiters = RateLimiters(settings.rateLimits)
        metrics = Metrics(routes: Routes.all.map(\.name))
    }

    /// Says, once a minute at most, that an address that was refused looks like a proxy that nobody named.
    func noteRefusedAddress(of request: Request) {
        guard request.hasField("x-forwarded-for") || request.hasField("forwarded") else { return }
        let peer = NetworkAddress(high: request.peer.high, low: request.peer.low)
        guard !settings.trustedProxies.ranges.contains(where: { $0.contains(peer) }) else { return }
        let now = request.firstByteAt.nanoseconds
        let due = nextProxyHint.load(ordering: .relaxed)
        guard now >= due,
            nextProxyHint.compareExchange(
                expected: due,
                desired: now + Self.proxyHintNanoseconds,
                ordering: .relaxed
            ).exchanged
        else { return }
        log.event(
            .warning,
            "an address that sends X-Forwarded-For or Forwarded reached its rate limit and is answered 429:"
                + " if it is your proxy, name it with --trusted-proxy, or everybody behind it counts as one"
        )
    }

    /// What is stored instead of a click's address; nil for one that tells nothing.
    func addressHashes(of address: NetworkAddress, _ key: AddressKey) -> AddressHashes? {
        settings.relays.contains(address) ? nil : key.addressHashes(of: address)
    }

    /// What is compared and recorded instead of a launch's address; nil for one that tells nothing.
    func launchAddress(_ address: NetworkAddress, _ keys: Keyring, at moment: Timestamp) -> LaunchAddress? {
        settings.relays.contains(address) ? nil : keys.addresses.address(address, at: moment)
    }

    /// A handler for one event loop; to be called on the loop's thread.
    public func makeHandler(loop: Int, stores: Stores) -> any RequestHandler {
        ServiceHandler(service: self, routes: Routes.public, stores: stores)
    }

    /// A handler for the metrics address: health, readiness and metrics, without a key.
    public func makeMetricsHandler(stores: Stores) -> any RequestHandler {
        ServiceHandler(service: self, routes: Routes.monitoring, stores: stores)
    }

    /// From now on the service says that it is not ready.
    public func beginStopping() {
        stopping.store(true, ordering: .releasing)
    }

    /// Looks once at all copies of domain files, where that is wanted; blocks, and is not for an event loop.
    public func lookAtDomains(_ directory: Directory, unless mustStop: () -> Bool) {
        let now = clock.now()
        settings.domainWatch?.pollAll(directory, by: settings.outgoing, at: now, log, unless: mustStop)
    }

    /// How long the service has been running, in nanoseconds.
    var uptime: UInt64 { MonotonicTime.now().nanoseconds(since: startedAt) }

    var isStopping: Bool {
        stopping.load(ordering: .acquiring)
    }

    /// The clock that work beside requests follows: the last test time where there was one.
    public var backgroundClock: WallClock {
        WallClock { [self] in
            let moment = testTime.load(ordering: .relaxed)
            return moment == .min ? clock.now() : Timestamp(milliseconds: moment)
        }
    }

    /// When a request happens: the wall clock, or what its `X-Test-Time` says where that is allowed.
    func moment(of request: Request) throws(APIError) -> Timestamp {
        guard settings.usesTestClock, let text = request.field("x-test-time") else { return clock.now() }
        guard let moment = Timestamp(iso8601: text) else {
            throw .invalidField("X-Test-Time", "is not an ISO 8601 time such as 2026-01-31T12:00:00.000Z")
        }
        testTime.store(moment.milliseconds, ordering: .relaxed)
        return moment
    }
}
