public import Attribution

/// The installations, users and clicks of a scope whose events or matches are read.
public struct EventSubjects: Equatable, Sendable {
    public let scope: Scope
    public var installs: [KeyedHash] = []
    public var users: [KeyedHash] = []
    /// The numbers of clicks.
    public var clicks: [Int64] = []

    public init(_ scope: Scope) { self.scope = scope }

    public var isEmpty: Bool { installs.isEmpty && users.isEmpty && clicks.isEmpty }

    mutating func add(_ event: AppEvent) {
        installs += event.installs
        users += event.users
        if let click = event.click { clicks.append(Int64(bitPattern: click.high)) }
    }
}

/// The name of an event that is credited to a click.
public struct EventOfClick: Hashable, Sendable {
    public let click: Int64
    public let name: String

    public init(click: Int64, name: String) { (self.click, self.name) = (click, name) }
}

/// The reads of events, and of the matches that events are credited to.
public protocol EventRows {
    associatedtype Failure: Error

    /// Returns the matches of installations and clicks, the newest first.
    func attributedInstalls(_ subjects: EventSubjects) throws(Failure) -> [AttributedInstall]
    /// Returns events that name the installations, users or clicks, or that are credited to the clicks, oldest first.
    ///
    /// With `onlyWaiting`, it returns only events that are not credited to a click, and no refunds, which wait for their
    /// purchase.
    func events(of subjects: EventSubjects, onlyWaiting: Bool, atMost limit: Int) throws(Failure)
        -> [EventRecord]
    /// Returns events that are credited to a click, in any order.
    func events(ofClick click: Int64, in scope: Scope, atMost limit: Int) throws(Failure) -> [EventRecord]
    /// Returns for each user the event that links the user to a match.
    ///
    /// Of the events that name both, this is the newest event of a server key or, without such an event, the first one
    /// of an app key.
    func links(ofUsers users: [KeyedHash], in scope: Scope) throws(Failure) -> [EventRecord]
    func events(named ids: [String], in scope: Scope) throws(Failure) -> [EventRecord]
    /// Returns the refunds of these purchases, except refunds that are credited to a click.
    func refunds(ofPurchases ids: [String], in scope: Scope) throws(Failure) -> [EventRecord]
    /// Returns the names of the events that are credited to clicks.
    func eventNames(ofClicks clicks: [Int64]) throws(Failure) -> Set<EventOfClick>
    /// Returns the events with these numbers, lowest first, and at most `limit` of them.
    func exportedEvents(_ numbers: ClosedRange<Int64>, atMost limit: Int) throws(Failure) -> [EventRecord]
    /// Returns the largest number of an event; 0 without events.
    func newestEvent() throws(Failure) -> Int64
}

/// The statements that write events.
public protocol EventWriter: ClickWriter {
    /// Stores a match, or adds the installation to a stored match.
    func insert(_ install: AttributedInstall) throws(Failure)
    /// Releases the ids of events that were received before a time, so that new events may use them.
    func releaseEvents(_ ids: [String], in scope: Scope, receivedBefore time: Timestamp) throws(Failure)
    /// Stores those events whose ids are new, and returns these ids.
    func insert(_ events: [EventRecord]) throws(Failure) -> Set<String>
    /// Deletes the events that have these ids and came with an app key, and returns them.
    func takeBack(_ ids: [String], in scope: Scope) throws(Failure) -> [EventRecord]
    /// Stores the attributions of stored events, and their installations, users and named clicks.
    func credit(_ events: [EventRecord]) throws(Failure)
    func eraseEvents(_ numbers: [Int64]) throws(Failure) -> Int64
    func eraseInstalls(ofClicks clicks: [Int64]) throws(Failure) -> Int64
    /// Deletes the oldest events and matches from before a time; returns whether there may be more.
    func removeEvents(before time: Timestamp, atMost limit: Int64) throws(Failure) -> Bool
}

