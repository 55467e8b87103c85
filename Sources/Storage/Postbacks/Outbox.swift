public import Attribution
internal import Threads

/// The reads of endpoints and events that the writing thread needs too.
public protocol EndpointRows {
    associatedtype Failure: Error

    func endpointRecords() throws(Failure) -> [EndpointRecord]
    /// Returns the numbers of the apps whose responses contain click ids.
    func appsWithClickIDs() throws(Failure) -> [Int64]
    /// Returns the numbers of the apps with an App Store id.
    func apps(ofAppleItem item: String) throws(Failure) -> [Int64]
    /// Returns the identifiers and types of a range's events, in their order.
    func outboxEvents(_ range: OutboxRange) throws(Failure) -> [(id: OutboxEventID, type: String)]
}

/// A range of a scope's events in the outbox.
public struct OutboxRange: Sendable {
    public let scope: Int64
    /// The event after which the range starts.
    public let after: OutboxEventID
    /// The first half of the identifier before which the range ends.
    public let before: UInt64
    /// The maximum number of events.
    public let limit: Int
    /// Whether the range contains sample events.
    public let samples: Bool
}

/// The statements of endpoints, events and deliveries.
public protocol PostbackWriter: ClickWriter {
    func insert(_ endpoint: EndpointRecord) throws(Failure)
    /// Locks an endpoint until the end of the transaction; called before the transaction reads and changes
    /// the endpoint.
    func lockEndpoint(numbered number: Int64) throws(Failure)
    /// Stores state, reason, secrets and header fields of an endpoint.
    func update(_ endpoint: EndpointRecord) throws(Failure)
    /// Stores an endpoint's last sequence number, unless a higher one is stored, and its failures.
    func setProgress(of endpoint: EndpointRecord) throws(Failure)
    func insert(_ event: OutboxRecord) throws(Failure)
    func insert(_ delivery: DeliveryRecord) throws(Failure)
    /// Stores the numbers, states and outcomes of deliveries.
    func update(_ deliveries: [DeliveryRecord]) throws(Failure)
    /// Makes deliveries of events to an endpoint due: adds missing deliveries, sets existing deliveries to
    /// pending, or does both.
    ///
    /// The mode decides which. `at` is the time at which the deliveries are due. The function returns how
    /// many it has added or set.
    func replay(_ events: [OutboxEventID], _ mode: PostbackReplay.Mode, to endpoint: Int64, at: Timestamp)
        throws(Failure) -> Int
    /// Deletes an endpoint's deliveries of events from before a time; returns their number.
    func removeDeliveries(to endpoint: Int64, before high: UInt64, atMost limit: Int) throws(Failure) -> Int
    /// Deletes a scope's events from before a time; returns their number.
    func removeOutboxEvents(of scope: Int64, before high: UInt64, atMost limit: Int) throws(Failure) -> Int
    /// Deletes the events of one millisecond that have this ``OutboxRecord/subject``, and their deliveries.
    func removeOutboxEvents(about subject: Int64, in scope: Int64, from high: UInt64) throws(Failure)
}

extension PostbackWriter {
    /// Does nothing: in a database with one writer at a time, nothing that a transaction has read can change.
    public func lockEndpoint(numbered number: Int64) {}
}

/// The endpoints that get events, as the writing thread last read them.
struct PostbackTargets {
    struct Target {
        let endpoint: Int64
        let types: Set<PostbackType>
    }
    /// The endpoints that are not disabled, by scope; the list of a scope is empty if all its endpoints are disabled.
    private(set) var scopes: [Int64: [Target]] = [:]
    private(set) var appsWithClickIDs: Set<Int64> = []
    /// When the endpoints were read, in nanoseconds of the monotonic clock.
    let readAt: UInt64

    /// How long a change by another process may go unnoticed, in nanoseconds.
    static let lifetime: UInt64 = 250_000_000

    init(_ endpoints: [EndpointRecord], appsWithClickIDs: [Int64], at moment: UInt64) {
        for record in endpoints {
            scopes[record.scope, default: []] +=
                record.endpoint.state == .disabled
                ? [] : [Target(endpoint: record.number, types: record.endpoint.types)]
        }
        self.appsWithClickIDs = Set(appsWithClickIDs)
        readAt = moment
    }
}

