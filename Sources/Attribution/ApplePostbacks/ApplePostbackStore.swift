/// A received postback as it is stored.
public struct StoredApplePostback: Equatable, Sendable {
    /// The position among all postbacks: milliseconds and a counter, as in a click's number; 0 before it is stored.
    public var number: Int64 = 0
    public let postback: ApplePostback
    public let verification: AppleVerification
    public let environment: AppleEnvironment
    /// Whether this is the first verified postback with its framework, network, identifier, sequence, outcome and
    /// environment.
    public var isCounted: Bool
    public let receivedAt: Timestamp
    /// The body as it was received.
    public let body: String

    public init(
        _ postback: ApplePostback,
        _ verification: AppleVerification,
        _ environment: AppleEnvironment,
        receivedAt: Timestamp,
        body: String
    ) {
        self.postback = postback
        (self.verification, self.environment) = (verification, environment)
        (self.receivedAt, self.body) = (receivedAt, body)
        isCounted = verification == .valid
    }
}

/// The outcome of storing a postback.
public enum ApplePostbackOutcome: String, Sendable {
    /// It is stored and counted.
    case counted
    /// It is stored but not counted: its signature is not valid, or another postback with its identifier was
    /// verified first.
    case stored
    /// The same body is stored already.
    case duplicate
}

/// A query for stored postbacks.
public struct ApplePostbackQuery: Equatable, Sendable {
    /// The ``ApplePostback/item`` of the advertised apps; nil for all.
    public var items: Set<String>?
    public var framework: ApplePostback.Framework?
    public var network: String?
    public var verification: AppleVerification?
    public var environment: AppleEnvironment?
    /// The start of the period, which is included; its end, ``to``, is not.
    public var from: Timestamp?
    public var to: Timestamp?
    /// Return only postbacks with a smaller ``StoredApplePostback/number``; nil for the first page.
    public var before: Int64?
    public var limit: Int

    /// The possible sizes of a page.
    public static let limits = 1...1000
    public static let standardLimit = 100

    public init(limit: Int = ApplePostbackQuery.standardLimit) { self.limit = limit }

    /// Returns whether a postback matches all conditions except ``from``, ``to`` and ``before``.
    public func matches(_ stored: StoredApplePostback) -> Bool {
        (items?.contains(stored.postback.item) ?? true) && matches(stored.verification, stored.environment)
            && matches(stored.postback.framework, stored.postback.network)
    }

    private func matches(_ verification: AppleVerification, _ environment: AppleEnvironment) -> Bool {
        (self.verification ?? verification) == verification
            && (self.environment ?? environment) == environment
    }

    private func matches(_ framework: ApplePostback.Framework, _ network: String) -> Bool {
        (self.framework ?? framework) == framework && (self.network ?? network) == network
    }
}

/// One page of the postbacks that match a query.
public struct ApplePostbackPage: Equatable, Sendable {
    /// The postbacks, newest first.
    public var postbacks: [StoredApplePostback]
    /// The ``ApplePostbackQuery/before`` of the next page; nil for the last one.
    ///
    /// A page may have fewer postbacks than its limit, or none, without being the last.
    public var next: Int64?

    public init(postbacks: [StoredApplePostback], next: Int64?) {
        (self.postbacks, self.next) = (postbacks, next)
    }
}

/// The number of stored postbacks that have the same values.
public struct ApplePostbackSum: Equatable, Sendable {
    /// The values that these postbacks share: framework, network, app, source, sequence, outcome and conversion value.
    ///
    /// The identifier is empty.
    public let postback: ApplePostback
    public let verification: AppleVerification
    public let environment: AppleEnvironment
    public let isCounted: Bool
    public let count: Int64

    public init(
        _ postback: ApplePostback,
        _ verification: AppleVerification,
        _ environment: AppleEnvironment,
        isCounted: Bool,
        count: Int64
    ) {
        self.postback = postback
        (self.verification, self.environment) = (verification, environment)
        (self.isCounted, self.count) = (isCounted, count)
    }
}

/// A request with a secret text to a shop's domain; if the text arrives, the domain leads to this service.
public struct AppleProbe: Equatable, Sendable {
    /// How a probe arrived.
    public enum Arrival: Int64, Sendable {
        case missing
        /// The body arrived with the bytes that were sent.
        case unchanged
        case changed
    }

    /// How long the service waits for the arrival of a probe.
    public static let milliseconds: Int64 = 600_000

    public let nonce: String
    /// The digest of the sent body.
    public let digest: KeyDigest
    public let expiresAt: Timestamp

    public init(nonce: String, digest: KeyDigest, expiresAt: Timestamp) {
        (self.nonce, self.digest, self.expiresAt) = (nonce, digest, expiresAt)
    }
}

/// The store of Apple's postbacks, and of the probes of the domains that receive them.
public protocol ApplePostbackStore {
    func store(_ postback: StoredApplePostback) async throws(StoreError) -> ApplePostbackOutcome
    func applePostbacks(_ query: ApplePostbackQuery) async throws(StoreError) -> ApplePostbackPage
    /// Counts the postbacks that were received from `start` up to, but not including, `end`: one sum for each set of
    /// equal values.
    func applePostbackSums(from start: Timestamp, to end: Timestamp) async throws(StoreError)
        -> [ApplePostbackSum]
    /// Stores a probe, and deletes expired ones.
    func start(_ probe: AppleProbe, at now: Timestamp) async throws(StoreError)
    /// Stores that a probe's body has arrived; does nothing for an unknown probe.
    func noteArrival(ofProbe nonce: String, _ digest: KeyDigest) async throws(StoreError)
    func arrival(ofProbe nonce: String) async throws(StoreError) -> AppleProbe.Arrival
}