/// Stores events with their attributions, and counts them.
extension WriteTransaction {
    func record(_ batch: EventBatch) throws(Failure) -> Written {
        guard let scope = try scope(of: batch.app, isTest: batch.isTest) else {
            return .refused(StoreError(.notFound, "the app of the events does not exist"))
        }
        var (ids, unique): (Set<String>, [AppEvent]) = ([], [])
        for event in batch.events where ids.insert(event.id).inserted { unique.append(event) }
        let former = batch.receivedAt.advanced(byMilliseconds: -AppEvent.uniqueMilliseconds)
        try writer.releaseEvents(unique.map(\.id), in: scope, receivedBefore: former)
        let known = try reader.events(named: unique.map(\.id) + unique.compactMap(\.purchase), in: scope)
        // A duplicate changes nothing, so it must not link its user or its installation for other events of the request.
        let duplicates = Set(known.filter { !batch.isVerified || $0.origin != .app }.map(\.eventID))
        unique.removeAll { duplicates.contains($0.id) }
        var subjects = EventSubjects(scope)
        for event in unique { subjects.add(event) }
        var credits = try Credits(subjects, of: batch.app, known: known, reader)
        if memory.numbers.event.value == 0 || Rules.readsNewestClicks {
            memory.numbers.event.value = max(memory.numbers.event.value, try reader.newestEvent())
        }
        var newest = last(memory.numbers.event, at: batch.receivedAt)
        var records: [EventRecord] = []
        for event in unique {
            newest = numbers.check(after: newest, at: batch.receivedAt)
            records.append(EventRecord(event, number: newest, of: batch, scope))
        }
        memory.numbers.event.value = newest
        var outcomes: [String: EventOutcome] = [:]
        // A refund inherits from its purchase, which may follow it in the request.
        for isRefund in [false, true] {
            for index in unique.indices where (unique[index].purchase != nil) == isRefund {
                guard let problem = try credits.apply(to: &records[index], unique[index], reader) else {
                    continue
                }
                outcomes[unique[index].id] = .rejected(problem)
            }
        }
        if !outcomes.isEmpty {
            records.removeAll { outcomes[$0.eventID] != nil }
            // A stored refund that is sent again is a duplicate, even if its purchase cannot be found any more.
            for event in known where outcomes[event.eventID] != nil { outcomes[event.eventID] = .duplicate }
        }
        for match in credits.found {
            var match = match
            // If an event names an installation as well as the click, its installation is added to the match.
            match.install =
                match.install ?? records.first { $0.namedClick == match.attribution.click }?.install
            try writer.insert(match)
        }
        var counting = EventCounting()
        counting.known = try reader.eventNames(ofClicks: Array(Set(records.compactMap(\.creditedClick))))
        var accepted = try writer.insert(records)
        if batch.isVerified, accepted.count < records.count {
            let others = records.filter { !accepted.contains($0.eventID) }
            let ids = try takeBack(others.map(\.eventID), of: batch, in: scope, &counting)
            accepted.formUnion(try writer.insert(others.filter { ids.contains($0.eventID) }))
        }
        records.removeAll { !accepted.contains($0.eventID) }
        for record in records { counting.add(record) }
        let refunds = try creditRefunds(of: records)
        for refund in refunds where refund.attribution != nil { counting.add(refund, .credited) }
        try creditOthers(of: records + refunds, credits.users, &counting)
        counting.clickIDs = try clickIDs(of: counting.accepted, in: scope)
        try add(counting)
        return .events(
            batch.events.map { outcomes[$0.id] ?? (accepted.remove($0.id) == nil ? .duplicate : .accepted) }
        )
    }

    /// Deletes the events of app keys that a server key's events replace, and takes their counts back; returns their ids.
    private func takeBack(
        _ ids: [String],
        of batch: EventBatch,
        in scope: Scope,
        _ counting: inout EventCounting
    ) throws(Failure) -> Set<String> {
        let events = try writer.takeBack(ids, in: scope)
        guard !events.isEmpty else { return [] }
        let clicks = Set(events.compactMap(\.creditedClick))
        counting.takeBack(events, remaining: try reader.eventNames(ofClicks: Array(clicks)))
        let numbers = events.map { (UInt64(bitPattern: $0.number), 0 as UInt64) }
        try name(numbers, of: .events, batch.app, at: batch.receivedAt)
        // The rows of the events are gone, so a later erasure would not find the events in the outbox.
        try removePostbacks(of: events, in: scope)
        return Set(events.map(\.eventID))
    }

    /// Stores the match that an installation's events inherit, and credits the events that waited for the installation
    /// or the click.
    ///
    /// A match without an installation is stored only if events name its click.
    ///
    /// - Returns: the credited events, to count with the claim.
    func attribute(_ claim: Claim, _ scope: Scope, to installs: [KeyedHash]) throws(Failure) -> EventCounting
    {
        var counting = EventCounting()
        guard !claim.isCampaignOnly else { return counting }
        var match = AttributedInstall(claim, scope, install: installs.first)
        var subjects = EventSubjects(scope)
        (subjects.installs, subjects.clicks) = (installs, [match.number])
        try credit(waitingFor: subjects, claimed: match.attribution, [:], &counting)
        guard match.install != nil || !counting.events.isEmpty else { return counting }
        // As with events that come after a match, the installation of an event that names the click is added
        // to the match.
        match.install =
            match.install
            ?? counting.events.first { $0.event.namedClick == claim.click.id && $0.event.install != nil }?
            .event.install
        try writer.insert(match)
        return counting
    }

