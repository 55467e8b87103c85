import Attribution
import Crypto
import Foundation
import HTTPServer
import Server
import Storage
import Support
import Synchronization
import TestDatabases
import Threads

/// A fingerprint for tests in which any fingerprint will do.
let hex = String(repeating: "ab", count: 32)

/// The body of a click for tests in which any click with ``hex`` will do.
let anyClick = #"{"fingerprint":"\#(hex)","deeplink_url":"myapp://promo/item"}"#

extension RateLimits {
    /// Creates limits such as `1/s:1` for some classes; the limits apply to requests from this machine, too.
    init(_ classes: [RateLimitClass], _ text: String) {
        self.init()
        for limitClass in classes {
            self[limitClass] = RateLimit(text).map { Rule($0, countsLoopback: true) }
        }
    }
}

/// The whole service on a real database, called without a socket, at a time that the test sets.
final class TestService: Sendable {
    let service: Service
    let clock: TestClock
    let app: AppID
    let watch = ClickWatch()
    /// The keyring with which the service starts.
    let keyring: Keyring
    private let keys: [KeyKind: String]
    let loop: ServiceLoop
    let serverKey: ServerKey
    private let place: any TestPlace
    private let database: any TestDatabase
    private let log: Log
    private let logged: LoggedBytes
    private let acceptsWrites: Flag
    /// The facts about its machine that the service gets.
    let machine = MachineFacts()

    init(
        _ settings: App.Settings = App.Settings(name: "Shop"),
        replayGrace: Int64 = 60_000,
        trustedProxies: [String] = [],
        rateLimits: RateLimits = RateLimits(),
        queueLimit: Int? = nil,
        configure: (inout ServiceSettings) -> Void = { _ in },
        configureStore: (inout StoreConfiguration) -> Void = { _ in }
    ) async throws {
        place = try await Backend.chosen().makePlace(at: TestClock.start)
        let (clock, logged, acceptsWrites) = (TestClock(), LoggedBytes(), Flag(true))
        (self.clock, self.logged, self.acceptsWrites) = (clock, logged, acceptsWrites)
        var configuration = StoreConfiguration(clock: clock.wallClock)
        configuration.hasBackgroundWork = false
        configuration.trustsClock = true
        // A disk that is busy for a second must fail no test.
        configuration.timeLimitMilliseconds = 600_000
        configuration.foreignUpdateMilliseconds = 0
        if let queueLimit { configuration.queueLimit = queueLimit }
        configureStore(&configuration)
        database = try place.open(configuration)
        var own = ServiceSettings(version: "test")
        own.replayGrace = replayGrace
        own.trustedProxies = TrustedProxies(trustedProxies.compactMap { AddressRange($0) })
        own.rateLimits = rateLimits
        configure(&own)
        guard let serverKey = ServerKey(bytes: Array(repeating: 7, count: ServerKey.byteCount)) else {
            throw CocoaError(.coderInvalidValue)
        }
        self.serverKey = serverKey
        keyring = Keyring(server: ServerKeys(serverKey), addresses: try TestKeys.addresses())
        log = try Log(format: .json, clock: clock.wallClock) { logged.append($0) }
        service = Service(
            settings: own,
            clock: clock.wallClock,
            random: .system,
            keyring: keyring,
            log: log,
            storeHealth: { [machine] in
                var health = StoreHealth()
                health.isStopping = !acceptsWrites.value
                health.freeBytes = machine.freeBytes.value
                return health
            },
            connections: { [machine] in
                var connections = Statistics.zero
                connections.certificateExpiry = machine.certificateExpiry.value
                return connections
            }
        )
        loop = ServiceLoop(service, database, watch)
        app = AppID(at: clock.now, random: .system)
        let made = KeyKind.allCases.map { [app, clock] kind in
            TestKey(kind, of: kind == .admin ? nil : app, at: clock.now)
        }
        // One transaction creates all rows, because most tests spend most of their time here.
        let shop = App(id: app, settings: settings, createdAt: clock.now)
        try await loop.create(shop, with: made.map(\.key))
        keys = Dictionary(uniqueKeysWithValues: made.map { ($0.key.kind, $0.text) })
    }

    deinit {
        loop.executor.stop()
        database.stop(within: 60_000)
    }

    var storeAcceptsWrites: Bool {
        get { acceptsWrites.value }
        set { acceptsWrites.value = newValue }
    }