/// Writes events in the transactions of their facts.
extension WriteTransaction {
    /// Whether the next fact reads the endpoints.
    public var readsTargets: Bool {
        guard let known = memory.targets else { return true }
        return MonotonicTime.now().nanoseconds >= known.readAt + PostbackTargets.lifetime
    }

    /// Keeps the endpoints that the open transaction has read, so that the next fact does not read them.
    public func setTargets(_ endpoints: [EndpointRecord], appsWithClickIDs: [Int64]) {
        let now = MonotonicTime.now().nanoseconds
        memory.targets = PostbackTargets(endpoints, appsWithClickIDs: appsWithClickIDs, at: now)
    }

    private func targets() throws(Failure) -> PostbackTargets {
        if readsTargets {
            let endpoints = try reader.endpointRecords()
            // Without an endpoint, nothing else is read.
            let apps = endpoints.isEmpty ? [] : try reader.appsWithClickIDs()
            setTargets(endpoints, appsWithClickIDs: apps)
        }
        return memory.targets ?? PostbackTargets([], appsWithClickIDs: [], at: 0)
    }

    /// Stores an event, and a delivery to each endpoint that wants the event's type, if the scope has an endpoint.
    ///
    /// An event whose type is opt-in is stored only if an endpoint wants it.
    ///
    /// - Parameters:
    ///   - scope: the scope of the fact.
    ///   - at: the time of the fact, which the identifier contains.
    ///   - subject: the ``OutboxRecord/subject``.
    ///   - fact: called only if the scope has an endpoint; the flag is whether the app permits sending click ids.
    /// - Throws: if a statement fails.
    func publish(
        _ scope: Scope,
        at: Timestamp,
        about subject: Int64? = nil,
        _ fact: (_ withClickIDs: Bool) -> PostbackFact
    )
        throws(Failure)
    {
        let targets = try targets()
        guard let all = targets.scopes[scope.number] else { return }
        let fact = fact(targets.appsWithClickIDs.contains(scope.number >> 1))
        let wanting = all.filter { $0.types.contains(fact.type) }
        guard !fact.type.isOptIn || !wanting.isEmpty else { return }
        let event = OutboxEvent(id: makeEventID(at: at), type: fact.type.rawValue, data: fact.data)
        try writer.insert(OutboxRecord(event, scope: scope.number, subject: subject))
        for target in wanting { try writer.insert(DeliveryRecord(event.id, to: target.endpoint, dueAt: at)) }
        memory.values.hasPostbacks = true
    }

    /// Returns whether events of a scope are stored with the click ids of ad networks.
    func publishesClickIDs(of scope: Scope) throws(Failure) -> Bool {
        let targets = try targets()
        return targets.scopes[scope.number] != nil && targets.appsWithClickIDs.contains(scope.number >> 1)
    }

    /// Stores the event of a postback of Apple (one with ``StoredApplePostback/isCounted``) for the apps with its App
    /// Store id.
    ///
    /// A postback that is signed for development is test traffic, because any device in developer mode can make one.
    func publish(_ stored: StoredApplePostback) throws(Failure) {
        guard stored.postback.framework != .appleAds, try !targets().scopes.isEmpty else { return }
        for app in try reader.apps(ofAppleItem: stored.postback.item) {
            let scope = Scope(app: app, isTest: stored.environment == .development)
            try publish(scope, at: stored.receivedAt) { _ in .apple(stored) }
        }
    }

    private func makeEventID(at time: Timestamp) -> OutboxEventID {
        let first = UInt64(RowIdentifier.first(at: time))
        let random = state.configuration.random
        return OutboxEventID(high: first | random() & 0xffff, low: random())
    }

    /// Stores the events of a change of links; `before` is the link before the change.
    func publish(_ change: LinkChange, before: Link?) throws(Failure) {
        var facts: [(PostbackType, Link)] = []
        switch change {
        case .create(let links): facts = links.map { (.linkCreated, $0.link) }
        case .update(let link, _):
            let isArchived = link.archivedAt != nil && before?.archivedAt == nil
            facts = [(isArchived ? .linkArchived : .linkUpdated, link)]
        case .delete: facts = before.map { [(.linkDeleted, $0)] } ?? []
        }
        let now = state.configuration.clock.now()
        for (type, link) in facts {
            guard let scope = try scope(of: link.app, isTest: false) else { continue }
            try publish(scope, at: now) { _ in .link(type, link) }
        }
    }

