#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A server in memory, for tests of apps.
///
/// It returns the responses that a test chooses, and counts the app's requests.
public actor FakeServer {
    /// The response to a first launch.
    public enum Answer: Sendable {
        /// A match; the app gets this link.
        ///
        /// If the app sent a token, a guaranteed link without a method gets `signed_token`, as from a real server.
        case match(Link)
        case campaign(String)
        case noMatch
        /// No connection.
        case unreachable
        /// The server is busy, and requests a pause in seconds.
        case busy(retryAfter: Int)
        /// No response within the time of a test.
        case silent
        /// The page of a network that wants the person to sign in.
        case portal
    }

    private var answers: [Answer]
    /// The number of requests of first launches.
    public private(set) var launchCount = 0
    /// The number of requests to erase.
    public private(set) var eraseCount = 0
    /// The names of the events that arrived, in order.
    public private(set) var eventNames: [String] = []
    private var eventIDs: Set<String> = []

    /// - Parameter answers: the responses to first launches, in order; the last one is repeated.
    public init(_ answers: Answer...) { self.answers = answers.isEmpty ? [.noMatch] : answers }

    /// Replaces the responses to the next requests.
    public func answer(_ answers: Answer...) { if !answers.isEmpty { self.answers = answers } }

    fileprivate func respond(to request: ClientRequest) async throws -> ClientResponse {
        switch request.url.path {
        case "/" + Wire.events: return try acceptEvents(request.body)
        case "/" + Wire.erase:
            eraseCount += 1
            return ClientResponse(status: 200, body: Data("{}".utf8))
        default:
            struct Launch: Decodable { let token: String? }
            launchCount += 1
            let hasToken = try JSONDecoder().decode(Launch.self, from: request.body).token != nil
            return try await respond(answers.count > 1 ? answers.removeFirst() : answers[0], hasToken)
        }
    }

    private func respond(_ answer: Answer, _ hasToken: Bool) async throws -> ClientResponse {
        switch answer {
        case .match(let link): return try Self.response(Self.body(of: link, hasToken))
        case .campaign(let key):
            return try Self.response([
                "status": "match", "campaignOnly": .bool(true), "campaignKey": .string(key),
                "url": "app://home/page",
            ])
        case .noMatch: return try Self.response(["status": "no_match"])
        case .unreachable: throw TransportFailure.unreachable
        case .busy(let seconds): return ClientResponse(status: 503, retryAfter: String(seconds))
        case .silent:
            try await Task.sleep(nanoseconds: 3_600_000_000_000)
            throw TransportFailure.timeout
        case .portal:
            return ClientResponse(
                status: 200,
                body: Data("<html><body>Sign in to use this network</body></html>".utf8)
            )
        }
    }

    private static func body(of link: Link, _ hasToken: Bool) -> [String: JSONValue] {
        var body: [String: JSONValue] = [
            "status": "match", "url": .string(link.url.absoluteString),
            "confidence": .number(link.confidence),
            "guaranteed": .bool(link.isGuaranteed), "metadata": .object(link.metadata),
        ]
        let method = link.method ?? (hasToken && link.isGuaranteed ? "signed_token" : nil)
        if let method { body["attributionMethod"] = .string(method) }
        if let campaign = link.campaign { body["campaignKey"] = .string(campaign) }
        if let journey = link.journey { body["jid"] = .string(journey) }
        if let clickID = link.clickID { body["click_id"] = .string(clickID) }
        if let time = link.clickedAt { body["clickTimestamp"] = .string(EventTime.text(time)) }
        return body
    }

    private func acceptEvents(_ body: Data) throws -> ClientResponse {
        struct Batch: Decodable { let events: [StoredEvent] }
        var results: [JSONValue] = []
        for event in try JSONDecoder().decode(Batch.self, from: body).events {
            let isNew = eventIDs.insert(event.id).inserted
            if isNew { eventNames.append(event.name) }
            results.append(
                .object(["event_id": .string(event.id), "outcome": isNew ? "accepted" : "duplicate"])
            )
        }
        return try Self.response(["status": "accepted", "results": .array(results)], status: 202)
    }

    private static func response(_ body: [String: JSONValue], status: Int = 200) throws -> ClientResponse {
        ClientResponse(status: status, body: try JSONEncoder().encode(body))
    }
}

private struct FakeTransport: Transport {
    let server: FakeServer

    func send(_ request: ClientRequest) async throws -> ClientResponse {
        try await server.respond(to: request)
    }
}

extension Afterlink {
    /// Creates the connection of a new installation for tests of an app, without network.
    ///
    /// - Parameter link: the link that the first launch gets; nil for no match.
    /// - Returns: the connection.
    public static func test(matching link: Link?) -> Afterlink {
        test(server: FakeServer(link.map { .match($0) } ?? .noMatch))
    }

    /// Creates a connection for tests of an app, to a server in memory.
    ///
    /// - Parameters:
    ///   - server: the server.
    ///   - options: the app's choices; without a folder, the connection has a new one in the system's temporary folder.
    /// - Returns: the connection.
    public static func test(server: FakeServer, options: Options = Options()) -> Afterlink {
        test(server: server, options: options, clock: SystemClock())
    }

    /// Creates a connection as ``test(server:options:)`` does; `clock` decides how long its pauses last.
    package static func test(
        server: FakeServer,
        options: Options = Options(),
        clock: any ClientClock
    ) -> Afterlink {
        var options = options
        options.folder =
            options.folder
            ?? FileManager.default.temporaryDirectory.appendingPathComponent("afterlink-\(RandomID.make())")
        var configuration = Configuration(
            server: URL(fileURLWithPath: "/"),
            appKey: "test_fake",
            options: options,
            transport: FakeTransport(server: server)
        )
        configuration.clock = clock
        return Afterlink(configuration)
    }
}
