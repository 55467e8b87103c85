public import Attribution
internal import Synchronization

/// The functions and the keys that sending postbacks needs.
public struct PostbackSettings: Sendable {
    /// Makes a call on another thread, and passes its outcome to the closure.
    public typealias Send =
        @Sendable (PostbackCall, _ done: @escaping @Sendable (PostbackAnswer) -> Void) -> Void

    public let send: Send
    /// Returns the current server keys; nil before they are read.
    public let keys: @Sendable () -> ServerKeys?
    public let random: RandomSource

    public init(send: @escaping Send, keys: @escaping @Sendable () -> ServerKeys?, random: RandomSource) {
        (self.send, self.keys, self.random) = (send, keys, random)
    }

    /// The maximum number of calls at a time.
    public static let threadCount = 16
}

/// One write of the sending job: the leases to take, and the outcomes of deliveries.
public struct PostbackStep: Sendable {
    var leases: [JobLease] = []
    var deliveries: [DeliveryRecord] = []
    var progress: [EndpointRecord] = []
    /// Endpoints to disable, with the reasons.
    var disabled: [(endpoint: EndpointID, reason: String)] = []
    /// The keys, if the secrets of all endpoints must be encrypted under the current one; nil otherwise.
    var keys: ServerKeys?
    var random: RandomSource?
    /// The time before which events are deleted; nil to delete none.
    var removingBefore: Timestamp?
}

extension WriteTransaction {
    /// The maximum number of rows of a scope or an endpoint that one step deletes.
    private static var removedAtOnce: Int { 500 }

    /// Performs a step; the result is ``Written/leases(_:isMore:)``.
    func perform(_ step: PostbackStep) throws(Failure) -> Written {
        var (held, lost): (Set<String>, Set<Int64>) = ([], [])
        // Each process takes leases in the same order, so that no two servers wait for each other.
        for lease in step.leases.sorted(by: { $0.name < $1.name }) {
            if try take(lease) {
                held.insert(lease.name)
            } else if let endpoint = EndpointID(lease.subject) {
                lost.insert(Int64(bitPattern: endpoint.low))
            }
        }
        // The process that took over a lost lease may have numbered and sent the endpoint's deliveries.
        let deliveries = step.deliveries.filter { $0.state == .delivered || !lost.contains($0.endpoint) }
        if !deliveries.isEmpty { try writer.update(deliveries) }
        if let keys = step.keys, let random = step.random {
            let endpoints = try reader.endpointRecords().map(\.endpoint)
            for id in endpoints.filter({ $0.needsRewrapping(keys) }).map(\.id).sorted() {
                guard var record = try lockedEndpoint(id) else { continue }
                if record.endpoint.rewrap(keys, random) { try writer.update(record) }
            }
        }
        // These locks are taken in one order, too; an endpoint that was locked above needs no further lock
        // here.
        let progress = step.progress.filter { !lost.contains($0.number) }
        for record in progress.sorted(by: { $0.endpoint.id < $1.endpoint.id }) {
            try writer.setProgress(of: record)
        }
        for (id, reason) in step.disabled { try disable(id, because: reason) }
        var isMore = false
        if let time = step.removingBefore {
            let (first, limit) = (UInt64(RowIdentifier.first(at: time)), Self.removedAtOnce)
            let endpoints = try reader.endpointRecords()
            for endpoint in endpoints {
                let count = try writer.removeDeliveries(to: endpoint.number, before: first, atMost: limit)
                if count == limit { isMore = true }
            }
            // Deliveries go first, so that none is left without its event.
            for scope in isMore ? [] : Set(endpoints.map(\.scope)) {
                let count = try writer.removeOutboxEvents(of: scope, before: first, atMost: limit)
                if count == limit { isMore = true }
            }
        }
        return .leases(held, isMore: isMore)
    }
}

extension WriteTransaction {
    /// Disables an endpoint that failed, and stores an event for the app's other endpoints.
    private func disable(_ id: EndpointID, because reason: String) throws(Failure) {
        guard var record = try lockedEndpoint(id), record.endpoint.state == .enabled else { return }
        (record.endpoint.state, record.endpoint.reason) = (.disabled, reason)
        try writer.update(record)
        memory.targets = nil
        let now = state.configuration.clock.now()
        try publish(Scope(number: record.scope), at: now) { _ in .disabled(record.endpoint) }
    }
}

