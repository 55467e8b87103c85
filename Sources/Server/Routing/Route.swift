internal import Attribution
internal import HTTPServer

/// One row of the list of routes.
///
/// A class, so that a request carries a reference to its row instead of a copy.
final class Route: Sendable {
    /// Who may call.
    enum Access: Sendable {
        case anyone
        /// No key is needed; one that is sent must be valid and of one of these kinds.
        case anyoneOrKey([KeyKind])
        case key([KeyKind])
    }

    typealias Endpoint = @Sendable (inout Exchange, LoopContext) async throws(APIError) -> Response

    let method: Method
    /// A literal path, or one with `{name}` for any single part or `{name...}` for any number of parts.
    ///
    /// A path of only `{name...}` is the fallback for GET and HEAD.
    let path: String
    /// The route's name in logs and metrics.
    let name: String
    let access: Access
    /// The limit of the address that requests count against; nil for none.
    let rateLimitClass: RateLimitClass?
    /// Whether pages of other origins may call it.
    let isCrossOrigin: Bool
    /// Whether a GET changes something, so that HEAD cannot stand for it.
    let consumes: Bool
    /// Whether the endpoint needs apps and keys.
    ///
    /// Other routes do not depend on the store: a process whose database cannot be read is alive.
    let needsDirectory: Bool
    /// The query parameters that the call takes, all others being refused; nil where unknown ones are ignored.
    let queryNames: [String]?
    let endpoint: Endpoint

    init(
        _ method: Method,
        _ path: String,
        _ access: Access,
        limitedAs rateLimitClass: RateLimitClass? = nil,
        crossOrigin: Bool = false,
        consumes: Bool = false,
        needsDirectory: Bool = false,
        query queryNames: [String]? = nil,
        _ endpoint: @escaping Endpoint
    ) {
        self.method = method
        self.path = path
        self.access = access
        self.rateLimitClass = rateLimitClass
        isCrossOrigin = crossOrigin
        self.consumes = consumes
        self.queryNames = queryNames
        self.endpoint = endpoint
        name = "\(method.rawValue) \(path)"
        self.needsDirectory = if case .anyone = access { needsDirectory || crossOrigin } else { true }
    }

    /// Creates a copy for one loop: loops that counted references to a shared row would contend for the count.
    convenience init(copying other: Route) {
        self.init(
            other.method,
            other.path,
            other.access,
            limitedAs: other.rateLimitClass,
            crossOrigin: other.isCrossOrigin,
            consumes: other.consumes,
            needsDirectory: other.needsDirectory,
            query: other.queryNames,
            other.endpoint
        )
    }
}

/// What an endpoint uses besides the request: the loop's stores and the state that all loops share.
///
/// A class, so that an endpoint gets one reference instead of all the parts. Touched on the loop's thread alone.
final class LoopContext {
    let service: Service
    let stores: Stores
    let launches = LaunchClassifier()
    /// ``MatchResponse/plainNoMatch`` in an array of the loop's own: loops that shared one would contend for its
    /// count.
    let plainNoMatch = MatchResponse.plainNoMatch
    private let loopKeys: LoopKeys

    init(service: Service, stores: Stores) {
        self.service = service
        self.stores = stores
        loopKeys = LoopKeys(service.keyring)
    }

    /// The current keys.
    var keys: Keyring { loopKeys.latest }
}