    /// Credits the waiting events of the users and installations of `records`, because a new event may name a waiting
    /// user or installation together with a matched one.
    private func creditOthers(
        of records: [EventRecord],
        _ links: [KeyedHash: UserLink],
        _ counting: inout EventCounting
    ) throws(Failure) {
        var found: [KeyedHash: UserLink] = [:]
        guard let scope = records.first?.scope else { return }
        var subjects = EventSubjects(scope)
        for record in records where record.user != nil || record.namedClick != nil {
            guard let own = record.ownLink else { continue }
            if let install = record.install {
                subjects.installs.append(install)
                found[install] = own
            }
            guard let user = record.user, let link = links[user] ?? (record.linksAsRefund ? own : nil) else {
                continue
            }
            subjects.users.append(user)
            found[user] = link
        }
        try credit(waitingFor: subjects, claimed: nil, found, &counting)
    }

    /// Stores what refunds inherit from those of the events that are purchases; returns the changed refunds.
    private func creditRefunds(of events: [EventRecord]) throws(Failure) -> [EventRecord] {
        let purchases = events.filter { $0.purchase == nil && $0.isRefundable }
        guard let scope = purchases.first?.scope else { return [] }
        var refunds: [EventRecord] = []
        for waiting in try reader.refunds(ofPurchases: purchases.map(\.eventID), in: scope) {
            guard let purchase = purchases.first(where: { $0.eventID == waiting.purchase }),
                // After this time, another event may have the purchase's id.
                purchase.receivedAt.milliseconds(since: waiting.receivedAt) <= AppEvent.uniqueMilliseconds
            else { continue }
            var refund = waiting
            refund.inherit(from: purchase)
            if refund != waiting { refunds.append(refund) }
        }
        if !refunds.isEmpty { try writer.credit(refunds) }
        return refunds
    }

    private func credit(
        waitingFor subjects: EventSubjects,
        claimed: EventAttribution?,
        _ found: [KeyedHash: UserLink],
        _ counting: inout EventCounting
    ) throws(Failure) {
        // The maximum number of events to credit in one step. An installation with more events has an id that
        // many devices share.
        let limit = 500
        var (subjects, found, named) = (subjects, found, NamedUsers<Writer.Reader>())
        if let claimed {
            for install in subjects.installs { found[install] = UserLink(claimed, isVerified: true) }
        }
        while !subjects.isEmpty {
            var credited: [EventRecord] = []
            for event in try reader.events(of: subjects, onlyWaiting: true, atMost: limit) {
                // The read compares only the first half of a named click's id.
                let own =
                    event.install.flatMap { found[$0]?.attribution }
                    ?? (event.namedClick == claimed?.click ? claimed : nil)
                let link = event.user.flatMap { found[$0] }.flatMap { event.mayInherit($0) ? $0 : nil }
                guard let attribution = own ?? link?.attribution,
                    attribution.mayCredit(eventAt: event.occurredAt)
                else { continue }
                var event = event
                event.attribution = attribution
                if own != nil, try !named.admits(event, reader) { event.removeMatch() }
                credited.append(event)
            }
            guard !credited.isEmpty else { return }
            try writer.credit(credited)
            let users = credited.filter(\.namesMatch).compactMap(\.user)
            credited += try creditRefunds(of: credited)
            // Other waiting events may name only the user of a credited event.
            subjects = EventSubjects(subjects.scope)
            for event in credited {
                counting.add(event, .credited)
                if event.linksAsRefund, let user = event.user { found[user] = found[user] ?? event.ownLink }
                // Other waiting events may name only the installation of an event that names the claimed click.
                guard let claimed, event.namedClick == claimed.click, let install = event.install,
                    found[install] == nil
                else { continue }
                found[install] = event.ownLink
                subjects.installs.append(install)
            }
            for event in users.isEmpty ? [] : try reader.links(ofUsers: users, in: subjects.scope) {
                if let user = event.user { found[user] = event.ownLink }
            }
            subjects.users = credited.compactMap(\.user).filter { found[$0] != nil }
        }
    }

