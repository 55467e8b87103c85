internal import Attribution
internal import HTTPServer

/// The state of one event loop, which all its requests share.
///
/// It is used only on the loop's thread.
final class LoopContext {
    let service: Service
    let stores: Stores
    let launches = LaunchClassifier()
    /// This loop's copy of ``MatchResponse/plainNoMatch``: loops that shared one array would contend for its reference
    /// count.
    let plainNoMatch = MatchResponse.plainNoMatch
    /// The limiters that all loops share, in an array of this loop: a shared array would cause the same contention.
    let rateLimiters: [RateLimiter?]
    private var keyring: Keyring
    /// This loop's copy of ``keyring``: a shared keyring would cause the same contention.
    private var keyringCopy: Keyring

    init(service: Service, stores: Stores) {
        self.service = service
        self.stores = stores
        rateLimiters = service.rateLimiters.map(\.self)
        keyring = service.keyring
        keyringCopy = Keyring(copying: service.keyring)
    }

    /// The current keys.
    var keys: Keyring {
        let latest = keyring.latest
        if latest !== keyring {
            keyring = latest
            keyringCopy = Keyring(copying: latest)
        }
        return keyringCopy
    }
}

/// One request on its way to its response, and everything that an endpoint uses for it.
struct Exchange {
    let request: Request
    let loop: LoopContext
    /// The id that the client sent, or a generated one; part of the response and of the log line.
    let requestID: String
    /// The time of the request, for clicks, windows and expiry.
    let now: Timestamp
    /// The part of the path that the route's `{name}` matched, still percent-encoded; nil for a route without `{name}`.
    let parameter: String?
    /// The client's address: the peer's, or the one that a trusted proxy reports.
    let address: NetworkAddress
    /// Apps and keys as they were when the request came, or at ``readDirectory()``; empty if the route needs none.
    ///
    /// If there is an ``onlyApp``, it contains no other apps.
    private(set) var directory: Directory
    /// The only app whose data the request may see; nil for all.
    private(set) var onlyApp: AppID?
    /// The author of the request's changes, for the audit log.
    private(set) var actor = AuditActor.session(nil)
    /// The request's valid key; nil if the route ignores keys, or if it needs none and the request has none.
    var key: APIKey?
    /// The app of the request; nil until it is known.
    var app: AppID?
    /// The outcome of a click, a check or a visit, as a word for the log line; nil for other calls.
    var outcome: String?

    var service: Service { loop.service }
    var stores: Stores { loop.stores }
    var keys: Keyring { loop.keys }

    /// Sets the author of the request's changes; if the key is a read key of one app, limits the request to that app.
    mutating func act(as actor: AuditActor, with key: APIKey?) {
        self.actor = actor
        guard let key, key.kind == .read, let app = key.app else { return }
        (onlyApp, directory) = (app, directory.limited(to: app))
    }

    /// Reads apps and keys again, after a store has refused a change of them.
    mutating func readDirectory() async throws(APIError) {
        let latest = try await store(stores.apps.directory())
        directory = onlyApp.map(latest.limited) ?? latest
    }

    /// Returns whether the request may see the data of an app.
    func maySee(_ app: AppID) -> Bool { onlyApp == nil || onlyApp == app }

    /// Calls a store, and turns its failure into the error that callers see.
    func store<Value>(
        _ call: @autoclosure () async throws(StoreError) -> Value
    ) async throws(APIError) -> Value {
        do throws(StoreError) {
            return try await call()
        } catch {
            throw APIError(error, requestID: requestID)
        }
    }

    /// The items of the query in their order, decoded.
    var queryItems: [QueryItem] { request.query.map { QueryItem.items(ofQuery: $0[...].utf8) } ?? [] }

    /// Returns the first item of the query by this name, decoded; nil without one.
    func queryItem(_ name: String) -> String? {
        request.query.flatMap { QueryItem.value(of: name, inQuery: $0) }
    }

    /// Returns the first item of the query by this name, decoded; nil if there is none, or it is empty.
    func sentQueryItem(_ name: String) -> String? { queryItem(name).flatMap { $0.isEmpty ? nil : $0 } }

    /// Reads the bytes of the query's only item by this name, decoded, without making a `String`; nil if there is none
    /// or more than one.
    func withOnlyQueryItem<Result>(_ name: String, _ read: (Span<UInt8>) -> Result) -> Result? {
        request.withQueryBytes { QueryItem.withOnlyValue(of: name, in: $0, read) } ?? nil
    }
}

extension Request {
    /// Returns the value of a header field that may have only one line; nil if it was not sent.
    ///
    /// Source: RFC 9110 §5.3, which forbids several lines of a field that is not a list.
    ///
    /// - Throws: 400 for several lines, because it is unknown which line a proxy has read.
    func onlyField(_ name: String) throws(APIError) -> String? {
        guard let value = field(name) else { return nil }
        guard withOnlyFieldBytes(name, { _ in true }) == true else {
            throw .invalidField(name, "was sent more than once; send one line of it")
        }
        return value
    }
}
