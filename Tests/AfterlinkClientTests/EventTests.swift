import AfterlinkClient
@testable import AfterlinkCore
import Foundation
import Support
import Synchronization
import Testing

@Suite("Events of the client", .blocking)
struct EventTests {
    private static func afterlink(_ server: String, _ folder: TemporaryFolder) throws -> Afterlink {
        var options = Options()
        options.folder = folder.url
        return Afterlink(server: try #require(URL(string: server)), appKey: "app_x", options: options) {
            Signals()
        }
    }

    /// Returns the server's answer that accepts each event of a request.
    private static func accepted(_ request: HostileServer.Request) -> HostileServer.Part {
        let results = ids(request).map { #"{"event_id":"\#($0)","outcome":"accepted"}"# }.joined(
            separator: ","
        )
        return HostileServer.response("202 Accepted", #"{"status":"accepted","results":[\#(results)]}"#)
    }

    private static func ids(_ request: HostileServer.Request) -> [String] {
        (request.json["events"] as? [[String: Any]] ?? []).compactMap { $0["event_id"] as? String }
    }

    @Test("arrive once, in order, in batches of at most 20")
    func order() async throws {
        let server = try HostileServer { request, _ in [Self.accepted(request)] }
        let folder = try TemporaryFolder()
        let afterlink = try Self.afterlink(server.url, folder)
        await afterlink.track(Event("step", id: "e0"))
        for number in 0..<45 { await afterlink.track(Event("step", id: "e\(number)")) }
        #expect(await afterlink.flush())
        let batches = server.requests.filter { $0.path == "/v1/events" }.map(Self.ids)
        #expect(batches.flatMap { $0 } == (0..<45).map { "e\($0)" })
        #expect(batches.allSatisfy { $0.count <= 20 })
        let installs = Set(
            server.requests.flatMap { $0.json["events"] as? [[String: Any]] ?? [] }.compactMap {
                $0["install_id"] as? String
            }
        )
        #expect(installs.count == 1)
        #expect(await afterlink.flush())
        #expect(server.requests.count == batches.count)
        #expect(server.requests.allSatisfy { $0.head.contains("Authorization: Bearer app_x") })
    }

    @Test("have the members of the documented call")
    func members() async throws {
        let server = try HostileServer { request, _ in [Self.accepted(request)] }
        let folder = try TemporaryFolder()
        let afterlink = try Self.afterlink(server.url, folder)
        await afterlink.track(.purchase("9.99", "EUR", id: "t1"))
        await afterlink.track(.refund("-9.99", "EUR", of: "t1", id: "r1"))
        await afterlink.track(.open)
        #expect(await afterlink.flush())
        let events = server.requests.flatMap { $0.json["events"] as? [[String: Any]] ?? [] }
        #expect(events.compactMap { $0["name"] as? String } == ["purchase", "refund", "open"])
        #expect(events.first?["amount"] as? String == "9.99")
        #expect(events.first?["currency"] as? String == "EUR")
        #expect(events.dropFirst().first?["purchase_id"] as? String == "t1")
        let time = try #require(events.first?["occurred_at"] as? String)
        #expect(time.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)
    }

    @Test("wait on disk while the network is bad, and one bad event does not stop the others")
    func faults() async throws {
        let server = try HostileServer { request, number in
            switch number {
            case 0: [HostileServer.response("200 OK", "<html>Sign in</html>")]
            case 1: [HostileServer.response("503 Busy", "{}", headers: ["Retry-After: 900"])]
            default:
                Self.ids(request).contains("e3")
                    ? [HostileServer.response("400 Bad", #"{"status":"error","error_code":"INVALID_JSON"}"#)]
                    : [Self.accepted(request)]
            }
        }
        let folder = try TemporaryFolder()
        do {
            let afterlink = try Self.afterlink(server.url, folder)
            for number in 0..<6 { await afterlink.track(Event("step", id: "e\(number)")) }
            #expect(await !afterlink.flush())
            #expect(await !afterlink.flush())
        }
        let next = try Self.afterlink(server.url, folder)
        #expect(await next.flush())
        var arrived: [String] = []
        for request in server.requests.dropFirst(2) where !Self.ids(request).contains("e3") {
            arrived += Self.ids(request)
        }
        #expect(arrived == ["e0", "e1", "e2", "e4", "e5"])
    }

    @Test("of an earlier session are sent after the next first launch", arguments: ClientKind.available)
    func earlier(kind: ClientKind) throws {
        let server = try HostileServer { request, _ in
            request.path == "/v1/events"
                ? [Self.accepted(request)] : [HostileServer.response("200 OK", #"{"status":"no_match"}"#)]
        }
        let app = try ClientApp(kind, server: server.url)
        _ = try app.launch("first=no", "events=a,b")
        let next = try app.start("within=20", "late=120")
        #expect(next.line(containing: "none") != nil)
        #expect(Polling.until { server.requests.flatMap(Self.ids) == ["id-a", "id-b"] })
    }

    @Test("survive a kill at any step, in order", arguments: ClientKind.available)
    func kills(kind: ClientKind) throws {
        let server = try HostileServer { request, _ in [Self.accepted(request)] }
        for step in stride(from: 2, through: isLong ? 24 : 14, by: isLong ? 1 : 6) {
            let app = try ClientApp(kind, server: server.url)
            _ = try app.launch("first=no", "events=a,b,c", "flush", "die=\(step)")
            let count = server.requests.count
            let last = try app.launch("first=no", "events=a,b,c,d", "flush")
            #expect(last.lines.contains("flushed true"), "\(last.lines) \(last.errors)")
            // A real server drops repetitions by the identifier. The last event must also arrive last.
            #expect(server.requests[count...].flatMap(Self.ids).last == "id-d")
        }
    }

    @Test(
        "are not stored beyond 6 KiB or with a wrong number, and the others stay",
        arguments: ClientKind.available
    )
    func refused(kind: ClientKind) throws {
        let server = try HostileServer { request, _ in [Self.accepted(request)] }
        let app = try ClientApp(kind, server: server.url)
        let launch = try app.launch("log", "first=no", "events=a,large,infinite,b", "flush")
        #expect(launch.lines.contains("flushed true"), "\(launch)")
        #expect(launch.lines.count { $0.contains("An event was not stored") } == 2, "\(launch.lines)")
        #expect(server.requests.flatMap(Self.ids) == ["id-a", "id-b"])
    }

    @Test("are at most 500, and the oldest make room")
    func limit() throws {
        var queue = EventQueue(nil)
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        for number in 0..<600 {
            _ = queue.add(StoredEvent(Event("e", id: "\(number)"), installID: "i", at: now), at: now)
        }
        #expect(queue.lines.count <= EventQueue.maximumCount)
        #expect(queue.file.count <= EventQueue.maximumByteCount)
        #expect(queue.lines.last?.event.id == "599")
        let whole = queue.file
        // A line that was cut by a crash is left out, and the next write replaces the file.
        var cut = EventQueue(whole.dropLast(10))
        #expect(cut.lines.count == queue.lines.count - 1)
        #expect(cut.add(StoredEvent(Event("e", id: "new"), installID: "i", at: now), at: now) == nil)
        let old = cut.trim(at: now.addingTimeInterval(EventQueue.maximumAge + 1))
        #expect(old && cut.lines.isEmpty)
    }

    @Test("are sent later if another process sends at the moment")
    func sentLater() async throws {
        let server = FakeServer(.noMatch)
        let folder = try TemporaryFolder()
        var options = Options()
        options.folder = folder.url
        let clock = QuickClock()
        let afterlink = Afterlink.test(server: server, options: options, clock: clock)
        // The other process has read an empty file, and still has the lock.
        var lock = try StateFolder(url: folder.url, willTakeStep: { _ in }).lock("events.lock")
        #expect(lock != nil)
        await afterlink.track(.open)
        // The library sends a second after the event, and pauses longer after that has failed.
        #expect(await Polling.eventually { clock.pauses.withLock { $0.contains { $0 > 1 } } })
        #expect(await server.eventNames.isEmpty)
        lock = nil
        // This waits for the file's deletion, which follows the server's answer.
        let file = folder.file(EventQueue.fileName)
        #expect(await Polling.eventually { !FileManager.default.fileExists(atPath: file) })
        #expect(await server.eventNames == ["open"])
        withExtendedLifetime(afterlink) {}
    }

    @Test("are written again after pauses that grow, while the disk refuses them")
    func refusedByDisk() async throws {
        let folder = try TemporaryFolder()
        // The file of events is a link into a folder that does not exist, so it can be neither read nor made.
        try FileManager.default.createSymbolicLink(
            atPath: folder.file(EventQueue.fileName),
            withDestinationPath: folder.file("missing/events")
        )
        var options = Options()
        options.folder = folder.url
        var configuration = Configuration(
            server: folder.url,
            appKey: "app_x",
            options: options,
            transport: NoTransport()
        )
        let clock = QuickClock()
        configuration.clock = clock
        let afterlink = Afterlink(configuration)
        await afterlink.track(.open)
        #expect(await Polling.eventually { clock.pauses.withLock { $0.count > 3 } })
        let pauses = clock.pauses.withLock { $0 }
        try #require(pauses.count > 3)
        // A second after the event, and then after each failure.
        #expect(pauses[0] == 1 && pauses[3] > 10)
        withExtendedLifetime((afterlink, folder)) {}
    }

    @Test("are deleted by an opt-out that could not get the lock of the state at first")
    func deletedLater() async throws {
        let server = FakeServer(.noMatch)
        let folder = try TemporaryFolder()
        var options = Options()
        options.folder = folder.url
        let afterlink = Afterlink.test(server: server, options: options)
        await afterlink.track(.signUp)
        let file = folder.file(EventQueue.fileName)
        #expect(FileManager.default.fileExists(atPath: file))
        var lock = try StateFolder(url: folder.url, willTakeStep: { _ in }).lock("state.lock")
        #expect(lock != nil)
        await afterlink.optOut()
        lock = nil
        #expect(await Polling.eventually { !FileManager.default.fileExists(atPath: file) })
        await afterlink.optIn()
        await afterlink.track(.open)
        #expect(await afterlink.flush())
        #expect(await server.eventNames == ["open"])
    }

    @Test("are neither sent nor kept after the person has opted out; `forget()` asks the server to erase")
    func privacy() async throws {
        let server = FakeServer(.noMatch)
        let folder = try TemporaryFolder()
        var options = Options()
        options.folder = folder.url
        let afterlink = Afterlink.test(server: server, options: options)
        await afterlink.track(.signUp)
        #expect(await afterlink.flush())
        #expect(await server.eventNames == ["sign_up"])
        let id = try #require(await afterlink.installID)
        await afterlink.optOut()
        await afterlink.track(.open)
        #expect(await afterlink.firstLaunch() == .settled)
        _ = await afterlink.flush()
        #expect(await server.launchCount == 0)
        await afterlink.optIn()
        #expect(await afterlink.firstLaunch() == .none)
        #expect(await afterlink.forget())
        #expect(await server.eraseCount == 1)
        #expect(await server.eventNames == ["sign_up"])
        #expect(await afterlink.installID == nil)
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        for file in files {
            #expect(!(try String(contentsOfFile: folder.file(file), encoding: .utf8)).contains(id), "\(file)")
        }
    }
}

/// A transport without a network.
private struct NoTransport: Transport {
    func send(_ request: ClientRequest) async throws -> ClientResponse { throw DiskFailure.busy }
}

/// A clock whose pauses last a millisecond.
private final class QuickClock: ClientClock {
    let pauses = Mutex<[Double]>([])

    var now: Date { Date() }

    func sleep(seconds: Double) async throws {
        pauses.withLock { $0.append(seconds) }
        try await Task.sleep(for: .milliseconds(1))
    }
}