    /// Returns the click ids of the matches that events are credited to, by click; empty unless click ids are
    /// published.
    private func clickIDs(of records: [EventRecord], in scope: Scope) throws(Failure) -> [Int64: String] {
        var subjects = EventSubjects(scope)
        subjects.clicks = Array(Set(records.compactMap(\.creditedClick)))
        guard !subjects.isEmpty, try publishesClickIDs(of: scope) else { return [:] }
        var found: [Int64: String] = [:]
        for match in try reader.attributedInstalls(subjects) { found[match.number] = match.clickIDs }
        return found
    }

    /// Publishes the events that the transaction has accepted, and counts those that it has accepted, credited or taken
    /// back.
    ///
    /// It is called after all other statements of the write, with each accepted event once.
    func add(_ counting: EventCounting) throws(Failure) {
        for event in counting.accepted {
            let subject = OutboxRecord.subject(of: event)
            try publish(event.scope, at: event.receivedAt, about: subject) { _ in
                .event(ReceivedEvent(event, clickIDs: event.creditedClick.flatMap { counting.clickIDs[$0] }))
            }
        }
        let now = state.configuration.clock.now()
        for counted in counting.events { try memory.totals.add(counted, at: now, by: reader) }
    }
}

/// The events that a transaction has accepted, taken back, or credited to a match that came after them.
struct EventCounting {
    enum Change {
        case accepted
        /// The event was counted before, and has got its match now.
        case credited
        case takenBack
    }

    struct Event {
        let event: EventRecord
        /// Whether no other event of its name is credited to its click.
        let isOnly: Bool
        let change: Change
    }

    /// The names of the events that are credited to each click.
    var known: Set<EventOfClick> = []
    /// The click ids of ad networks that may be published, by click.
    var clickIDs: [Int64: String] = [:]
    private(set) var events: [Event] = []

    /// The accepted events as the transaction stores them, with the match to which another event of the request may
    /// have credited them.
    var accepted: [EventRecord] {
        let credited = events.filter { $0.change == .credited }.map { ($0.event.number, $0.event) }
        let stored = Dictionary(credited) { $1 }
        return events.filter { $0.change == .accepted }.map { stored[$0.event.number] ?? $0.event }
    }

    mutating func add(_ event: EventRecord, _ change: Change = .accepted) {
        let isOnly = event.ofClick.map { known.insert($0).inserted } ?? false
        events.append(Event(event: event, isOnly: isOnly, change: change))
    }

    /// Takes back events; `remaining` has the names of the events that are still credited to their clicks.
    mutating func takeBack(_ taken: [EventRecord], remaining: Set<EventOfClick>) {
        var empty: Set<EventOfClick> = []
        for event in taken {
            let isOnly = event.ofClick.map { !remaining.contains($0) && empty.insert($0).inserted } ?? false
            events.append(Event(event: event, isOnly: isOnly, change: .takenBack))
        }
        known.subtract(empty)
    }
}

extension ReceivedEvent {
    fileprivate init(_ event: EventRecord, clickIDs: String?) {
        self.init(
            eventID: event.eventID,
            name: event.name,
            occurredAt: event.occurredAt,
            isVerified: event.isVerified
        )
        (amount, currency) = (event.money?.text, event.money?.currency.code)
        (properties, self.clickIDs) = (event.properties, clickIDs)
        guard let attribution = event.attribution else { return }
        (click, link, campaignKey) = (attribution.click, attribution.link, attribution.campaign)
        (source, variant) = (attribution.source.rawValue, attribution.variant)
        (method, matchedAt) = (attribution.method.rawValue, attribution.matchedAt)
    }
}

extension EventRecord {
    /// The number of the click that the event is credited to.
    var creditedClick: Int64? { attribution.map { Int64(bitPattern: $0.click.high) } }

    /// Whether a refund may name the event as its purchase, as ``AppEvent/isRefundable`` states.
    ///
    /// It is true for a refund too, because ``problem(with:)`` then rejects the refund of a refund.
    fileprivate var isRefundable: Bool { purchase != nil || money != nil || name == EventName.purchase.text }

    fileprivate var ofClick: EventOfClick? { creditedClick.map { EventOfClick(click: $0, name: name) } }

    /// The link to the event's match, for its user or its installation.
    fileprivate var ownLink: UserLink? { attribution.map { UserLink($0, isVerified: isVerified) } }

    /// Whether the event links its user to the match of its purchase.
    fileprivate var linksAsRefund: Bool { isVerified && purchase != nil }
}