    /// Blocks the writer until the semaphore is signalled; returns once the writer is blocked.
    func holdWriter() -> DispatchSemaphore {
        let (isHeld, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        database.queueWork {
            isHeld.signal()
            release.wait()
            // A transaction that is repeated does this again.
            release.signal()
        }
        isHeld.wait()
        return release
    }

    /// The number of writes that wait or run.
    var queueLength: Int { database.health.queueLength }

    let random = RandomSource { count in (0..<count).map { _ in UInt8.random(in: 0...255) } }

    /// Makes the job that sends postbacks.
    func makePostbackJob(_ settings: PostbackSettings) -> any Job {
        func make(_ database: some TestDatabase) -> any Job {
            PostbackJob(database.makeJobContext(), settings)
        }
        return make(database)
    }

    /// Does at once what jobs do within a second: reads other processes' changes, and adds pending counts.
    func catchUp() throws { try database.catchUp() }
    func count(_ what: TestCount) throws -> Int64 { try place.count(what) }
    func change(_ change: TestChange) throws { try place.change(change) }

    /// Returns the history of the app's live traffic, with fingerprints reconstructed under the given keys.
    func history(keys: [ServerKey]? = nil) throws -> any TrafficHistory {
        try place.history(of: app, StoreConfiguration(clock: clock.wallClock), keys: keys ?? [serverKey])
    }

    func keyText(_ kind: KeyKind) -> String { keys[kind] ?? "" }

    func bearer(_ kind: KeyKind) -> [String: String] { ["Authorization": "Bearer \(keyText(kind))"] }

    /// Returns the lines logged so far.
    func logLines() -> [String] {
        log.flush()
        return logged.text.split(separator: "\n").map(String.init)
    }
}

// MARK: - Requests

extension TestService {
    /// Replaces the current server key; the former key stays in the keyring.
    func rotateServerKey() throws {
        let ring = keyring.latest
        let count = UInt8(ring.server.all.count)
        guard let key = ServerKey(bytes: Array(repeating: 100 + count, count: ServerKey.byteCount)) else {
            throw CocoaError(.coderInvalidValue)
        }
        ring.replace(by: Keyring(server: ServerKeys(key, former: ring.server.all), addresses: ring.addresses))
    }

    static let peer = PeerAddress(ipv4: 0x7F00_0001, port: 4711)

    /// The address that gets a request; the API's description has its responses only to ``api``.
    enum Target {
        case api
        case undescribed
        case dashboard
    }

    @discardableResult
    func send(
        _ method: HTTPServer.Method,
        _ path: String,
        query: String? = nil,
        fields: [String: String] = [:],
        body: String = "",
        peer: PeerAddress = TestService.peer,
        at moment: MonotonicTime = .now(),
        to target: Target = .api
    ) async -> Answer {
        let request = Request(
            method,
            path: path,
            query: query,
            fields: fields.sorted { $0.key < $1.key }.map { FieldLine(name: $0.key, value: $0.value) },
            body: Array(body.utf8),
            peer: peer,
            firstByteAt: moment
        )
        guard target != .dashboard else { return await loop.sendToDashboard(request) }
        let answer = await loop.send(request)
        if target == .api { DescribedAnswers.expect(answer, to: method, path) }
        return answer
    }

    /// Runs `body` while streams of the live page are open.
    func whileStreamsAreOpen<Value>(
        _ count: Int,
        _ browser: DashboardBrowser,
        _ body: () async throws -> Value
    ) async rethrows -> Value {
        let fields = ["Host": DashboardBrowser.host, "Cookie": browser.cookie]
        for _ in 0..<count {
            await loop.hold(
                Request(
                    .get,
                    path: "/live/stream",
                    fields: fields.map { FieldLine(name: $0.key, value: $0.value) },
                    body: [],
                    peer: Self.peer,
                    firstByteAt: .now()
                )
            )
        }
        do {
            let value = try await body()
            await loop.endHeldStreams()
            return value
        } catch {
            await loop.endHeldStreams()
            throw error
        }
    }

