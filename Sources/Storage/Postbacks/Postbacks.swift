public import Attribution

/// The reads of deliveries.
public protocol PostbackRows: EndpointRows {
    /// Returns due deliveries with their events, in the order of their due times.
    func dueDeliveries(of endpoint: EndpointRecord, at now: Timestamp, atMost limit: Int) throws(Failure)
        -> [DeliveryRow]
    /// Returns the number of pending deliveries, at most ``EndpointStatus/maximumCounted``, and the time of the
    /// oldest of their events.
    func pendingDeliveries(of endpoint: Int64) throws(Failure) -> (count: Int, oldest: Timestamp?)
    /// Passes the deliveries of events before `id` to `body`, the newest events first, until `body` returns false.
    func deliveries(of endpoint: EndpointRecord, before id: OutboxEventID, _ body: (DeliveryRow) -> Bool)
        throws(Failure)
}

extension DatabaseSession where Backend.Reader: ReportReader {
    public func endpoints() async throws(StoreError) -> [EndpointStatus] {
        try await loop.readInBackground { reader throws(Backend.Reader.Failure) in
            var all: [EndpointStatus] = []
            for record in try reader.endpointRecords() {
                let (count, oldest) = try reader.pendingDeliveries(of: record.number)
                all.append(EndpointStatus(endpoint: record.endpoint, pending: count, oldest: oldest))
            }
            return all.sorted { $0.endpoint.id < $1.endpoint.id }
        }
    }

    public func create(_ endpoint: PostbackEndpoint, by actor: AuditActor) async throws(StoreError) {
        try await loop.write(.postbacks(.create(endpoint), by: actor))
    }

    public func change(_ endpoint: EndpointID, _ change: EndpointChange, by actor: AuditActor)
        async throws(StoreError)
    { try await loop.write(.postbacks(.change(endpoint, change), by: actor)) }

    public func sendSample(_ type: PostbackType, to endpoint: EndpointID, by actor: AuditActor)
        async throws(StoreError) -> OutboxEventID
    {
        let write = Write.postbacks(.sample(type, endpoint), by: actor)
        guard case .published(let id) = try await loop.write(write) else { throw .mismatch }
        return id
    }

    public func replay(_ replay: PostbackReplay, to endpoint: EndpointID, by actor: AuditActor)
        async throws(StoreError) -> Int
    {
        var (count, last): (Int, OutboxEventID?) = (0, nil)
        repeat {
            let write = Write.postbacks(.replay(replay, endpoint, after: last), by: actor)
            guard case .replayed(let part, let next) = try await loop.write(write) else { throw .mismatch }
            (count, last) = (count + part, next)
        } while last != nil
        return count
    }

    public func publish(_ type: PostbackType, of app: AppID, data: String) async throws(StoreError) {
        try await loop.write(.postbacks(.publish(type, app, data: data), by: .session(nil)))
    }

    public func deliveries(_ query: DeliveryQuery) async throws(StoreError) -> DeliveryPage {
        let page = try await loop.readInBackground { reader throws(Backend.Reader.Failure) -> DeliveryPage? in
            guard let record = try reader.endpointRecords().first(where: { $0.endpoint.id == query.endpoint })
            else { return nil }
            var walk = PageWalk<PostbackDelivery, OutboxEventID>(limit: query.limit, rowLimit: 20_000)
            // A read returns events before an id. To return this event first, the read gets the id that
            // follows this event's id.
            let after = query.event.map { OutboxEventID(high: $0.high, low: $0.low &+ 1) }
            let newest = OutboxEventID(high: UInt64(Int64.max), low: 0)
            try reader.deliveries(of: record, before: after ?? query.before ?? newest) { row in
                if let event = query.event, row.event.id != event { return false }
                let isWanted =
                    (query.state == nil || row.record.state == query.state)
                    && (query.type == nil || row.event.type == query.type?.rawValue)
                let isMore = walk.add(isWanted ? row.delivery : nil, at: row.event.id)
                return isMore && query.event == nil
            }
            return DeliveryPage(walk.elements, next: query.event == nil ? walk.next : nil)
        }
        guard let page else { throw .noEndpoint }
        return page
    }
}