/// The users that events of app keys have named together with a match: only the first ten are linked to it.
///
/// Anyone can send such an event, and later purchases of these users are credited to the match.
private struct NamedUsers<Reader: WriterReader> {
    private var users: [Int64: Set<KeyedHash>] = [:]
    /// The matches with more events than are read.
    private var full: Set<Int64> = []

    private static var userLimit: Int { 10 }
    private static var eventLimit: Int { 500 }

    /// Returns whether an event may link its user to its match.
    mutating func admits(_ event: EventRecord, _ reader: Reader) throws(Reader.Failure) -> Bool {
        guard event.origin == .app, let user = event.user, let click = event.creditedClick else {
            return true
        }
        if users[click] == nil {
            let known = try reader.events(ofClick: click, in: event.scope, atMost: Self.eventLimit)
            if known.count == Self.eventLimit { full.insert(click) }
            users[click] = Set(known.filter { $0.origin == .app && $0.namesMatch }.compactMap(\.user))
        }
        var named = users[click] ?? []
        if named.contains(user) { return true }
        guard named.count < Self.userLimit, !full.contains(click) else { return false }
        named.insert(user)
        users[click] = named
        return true
    }
}

/// The matches that the events of a request may be credited to.
private struct Credits<Reader: WriterReader> {
    private var installs: [KeyedHash: EventAttribution] = [:]
    private var clicks: [ClickID: EventAttribution] = [:]
    private(set) var users: [KeyedHash: UserLink] = [:]
    private var named = NamedUsers<Reader>()
    private var purchases: [String: EventRecord]
    /// The matches that these events name by the click, and that are not stored yet.
    private(set) var found: [AttributedInstall] = []

    /// Reads the matches that the events name; `known` are the stored events with their ids, and with those of the
    /// purchases of refunds.
    init(_ subjects: EventSubjects, of app: AppID, known: [EventRecord], _ reader: Reader)
        throws(Reader.Failure)
    {
        purchases = Dictionary(known.map { ($0.eventID, $0) }) { first, _ in first }
        if !subjects.installs.isEmpty || !subjects.clicks.isEmpty {
            for match in try reader.attributedInstalls(subjects) {
                if let install = match.install, installs[install] == nil {
                    installs[install] = match.attribution
                }
                clicks[match.attribution.click] = match.attribution
            }
        }
        let matched = Set(clicks.keys.map { Int64(bitPattern: $0.high) })
        for number in Set(subjects.clicks).subtracting(matched) {
            guard let claim = try reader.claim(ofClick: number), claim.scope == subjects.scope,
                !claim.isCampaignOnly, let answer = try reader.answer(of: claim, to: app)
            else { continue }
            let match = AttributedInstall(answer, subjects.scope, install: claim.install)
            clicks[match.attribution.click] = match.attribution
            found.append(match)
        }
        guard !subjects.users.isEmpty else { return }
        for event in try reader.links(ofUsers: subjects.users, in: subjects.scope) {
            if let user = event.user { users[user] = event.ownLink }
        }
    }

    /// Gives an event the attribution of its installation, else of its click or its user; a refund gets that of its
    /// purchase, whatever the refund names.
    ///
    /// - Returns: why the event is rejected as a refund; nil if it is accepted.
    mutating func apply(to record: inout EventRecord, _ event: AppEvent, _ reader: Reader)
        throws(Reader.Failure) -> RefundProblem?
    {
        var purchase = event.purchase.flatMap { purchases[$0] }
        if purchase?.isRefundable == false { purchase = nil }
        if let problem = record.problem(with: purchase) { return problem }
        let own = event.installs.compactMap { installs[$0] }.first ?? event.click.flatMap { clicks[$0] }
        var link = event.users.compactMap { users[$0] }.first
        let inherited = link.flatMap { record.mayInherit($0) ? $0.attribution : nil }
        if event.purchase == nil, let found = own ?? inherited, found.mayCredit(eventAt: event.occurredAt) {
            record.attribution = found
        }
        if let purchase { record.refund(purchase) }
        let isReplaced = record.isVerified && purchases[event.id]?.origin == .app
        let isNew = purchases[event.id] == nil && (event.isRefundable || event.purchase != nil)
        if isReplaced || isNew {
            purchases[event.id] = record
        }
        guard let attribution = record.attribution else { return nil }
        if own != nil, event.purchase == nil, link == nil || record.isVerified {
            if try named.admits(record, reader) { link = record.ownLink } else { record.removeMatch() }
        }
        // Later events of the request may name only a part of what this one names.
        for user in event.users { users[user] = link }
        for install in event.installs where installs[install] == nil { installs[install] = attribution }
        return nil
    }
}
