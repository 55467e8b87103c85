import Attribution
import Crypto
import HTTPServer
import Server
import Storage
import Support
import Synchronization
import TestDatabases

/// An event loop as the service needs it: one thread with its own handler and its own session of the store.
actor ServiceLoop {
    nonisolated let executor = LoopThread()
    private let service: Service
    private let database: any TestDatabase
    private let watch: ClickWatch
    nonisolated let reads = ReadCounts()
    // All of these are created on the loop's thread, when a request needs them.
    private lazy var session = database.openSession(on: executor)
    private lazy var counted = CountedReads(session, reads)
    private lazy var stores = Stores(
        session,
        clicks: WatchedClicks(session, watch),
        exports: counted,
        sessions: counted
    )
    private lazy var handler = service.makeHandler(stores)
    private lazy var dashboard = service.makeDashboardHandler(stores)
    private var last: Response?
    private var held: [Response] = []

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        // The actor owns its executor, so the unowned reference is valid while the actor exists.
        unsafe executor.asUnownedSerialExecutor()
    }

    init(_ service: Service, _ database: any TestDatabase, _ watch: ClickWatch) {
        (self.service, self.database, self.watch) = (service, database, watch)
    }

    func send(_ request: Request) async -> Answer {
        let response = await handler.respond(to: request)
        handler.loopTurnDidEnd()
        last = response
        return await Self.wholeAnswer(response)
    }

    func sendToDashboard(_ request: Request) async -> Answer {
        let response = await dashboard.respond(to: request)
        dashboard.loopTurnDidEnd()
        return await Self.wholeAnswer(response)
    }

    func create(_ link: SignInLink) async throws { try await session.create(link) }
    func reject(_ rejection: Rejection) -> Answer { Self.answer(handler.respond(to: rejection)) }
    func deliverLast(_ delivery: Delivery) { last?.onDelivery?(delivery) }
    func create(_ app: App, with keys: [APIKey]) async throws { try await session.create(app, with: keys) }
    func create(_ key: APIKey) async throws { try await session.create(key) }
    func revoke(_ key: KeyID, at now: Timestamp) async throws { try await session.revoke(key, at: now) }

    func report(_ query: StatisticsQuery, at now: Timestamp) async throws -> StatisticsReport {
        try await session.statistics(query, at: now)
    }

    /// Sends a request to the dashboard and does not end the stream of its response.
    func hold(_ request: Request) async { held.append(await dashboard.respond(to: request)) }

    /// Sends a request to the service and does not end the stream of its response.
    func holdOfService(_ request: Request) async { held.append(await handler.respond(to: request)) }

    /// Returns the next piece of a held stream.
    func nextPiece(ofHeld index: Int) async -> String {
        let piece = try? await held[index].stream?.next(atMost: 100_000)
        return String(decoding: piece ?? [], as: UTF8.self)
    }

    func endHeldStreams() {
        for response in held { response.stream?.end() }
        held = []
    }

    /// Returns a response with the whole body of its stream; of a stream of events, only the first piece.
    private static func wholeAnswer(_ response: Response) async -> Answer {
        var response = response
        if let stream = response.stream {
            let isEndless = response.contentType?.text.hasPrefix("text/event-stream") == true
            while let piece = try? await stream.next(atMost: 1000) {
                response.body += piece
                if isEndless { break }
            }
            stream.end()
        }
        return answer(response)
    }

    private static func answer(_ response: Response) -> Answer {
        var lines = response.fields.map { "\($0.name): \($0.value)" }
        if let type = response.contentType { lines.append("Content-Type: \(type.text)") }
        return Answer(
            status: response.status.code,
            body: response.body,
            fieldLines: lines.joined(separator: "\n")
        )
    }
}

/// A new API key and its text.
struct TestKey {
    let key: APIKey
    let text: String

    init(_ kind: KeyKind, of app: AppID?, at now: Timestamp) {
        let text = KeyText(kind: kind, random: .system)
        let id = KeyID(at: now, random: .system)
        key = APIKey(id: id, kind: kind, app: app, label: "", digest: text.digest, createdAt: now)
        self.text = text.text
    }
}

extension RandomSource {
    static let system = RandomSource { SystemRandom.bytes($0) }
}

/// A wall clock that changes only when a test moves it.
final class TestClock: Sendable {
    static let start = Timestamp(milliseconds: 1_790_000_000_000)

    private let milliseconds = Mutex<Int64>(TestClock.start.milliseconds)

    var now: Timestamp {
        get { Timestamp(milliseconds: milliseconds.withLock { $0 }) }
        set { milliseconds.withLock { $0 = newValue.milliseconds } }
    }

    var wallClock: WallClock { WallClock { self.now } }

    func advance(seconds: Int64) { milliseconds.withLock { $0 += seconds * 1000 } }
}

typealias Flag = Shared<Bool>

/// The facts that a machine reports about its disk and its certificate.
struct MachineFacts: Sendable {
    let freeBytes = Shared<Int64?>(nil)
    /// In seconds since 1970.
    let certificateExpiry = Shared<Int64?>(nil)
}

/// A value that a test sets and a service reads.
final class Shared<Value: Sendable>: Sendable {
    private let state: Mutex<Value>

    init(_ value: Value) { state = Mutex(value) }

    var value: Value {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}

final class LoggedBytes: Sendable {
    private let bytes = Mutex<[UInt8]>([])

    func append(_ more: [UInt8]) { bytes.withLock { $0 += more } }

    var text: String { String(decoding: bytes.withLock { $0 }, as: UTF8.self) }
}