    /// Returns the next message of each of the open streams, which are read at the same time.
    func nextMessages(ofStreams count: Int) async -> [String] {
        await withTaskGroup(of: String.self) { group in
            for index in 0..<count { group.addTask { await self.loop.nextPiece(ofHeld: index) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// The numbers of reads of exported tables and of the dashboard's sessions.
    var reads: ReadCounts { loop.reads }

    func create(_ link: SignInLink) async throws { try await loop.create(link) }

    @discardableResult
    func click(
        _ body: String = anyClick,
        fields: [String: String] = [:],
        peer: PeerAddress = TestService.peer,
        at moment: MonotonicTime = .now()
    ) async -> Answer {
        let all = ["Content-Type": "application/json"].merging(fields) { $1 }
        return await send(
            .post,
            "/v1/deferred-deeplink/click",
            fields: all,
            body: body,
            peer: peer,
            at: moment
        )
    }

    /// Calls `GET /admin/stats`.
    func statistics(_ query: String? = nil, key: KeyKind = .admin) async -> Answer {
        await send(.get, "/admin/stats", query: query, fields: bearer(key))
    }

    @discardableResult
    func check(
        _ fingerprint: String,
        key: KeyKind = .app,
        fields: [String: String] = [:],
        peer: PeerAddress = TestService.peer,
        at moment: MonotonicTime = .now()
    ) async -> Answer {
        await check(query: "fingerprint=\(fingerprint)", key: key, fields: fields, peer: peer, at: moment)
    }

    /// Sends a check as a newer client does.
    @discardableResult
    func resolve(
        _ body: String,
        key: KeyKind = .app,
        fields: [String: String] = [:],
        peer: PeerAddress = TestService.peer,
        at moment: MonotonicTime = .now()
    ) async -> Answer {
        let usual = ["Content-Type": "application/json"].merging(bearer(key)) { $1 }
        let (path, all) = ("/v1/deferred-deeplink/resolve", usual.merging(fields) { $1 })
        return await send(.post, path, fields: all, body: body, peer: peer, at: moment)
    }

    /// Sends a check with any query items.
    @discardableResult
    func check(
        query: String,
        key: KeyKind = .app,
        fields: [String: String] = [:],
        peer: PeerAddress = TestService.peer,
        at moment: MonotonicTime = .now()
    ) async -> Answer {
        let all = bearer(key).merging(fields) { $1 }
        return await send(.get, "/v1/deferred-deeplink", query: query, fields: all, peer: peer, at: moment)
    }

    func reject(_ kind: Rejection.Kind, origin: String? = nil, at moment: MonotonicTime = .now()) async
        -> Answer
    {
        await loop.reject(
            Rejection(kind: kind, reason: "a test", peer: Self.peer, firstByteAt: moment, origin: origin)
        )
    }

    /// Reports the end of the last response's delivery.
    func deliverLast(_ delivery: Delivery) async { await loop.deliverLast(delivery) }

    func report(_ query: StatisticsQuery = StatisticsQuery()) async throws -> StatisticsReport {
        try await loop.report(query, at: clock.now)
    }

    func totals() async throws -> Counts { try await report().totals }

    struct OtherApp {
        let app: AppID
        let key: KeyID
        let bearer: [String: String]
    }

    /// Adds an app with an app key.
    func addApp(_ settings: App.Settings) async throws -> OtherApp {
        let id = AppID(at: clock.now, random: .system)
        let made = TestKey(.app, of: id, at: clock.now)
        let other = App(id: id, settings: settings, createdAt: clock.now)
        try await loop.create(other, with: [made.key])
        return OtherApp(app: id, key: made.key.id, bearer: ["Authorization": "Bearer \(made.text)"])
    }

    func add(_ key: APIKey) async throws { try await loop.create(key) }

    func revoke(_ key: KeyID) async throws { try await loop.revoke(key, at: clock.now) }
}

/// A response, with its body as text and as JSON.
struct Answer: Sendable {
    let status: Int
    let body: [UInt8]
    let fieldLines: String

    var text: String { String(decoding: body, as: UTF8.self) }

    func field(_ name: String) -> String? {
        let lines = fieldLines.split(separator: "\n")
        return lines.first { $0.lowercased().hasPrefix(name.lowercased() + ": ") }
            .map { String($0.dropFirst(name.count + 2)) }
    }

    /// Whether the response is an error with this status, this code and, unless it is nil, this field.
    func isRefusal(_ status: Int, _ code: String, field: String? = nil) -> Bool {
        self.status == status && member("error_code") == code
            && (field == nil || member("field") == field)
    }

    private var object: [String: Any]? {
        try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    }

    /// Returns a text member of the JSON body.
    func member(_ name: String) -> String? { object?[name] as? String }

    /// Returns a number member of the JSON body.
    func number(_ name: String) -> Double? { object?[name] as? Double }

    /// Returns a member of the JSON body that is true or false.
    func flag(_ name: String) -> Bool? { object?[name] as? Bool }
}
