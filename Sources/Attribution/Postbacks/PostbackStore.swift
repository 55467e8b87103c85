/// The state of the delivery of one event to one endpoint.
public enum DeliveryState: Int64, CaseIterable, Sendable {
    case pending = 0
    case delivered = 1
    /// The last attempt has failed, and no further one follows unless an operator replays the delivery.
    case failed = 2

    /// The word on the wire.
    public var word: String { "\(self)" }

    public init?(word: String) {
        guard let state = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = state
    }
}

/// A delivery with its last attempt.
public struct PostbackDelivery: Equatable, Sendable {
    public let event: OutboxEvent
    /// The number of the delivery among the deliveries of its endpoint; 0 before the first attempt.
    public var sequence: Int64
    public var state: DeliveryState
    public var attempts: Int
    /// When the next attempt of a pending delivery is due.
    public var dueAt: Timestamp
    /// The time and the outcome of the last attempt; nil before the first.
    public var attemptedAt: Timestamp?
    public var answer: PostbackAnswer?

    public init(event: OutboxEvent, sequence: Int64, state: DeliveryState, attempts: Int, dueAt: Timestamp) {
        (self.event, self.sequence, self.state) = (event, sequence, state)
        (self.attempts, self.dueAt) = (attempts, dueAt)
    }
}

/// An endpoint, and the extent of its pending deliveries.
public struct EndpointStatus: Equatable, Sendable {
    public let endpoint: PostbackEndpoint
    /// The number of pending deliveries, at most ``maximumCounted``.
    public let pending: Int
    /// The time of the oldest pending event; nil without one.
    public let oldest: Timestamp?

    public static let maximumCounted = 100_000

    public init(endpoint: PostbackEndpoint, pending: Int, oldest: Timestamp?) {
        (self.endpoint, self.pending, self.oldest) = (endpoint, pending, oldest)
    }
}

/// A query for the deliveries of an endpoint, the newest events first.
public struct DeliveryQuery: Equatable, Sendable {
    public var endpoint: EndpointID
    public var state: DeliveryState?
    public var type: PostbackType?
    public var event: OutboxEventID?
    public var before: OutboxEventID?
    public var limit: Int

    public static let limits = 1...200
    public static let standardLimit = 50

    public init(_ endpoint: EndpointID, limit: Int = DeliveryQuery.standardLimit) {
        (self.endpoint, self.limit) = (endpoint, limit)
    }
}

public struct DeliveryPage: Equatable, Sendable {
    public var deliveries: [PostbackDelivery]
    /// The ``DeliveryQuery/before`` of the next page; nil for the last one.
    public var next: OutboxEventID?

    public init(_ deliveries: [PostbackDelivery], next: OutboxEventID?) {
        (self.deliveries, self.next) = (deliveries, next)
    }
}

/// The events to send to an endpoint again, under the same ids.
public struct PostbackReplay: Equatable, Sendable {
    public enum Mode: Sendable {
        /// Only events without a delivery to the endpoint, such as events from before the endpoint's creation.
        case missing
        /// Only events whose delivery was given up.
        case failed
        /// All events that match the conditions, including delivered ones.
        case all
    }
    public var mode = Mode.failed
    /// The only event to send again, regardless of its time, its type and the ``mode``; nil for all that match.
    public var event: OutboxEventID?
    /// The start of the period, which is included; its end, ``until``, is not.
    public var since: Timestamp?
    public var until: Timestamp?
    /// Only these types; nil for the types that the endpoint receives.
    public var types: Set<PostbackType>?

    public init(_ mode: Mode = .failed) { self.mode = mode }
}

/// A change of an endpoint.
public enum EndpointChange: Equatable, Sendable {
    case set(PostbackEndpoint.State, reason: String)
    /// Replaces the encrypted secret; the previous one also signs until `overlapUntil`.
    case rotate(secret: [UInt8], overlapUntil: Timestamp)
}

/// The store of endpoints, events and deliveries.
public protocol PostbackStore {
    func endpoints() async throws(StoreError) -> [EndpointStatus]
    func create(_ endpoint: PostbackEndpoint, by actor: AuditActor) async throws(StoreError)
    /// - Throws: `notFound` for an unknown endpoint.
    func change(_ endpoint: EndpointID, _ change: EndpointChange, by actor: AuditActor)
        async throws(StoreError)
    /// Stores an event with invented values for only one endpoint; returns the event's id.
    func sendSample(_ type: PostbackType, to endpoint: EndpointID, by actor: AuditActor)
        async throws(StoreError) -> OutboxEventID
    /// Makes deliveries pending, again or for the first time, and returns their number.
    func replay(_ replay: PostbackReplay, to endpoint: EndpointID, by actor: AuditActor)
        async throws(StoreError) -> Int
    func deliveries(_ query: DeliveryQuery) async throws(StoreError) -> DeliveryPage
    /// Stores an event about a fact that no table contains, such as a changed domain file.
    func publish(_ type: PostbackType, of app: AppID, data: String) async throws(StoreError)
}

extension PostbackStore {
    /// Stores an endpoint, with deliveries of the stored events since a time.
    public func create(_ endpoint: PostbackEndpoint, since: Timestamp?, by actor: AuditActor)
        async throws(StoreError)
    {
        try await create(endpoint, by: actor)
        guard let since else { return }
        var history = PostbackReplay(.missing)
        history.since = since
        _ = try await replay(history, to: endpoint.id, by: actor)
    }
}