extension PostbackEndpoint {
    /// Encrypts the secrets under the current key, except those whose key is missing; returns whether one has changed.
    fileprivate mutating func rewrap(_ keys: ServerKeys, _ random: RandomSource) -> Bool {
        var isChanged = false
        for path in [\PostbackEndpoint.secret, \.headers, \.formerSecret] {
            let sealed = self[keyPath: path]
            guard !sealed.isEmpty, !keys.current.isSealed(sealed), let bytes = keys.open(sealed, of: id)
            else { continue }
            self[keyPath: path] = keys.current.seal(bytes, of: id, random: random)
            isChanged = true
        }
        return isChanged
    }

    /// Returns whether a secret is encrypted under another key than the current one, and that key is not missing.
    fileprivate func needsRewrapping(_ keys: ServerKeys) -> Bool {
        [secret, headers, formerSecret].contains { sealed in
            !sealed.isEmpty && !keys.current.isSealed(sealed) && keys.open(sealed, of: id) != nil
        }
    }
}

/// A queue of the outcomes of calls, from the threads that make the calls to the thread of jobs.
private final class PostbackInbox: Sendable {
    struct Item: Sendable {
        let endpoint: Int64
        let row: DeliveryRow
        let answer: PostbackAnswer
        let startedAt: Timestamp
    }
    private let items = Mutex<[Item]>([])

    func add(_ item: Item) { items.withLock { $0.append(item) } }

    func takeAll() -> [Item] {
        items.withLock { items in
            defer { items = [] }
            return items
        }
    }
}

/// Sends due deliveries to the endpoints whose leases this process holds, and stores the outcomes.
///
/// A delivery stays pending in the database until its outcome is stored. If the process ends before that, the next
/// process sends the delivery again, under the same id. Only calls run on other threads.
public struct PostbackJob<Reader: JobReader>: Job {
    public let name = JobName.postbacks
    public let share = 0.5

    /// The state of an endpoint in this process, which may hold the endpoint's lease.
    fileprivate struct Sender {
        var record: EndpointRecord
        var leaseUntil: Timestamp?
        /// Deliveries that were read and not sent yet, the next one first.
        var waiting: [DeliveryRow] = []
        var inFlight: Set<OutboxEventID> = []
        /// The deliveries under way when the lease was lost; another process may have sent them meanwhile.
        var outdated: Set<OutboxEventID> = []
        /// When to read due deliveries next, in nanoseconds of the monotonic clock.
        var readsAt: UInt64 = 0
        /// When to request the lease again if another process holds it, in nanoseconds of the monotonic clock.
        var refusedUntil: UInt64 = 0
        /// Whether its sequence or its circuit is not stored yet.
        var hasProgress = false
    }

    private let context: JobContext<Reader>
    private let settings: PostbackSettings
    private let inbox = PostbackInbox()
    private var senders: [Int64: Sender] = [:]
    /// The order in which endpoints get free threads; the endpoint that got a thread last is at the end.
    private var order: [Int64] = []
    /// Outcomes that are not stored yet.
    private var step = PostbackStep()
    /// The endpoints that metrics count.
    ///
    /// Endpoints that an operator has disabled are left out, because they get no deliveries.
    private var endpoints: [EndpointRecord] = []
    private var hasEndpoints = false
    private var refreshesAt: UInt64 = 0
    private var removesAt: UInt64 = 0
    private var rereadsAt: UInt64 = 0
    private var measuresAt: UInt64 = 0

    private static var interval: UInt64 { 1_000_000_000 }
    private static var removalInterval: UInt64 { 60_000_000_000 }
    /// The maximum number of deliveries of an endpoint that are read at once.
    private static var readAtOnce: Int { 64 }
    /// The number of threads that are reserved for endpoints that do not fail.
    private static var reservedThreads: Int { 4 }

    public init(_ context: JobContext<Reader>, _ settings: PostbackSettings) {
        (self.context, self.settings) = (context, settings)
    }

    public mutating func slice(at moment: UInt64) throws(StoreError) -> Due {
        guard let keys = settings.keys() else { return .after(Self.interval) }
        let now = context.state.configuration.clock.now()
        judge(at: now)
        if context.state.takePostbackHint() || moment >= refreshesAt { try refresh(keys, at: moment) }
        guard hasEndpoints else { return .after(Self.interval) }
        if moment >= removesAt, let settled = context.settledNow() {
            let seconds = context.state.configuration.outboxRetentionSeconds
            step.removingBefore = settled.advanced(byMilliseconds: -seconds * 1000)
            removesAt = moment + Self.removalInterval
        }
        // Paused endpoints have no deliveries in memory, so that their leases expire.
        for (number, sender) in senders where sender.inFlight.isEmpty && sender.isPaused(at: now) {
            senders[number]?.waiting = []
        }
        if try write(moment) { removesAt = moment }
        try read(at: moment, context.state.configuration.clock.now())
        // The steps before may have taken longer than the leases last.
        start(keys, at: context.state.configuration.clock.now())
        if moment >= measuresAt { try measure(at: moment, now) }
        return .after(senders.values.contains { $0.isBusy } ? Self.interval / 4 : Self.interval)
    }
}

