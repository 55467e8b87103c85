public import Attribution
public import HTTPServer
internal import Synchronization

/// What an operator sets about the service itself.
public struct ServiceSettings: Sendable {
    /// For clicks that bring no window of their own, of apps that have none.
    public var attributionWindow = AttributionWindow.standard
    /// How long the same caller may have an answer again, in milliseconds; 0 switches it off.
    public var replayGrace: Int64 = 60_000
    /// Peers whose `Forwarded` and `X-Forwarded-For` count.
    public var trustedProxies = TrustedProxies([])
    /// Clicks and checks that one address may send; nil sets no limit.
    public var rateLimit: RateLimit?
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
    /// Called before the loop sleeps: what was held open for its turn may end.
    public let endTurn: () -> Void

    public init(
        clicks: any ClickStore,
        apps: any AppStore,
        statistics: any StatsStore,
        endTurn: @escaping () -> Void = {}
    ) {
        self.clicks = clicks
        self.apps = apps
        self.statistics = statistics
        self.endTurn = endTurn
    }
}

/// The attribution service: what all event loops share.
public final class Service: Sendable {
    public let settings: ServiceSettings
    public let metrics: Metrics
    let clock: WallClock
    let random: RandomSource
    let serverKey: ServerKey
    let log: Log
    let storeHealth: @Sendable () -> StoreHealth
    let connections: @Sendable () -> Statistics
    /// Uptime is told by the monotonic clock: a wall clock may be set back.
    private let startedAt = MonotonicTime.now()
    let rateLimiter: RateLimiter?
    private let stopping = Atomic<Bool>(false)
    /// The moment of the last `X-Test-Time`, in milliseconds; `Int64.min` before the first.
    private let testTime = Atomic<Int64>(.min)

    /// - Parameters:
    ///   - settings: what the operator chose.
    ///   - clock: the wall clock.
    ///   - random: the system's random bytes.
    ///   - serverKey: under which fingerprints, addresses and install ids are hashed.
    ///   - log: where request lines and events go.
    ///   - storeHealth: how the store is, for readiness and metrics.
    ///   - connections: how the HTTP server is, for metrics.
    public init(
        settings: ServiceSettings,
        clock: WallClock,
        random: RandomSource,
        serverKey: ServerKey,
        log: Log,
        storeHealth: @escaping @Sendable () -> StoreHealth,
        connections: @escaping @Sendable () -> Statistics
    ) {
        self.settings = settings
        self.clock = clock
        self.random = random
        self.serverKey = serverKey
        self.log = log
        self.storeHealth = storeHealth
        self.connections = connections
        rateLimiter = settings.rateLimit.map(RateLimiter.init)
        metrics = Metrics(routes: Routes.all.map(\.name))
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