    /// Deletes the events of the outbox that are about a click or its claim.
    func removePostbacks(of click: ClickRecord, _ claim: ClaimRecord?) throws(Failure) {
        for time in [claim?.claimedAt, click.facts.recordedAt].compactMap(\.self) {
            try removePostbacks(about: click.number, click.scope, at: time)
        }
    }

    /// Deletes the events of the outbox that are about a match, or about its click.
    func removePostbacks(of match: AttributedInstall) throws(Failure) {
        for time in [match.attribution.matchedAt, RowIdentifier.time(of: match.number)] {
            try removePostbacks(about: match.number, match.scope, at: time)
        }
    }

    /// Deletes the events of the outbox that are about a scope's app events; a scope without an endpoint has none.
    func removePostbacks(of events: [EventRecord], in scope: Scope) throws(Failure) {
        guard try targets().scopes[scope.number] != nil else { return }
        for event in events { try removePostbacks(of: event) }
    }

    /// Deletes the event of the outbox that is about an app's event.
    func removePostbacks(of event: EventRecord) throws(Failure) {
        try removePostbacks(about: OutboxRecord.subject(of: event), event.scope, at: event.receivedAt)
    }

    private func removePostbacks(about subject: Int64, _ scope: Scope, at time: Timestamp) throws(Failure) {
        let first = UInt64(RowIdentifier.first(at: time))
        try writer.removeOutboxEvents(about: subject, in: scope.number, from: first)
    }
}

/// A change of endpoints, or of what is sent to them.
public enum PostbackChange: Sendable {
    case create(PostbackEndpoint)
    case change(EndpointID, EndpointChange)
    /// The result is ``Written/published(_:)``.
    case sample(PostbackType, EndpointID)
    /// Repeats a part of the events, starting after an event; the result is ``Written/replayed(count:upTo:)``.
    case replay(PostbackReplay, EndpointID, after: OutboxEventID?)
    case publish(PostbackType, AppID, data: String)
}

extension WriteTransaction {
    /// The number of events that one part of a replay takes.
    private static var replayedAtOnce: Int { 1000 }

    func perform(_ change: PostbackChange, by actor: AuditActor) throws(Failure) -> Written {
        let now = state.configuration.clock.now()
        switch change {
        case .publish(let type, let app, let data):
            guard let scope = try scope(of: app, isTest: false) else { return .done }
            try publish(scope, at: now) { _ in .other(type, json: data) }
        case .create(let endpoint):
            guard let scope = try scope(of: endpoint.app, isTest: endpoint.isTest) else {
                return .refused(StoreError(.notFound, "the endpoint's app does not exist"))
            }
            try writer.insert(EndpointRecord(endpoint, scope: scope.number))
            memory.targets = nil
            let id = endpoint.id.text
            try note(
                AuditedChange(.createEndpoint, app: endpoint.app, of: id, to: endpoint.auditFields),
                by: actor
            )
        case .change(let id, let change):
            guard var record = try lockedEndpoint(id) else { return .refused(.noEndpoint) }
            let before = record.endpoint
            record.endpoint.apply(change)
            try writer.update(record)
            if before.state != record.endpoint.state, record.endpoint.state == .enabled {
                // The failures from before an operator enabled the endpoint must not slow its next calls.
                record.endpoint.circuit = PostbackCircuit()
                try writer.setProgress(of: record)
            }
            memory.targets = nil
            memory.values.hasPostbacks = true
            var action = AuditAction.changeEndpoint
            if case .rotate = change { action = .rotateEndpoint }
            let fields = (before.auditFields, record.endpoint.auditFields)
            let entry = AuditedChange(action, app: before.app, of: id.text, from: fields.0, to: fields.1)
            try note(entry, by: actor)
        case .sample(let type, let id):
            guard let record = try endpoint(id) else { return .refused(.noEndpoint) }
            let event = OutboxEvent(
                id: makeEventID(at: now),
                type: type.rawValue,
                data: PostbackSample.data(type, at: now)
            )
            try writer.insert(OutboxRecord(event, scope: record.scope, subject: OutboxRecord.sample))
            try writer.insert(DeliveryRecord(event.id, to: record.number, dueAt: now))
            memory.values.hasPostbacks = true
            return .published(event.id)
        case .replay(let replay, let id, let after):
            guard let record = try endpoint(id) else { return .refused(.noEndpoint) }
            if after == nil {
                try note(AuditedChange(.replayEvents, app: record.endpoint.app, of: id.text), by: actor)
            }
            return try self.replay(replay, to: record, after: after, at: now)
        }
        return .done
    }