/// The parts of a slice.
extension PostbackJob {
    /// Applies the outcomes of the calls that have ended.
    private mutating func judge(at now: Timestamp) {
        for item in inbox.takeAll() {
            guard var sender = senders[item.endpoint] else { continue }
            var record = item.row.record
            sender.inFlight.remove(record.id)
            record.attempts += 1
            (record.attemptedAt, record.answer) = (item.startedAt, item.answer)
            let word = context.state.configuration.random()
            let verdict = PostbackVerdict(item.answer, attempts: record.attempts, at: now, random: word)
            switch verdict.delivery {
            case .delivered: record.state = .delivered
            case .retry(let time): record.dueAt = time
            case .givenUp: record.state = .failed
            }
            // Without the lease, or under a new one, only a success is stored.
            let isOutdated = sender.outdated.remove(record.id) != nil
            if record.state == .delivered || !isOutdated { step.deliveries.append(record) }
            let age = record.state == .delivered ? now.milliseconds(since: item.row.event.at) : nil
            context.state.health.notePostback(record.state, deliveredAfter: age)
            let before = sender.record.endpoint.circuit
            let settled = context.settledNow()
            // While the clock may have jumped, the time since the first failure is unknown, so it starts again.
            if settled == nil { sender.record.endpoint.circuit.failingSince = nil }
            sender.record.endpoint.circuit.note(verdict, at: now)
            if sender.record.endpoint.circuit.failures != before.failures { sender.hasProgress = true }
            let isHopeless = settled.map(sender.record.endpoint.circuit.mustDisable) ?? false
            if verdict.isGone || isHopeless, sender.record.endpoint.state == .enabled {
                disable(
                    &sender,
                    because: verdict.isGone ? "it answered 410 Gone" : "it has failed for five days"
                )
            }
            senders[item.endpoint] = sender
        }
    }

    private mutating func disable(_ sender: inout Sender, because reason: String) {
        sender.record.endpoint.state = .disabled
        sender.waiting = []
        let id = sender.record.endpoint.id
        step.disabled.append((id, reason))
        context.state.configuration.log.write(
            .error,
            "the postback endpoint \(id.text) is disabled: \(reason). `afterlink postbacks enable \(id.text)` enables"
                + " it, and `afterlink postbacks replay \(id.text) --failed` sends again what was given up"
        )
    }

    /// Reads the endpoints.
    private mutating func refresh(_ keys: ServerKeys, at moment: UInt64) throws(StoreError) {
        let records = try context.read { reader throws(Reader.Failure) in try reader.endpointRecords() }
        hasEndpoints = !records.isEmpty
        endpoints = records.filter { !$0.endpoint.isDisabledByOperator }
        let states = endpoints.map(\.endpoint.state)
        context.state.health.setPostbackEndpoints(states.reduce(into: [:]) { $0[$1, default: 0] += 1 })
        var known = senders
        senders = [:]
        for record in records {
            var sender = known.removeValue(forKey: record.number) ?? Sender(record: record)
            let (former, sequence) = (sender.record.endpoint, sender.record.sequence)
            sender.record = record
            // While this process holds the lease, its sequence and circuit are newer than the stored ones. If an operator
            // has enabled the endpoint meanwhile, the stored circuit was reset and counts.
            if sender.leaseUntil != nil {
                sender.record.sequence = max(sequence, record.sequence)
                if former.state == record.endpoint.state { sender.record.endpoint.circuit = former.circuit }
            }
            // The step that disables the endpoint is not written yet.
            if step.disabled.contains(where: { $0.endpoint == record.endpoint.id }) {
                sender.record.endpoint.state = .disabled
            }
            if record.endpoint.state != .enabled { sender.waiting = [] }
            sender.readsAt = 0
            guard record.endpoint.state == .enabled || !sender.inFlight.isEmpty else { continue }
            senders[record.number] = sender
        }
        if records.contains(where: { $0.endpoint.needsRewrapping(keys) }) {
            (step.keys, step.random) = (keys, settings.random)
        }
        order = order.filter { senders[$0] != nil } + senders.keys.filter { !order.contains($0) }
        refreshesAt = moment + Self.interval
    }

    private func lease(of sender: Sender, at now: Timestamp) -> JobLease {
        var lease = context.lease(of: .postbacks, at: now, milliseconds: Sender.leaseMilliseconds)
        lease.subject = sender.record.endpoint.id.text
        let number = sender.record.number
        let hasOutcomes = sender.hasProgress || step.deliveries.contains { $0.endpoint == number }
        // If another process had the lease after this one, these numbers and outcomes are out of date.
        lease.isRenewal = sender.leaseUntil != nil && (sender.isBusy || hasOutcomes)
        return lease
    }

    /// Stores the outcomes, and takes the leases of some endpoints; returns whether there are more events to delete.
    ///
    /// It also renews leases in the same write. If a lease was lost, the write stores only the successes of the
    /// endpoint's deliveries.
    @discardableResult
    private mutating func write(taking missing: [Int64] = [], _ moment: UInt64) throws(StoreError) -> Bool {
        let now = context.state.configuration.clock.now()
        step.leases = senders.filter { missing.contains($0.key) || $0.value.renews(at: now) }
            .map { lease(of: $0.value, at: now) }
        step.progress = senders.values.filter { $0.hasProgress && $0.leaseUntil != nil }.map(\.record)
        guard !step.isEmpty else { return false }
        guard case .leases(let held, let isMore) = try context.queue.perform(.job(.postbacks(step))) else {
            throw .mismatch
        }
        for lease in step.leases {
            let endpoint = EndpointID(lease.subject)
            guard let (number, sender) = senders.first(where: { $0.value.record.endpoint.id == endpoint })
            else { continue }
            let isHeld = held.contains(lease.name)
            let end = lease.now.advanced(byMilliseconds: lease.milliseconds)
            senders[number]?.leaseUntil = isHeld ? end : nil
            guard !isHeld else { continue }
            senders[number]?.waiting = []
            senders[number]?.outdated = sender.inFlight
            senders[number]?.refusedUntil = moment + 2 * Self.interval
        }
        for record in step.progress { senders[record.number]?.hasProgress = false }
        step = PostbackStep()
        return isMore
    }

    /// Reads due deliveries, takes the leases of their endpoints, and numbers the deliveries.
    private mutating func read(at moment: UInt64, _ now: Timestamp) throws(StoreError) {
        if moment >= rereadsAt {
            // An erasure may have deleted deliveries meanwhile, which must not be sent from memory.
            for (number, sender) in senders where !sender.waiting.isEmpty {
                senders[number]?.waiting = []
                senders[number]?.readsAt = 0
            }
            rereadsAt = moment + Self.interval
        }
        var found: [Int64: [DeliveryRow]] = [:]
        for (number, sender) in senders where sender.reads(at: moment, now) {
            let record = sender.record
            let rows = try context.read { reader throws(Reader.Failure) in
                try reader.dueDeliveries(of: record, at: now, atMost: Self.readAtOnce + sender.inFlight.count)
            }
            found[number] = sender.unknown(among: rows)
            senders[number]?.readsAt = rows.count < Self.readAtOnce ? moment + Self.interval : 0
        }
        found = found.filter { !$0.value.isEmpty }
        let missing = found.keys.filter { !(senders[$0]?.holds(at: now) ?? false) }
        if !missing.isEmpty {
            try write(taking: missing, moment)
            // Another process may have sent some of these deliveries, and numbered others.
            let records = try context.read { reader throws(Reader.Failure) in try reader.endpointRecords() }
            for number in missing {
                found[number] = nil
                guard senders[number]?.leaseUntil != nil,
                    let record = records.first(where: { $0.number == number }),
                    record.endpoint.state == .enabled
                else { continue }
                senders[number]?.record = record
                let rows = try context.read { reader throws(Reader.Failure) in
                    try reader.dueDeliveries(of: record, at: now, atMost: Self.readAtOnce)
                }
                // Calls from before the lease was lost may still be under way.
                found[number] = senders[number]?.unknown(among: rows)
            }
        }
        for (number, rows) in found {
            guard var sender = senders[number] else { continue }
            var rows = rows
            for index in rows.indices where rows[index].record.sequence == 0 {
                sender.record.sequence += 1
                rows[index].record.sequence = sender.record.sequence
                step.deliveries.append(rows[index].record)
                sender.hasProgress = true
            }
            sender.waiting += rows
            senders[number] = sender
        }
        // A number must be stored before the body that contains it is sent.
        try write(moment)
    }