    /// Returns an endpoint that no other process changes before the end of the transaction; nil if there is none.
    func lockedEndpoint(_ id: EndpointID) throws(Failure) -> EndpointRecord? {
        try writer.lockEndpoint(numbered: Int64(bitPattern: id.low))
        return try endpoint(id)
    }

    private func endpoint(_ id: EndpointID) throws(Failure) -> EndpointRecord? {
        try reader.endpointRecords().first { $0.endpoint.id == id }
    }

    private func replay(
        _ replay: PostbackReplay,
        to record: EndpointRecord,
        after: OutboxEventID?,
        at now: Timestamp
    ) throws(Failure) -> Written {
        memory.values.hasPostbacks = true
        if let event = replay.event {
            let found = try reader.outboxEvents(
                OutboxRange(
                    scope: record.scope,
                    after: OutboxEventID(high: event.high, low: event.low &- 1),
                    // An invented id may have the largest first half, which no stored event has; the addition then wraps.
                    before: event.high &+ 1,
                    limit: 1,
                    samples: true
                )
            )
            guard found.first?.id == event else { return .replayed(count: 0, upTo: nil) }
            let count = try writer.replay([event], .all, to: record.number, at: now)
            return .replayed(count: count, upTo: nil)
        }
        let first = replay.since.map { UInt64(RowIdentifier.first(at: $0)) } ?? 0
        let end = replay.until.map { UInt64(RowIdentifier.first(at: $0)) } ?? UInt64(Int64.max)
        let found = try reader.outboxEvents(
            OutboxRange(
                scope: record.scope,
                after: after ?? OutboxEventID(high: max(first, 1) - 1, low: UInt64(Int64.max)),
                before: end,
                limit: Self.replayedAtOnce,
                // A sample event is only for the endpoint for which it was made.
                samples: false
            )
        )
        let types = replay.types ?? record.endpoint.types
        let events = found.filter { event in PostbackType(rawValue: event.type).map(types.contains) ?? false }
        let count = try writer.replay(events.map(\.id), replay.mode, to: record.number, at: now)
        return .replayed(count: count, upTo: found.count == Self.replayedAtOnce ? found.last?.id : nil)
    }
}

extension StoreThreads {
    /// Stores an event about a fact that no table contains; waits for the database.
    public func publish(_ type: PostbackType, of app: AppID, data: String) throws(StoreError) {
        try state.queue.perform(.postbacks(.publish(type, app, data: data), by: .session(nil)))
    }
}

extension StoreError {
    public static let noEndpoint = StoreError(.notFound, "there is no such endpoint")
}

extension PostbackEndpoint {
    fileprivate mutating func apply(_ change: EndpointChange) {
        switch change {
        case .set(let state, let reason): (self.state, self.reason) = (state, reason)
        case .rotate(let secret, let end):
            (formerSecret, formerUntil) = (self.secret, end)
            self.secret = secret
        }
    }

    /// The fields for the audit log; of the URL, only the origin, because the path may contain a token.
    fileprivate var auditFields: AuditFields {
        AuditFields([
            (name: "host", texts: [PostbackTarget(url)?.origin ?? ""]), (name: "types", texts: [typesText]),
            (name: "test", texts: [String(isTest)]), (name: "state", texts: [state.rawValue]),
            (name: "reason", texts: reason.isEmpty ? [] : [reason]),
        ])
    }
}