    /// Starts calls while threads are free: in each round, one call for each endpoint.
    private mutating func start(_ keys: ServerKeys, at now: Timestamp) {
        var free = PostbackSettings.threadCount - senders.values.reduce(0) { $0 + $1.inFlight.count }
        var isDone = false
        while !isDone {
            isDone = true
            for number in order {
                guard free > 0, var sender = senders[number],
                    sender.mayStart(at: now, free: free, Self.reservedThreads)
                else { continue }
                let row = sender.waiting.removeFirst()
                sender.inFlight.insert(row.record.id)
                senders[number] = sender
                send(row, to: sender.record, keys, at: now)
                (free, isDone) = (free - 1, false)
                order.removeAll { $0 == number }
                order.append(number)
            }
        }
    }

    private func send(_ row: DeliveryRow, to record: EndpointRecord, _ keys: ServerKeys, at now: Timestamp) {
        let done: @Sendable (PostbackAnswer) -> Void = { [inbox, jobs = context.state.jobs] answer in
            inbox.add(.init(endpoint: record.number, row: row, answer: answer, startedAt: now))
            jobs.ask(for: .postbacks)
        }
        let (event, endpoint) = (row.event, record.endpoint)
        guard let call = PostbackCall(event, row.record.sequence, to: endpoint, keys: keys, at: now) else {
            let problem = "the server key that encrypted the endpoint's secret is missing"
            return done(PostbackAnswer(failure: problem))
        }
        settings.send(call, done)
    }

    /// Stores the length and the age of the queue for metrics.
    private mutating func measure(at moment: UInt64, _ now: Timestamp) throws(StoreError) {
        measuresAt = moment + 15 * Self.interval
        var (count, oldest): (Int, Timestamp?) = (0, nil)
        for record in endpoints {
            let pending = try context.read { reader throws(Reader.Failure) in
                try reader.pendingDeliveries(of: record.number)
            }
            count += pending.count
            if let first = pending.oldest { oldest = min(first, oldest ?? first) }
        }
        context.state.health.setPostbackQueue(count, age: oldest.map { now.milliseconds(since: $0) } ?? 0)
    }
}

extension PostbackJob.Sender {
    var isBusy: Bool { !inFlight.isEmpty || !waiting.isEmpty }
    static var leaseMilliseconds: Int64 { 4000 }

    func holds(at now: Timestamp) -> Bool { leaseRest(at: now) > 0 }

    /// Returns whether the endpoint's lease must be renewed; the lease of an idle endpoint expires.
    ///
    /// A write that stores numbers or failures always renews it, because the write may wait until the lease has ended.
    func renews(at now: Timestamp) -> Bool {
        leaseUntil != nil && (hasProgress || (isBusy && leaseRest(at: now) < 2000))
    }

    /// Returns for how many milliseconds this process still has the lease.
    ///
    /// The result is 0 if more than the whole length is left. In that case the clock was set back after the lease was
    /// taken, and another process may take the lease.
    private func leaseRest(at now: Timestamp) -> Int64 {
        let rest = leaseUntil?.milliseconds(since: now) ?? 0
        return (0...Self.leaseMilliseconds).contains(rest) ? rest : 0
    }

    /// Returns the deliveries that are neither in memory nor under way.
    func unknown(among rows: [DeliveryRow]) -> [DeliveryRow] {
        let known = inFlight.union(waiting.map(\.record.id))
        return rows.filter { !known.contains($0.record.id) }
    }

    /// Returns whether to read due deliveries now; false until most of the deliveries in memory are sent.
    func reads(at moment: UInt64, _ now: Timestamp) -> Bool {
        record.endpoint.state == .enabled && moment >= max(readsAt, refusedUntil) && !isPaused(at: now)
            && waiting.count < PostbackCircuit.concurrency
    }

    func isPaused(at now: Timestamp) -> Bool { record.endpoint.circuit.limit(at: now) == 0 }

    func mayStart(at now: Timestamp, free: Int, _ reserved: Int) -> Bool {
        let circuit = record.endpoint.circuit
        return !waiting.isEmpty && holds(at: now) && inFlight.count < circuit.limit(at: now)
            && (circuit.failures == 0 || free > reserved)
    }
}

extension PostbackStep {
    var isEmpty: Bool {
        leases.isEmpty && deliveries.isEmpty && progress.isEmpty && disabled.isEmpty && keys == nil
            && removingBefore == nil
    }
}
