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

/// The reads of events and of the matches that they inherit from.
public protocol EventRows {
    associatedtype Failure: Error

    /// Returns the matches of installations and clicks, the newest first.
    func attributedInstalls(_ subjects: EventSubjects) throws(Failure) -> [AttributedInstall]
    /// Returns events of installations, users and clicks, also those that are credited to the clicks, oldest first.
    func events(of subjects: EventSubjects, onlyWaiting: Bool, atMost limit: Int) throws(Failure)
        -> [EventRecord]
    /// Returns for each user an event that is credited to the user's newest match.
    func creditedEvents(ofUsers users: [KeyedHash], in scope: Scope) throws(Failure) -> [EventRecord]
    func events(named ids: [String], in scope: Scope) throws(Failure) -> [EventRecord]
    /// Returns the refunds of purchases that are not credited.
    func refunds(ofPurchases ids: [String], in scope: Scope) throws(Failure) -> [EventRecord]
    /// Returns the names of the events that are credited to clicks.
    func eventNames(ofClicks clicks: [Int64]) throws(Failure) -> Set<EventOfClick>
    /// Returns the first events of a range of numbers, in their order.
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
        var subjects = EventSubjects(scope)
        var (ids, unique): (Set<String>, [AppEvent]) = ([], [])
        for event in batch.events where ids.insert(event.id).inserted {
            subjects.add(event)
            unique.append(event)
        }
        let former = batch.receivedAt.advanced(byMilliseconds: -AppEvent.uniqueMilliseconds)
        try writer.releaseEvents(unique.map(\.id), in: scope, receivedBefore: former)
        var credits = try Credits(subjects, of: batch.app, reader)
        try credits.read(purchases: unique.compactMap(\.purchase), in: scope, reader)
        var newest = memory.newestEvent
        if newest == 0 || Rules.readsNewestClicks { newest = max(newest, try reader.newestEvent()) }
        var records: [EventRecord] = []
        for event in unique {
            newest = numbers.check(after: newest, at: batch.receivedAt)
            records.append(EventRecord(event, number: newest, of: batch, scope))
        }
        // A refund inherits from its purchase, which may follow it in the request.
        for isRefund in [false, true] {
            for index in unique.indices where (unique[index].purchase != nil) == isRefund {
                credits.apply(to: &records[index], unique[index])
            }
        }
        for match in credits.found {
            var match = match
            // An event that names both adds its installation to the match.
            match.install =
                match.install ?? records.first { $0.namedClick == match.attribution.click }?.install
            try writer.insert(match)
        }
        var counting = EventCounting()
        counting.known = try reader.eventNames(ofClicks: Array(Set(records.compactMap(\.creditedClick))))
        let accepted = try writer.insert(records)
        records.removeAll { !accepted.contains($0.eventID) }
        counting.clickIDs = try clickIDs(of: records, in: scope)
        for record in records { counting.add(record) }
        let refundable = Set(unique.filter(\.isRefundable).map(\.id))
        let refunds = try creditRefunds(of: records.filter { refundable.contains($0.eventID) })
        for refund in refunds where refund.attribution != nil { counting.add(refund, isCredit: true) }
        try creditOthers(of: records + refunds, &counting)
        try add(counting)
        memory.newestEvent = newest
        var isFirst = accepted
        return .events(batch.events.map { isFirst.remove($0.id) != nil })
    }

    /// Stores the match that an installation's events inherit, and credits the events that waited for it.
    ///
    /// - Returns: the credited events, to count with the claim.
    func attribute(_ claim: Claim, _ scope: Scope, to installs: [KeyedHash]) throws(Failure) -> EventCounting
    {
        var counting = EventCounting()
        guard let current = installs.first, !claim.isCampaignOnly else { return counting }
        let install = AttributedInstall(claim, scope, install: current)
        try writer.insert(install)
        var subjects = EventSubjects(scope)
        (subjects.installs, subjects.clicks) = (installs, [install.number])
        try credit(waitingFor: subjects, claimed: install.attribution, [:], &counting)
        return counting
    }

    /// Credits the waiting events of the users and installations of `records`, because a new event may name a waiting
    /// user or installation together with a matched one.
    private func creditOthers(of records: [EventRecord], _ counting: inout EventCounting) throws(Failure) {
        var found: [KeyedHash: EventAttribution] = [:]
        guard let scope = records.first?.scope else { return }
        var subjects = EventSubjects(scope)
        for record in records where record.user != nil || record.namedClick != nil {
            guard let attribution = record.attribution else { continue }
            subjects.users += [record.user].compactMap(\.self)
            subjects.installs += [record.install].compactMap(\.self)
            for hash in [record.user, record.install].compactMap(\.self) { found[hash] = attribution }
        }
        try credit(waitingFor: subjects, claimed: nil, found, &counting)
    }

    /// Stores what the refunds of these purchases inherit from them; returns the changed refunds.
    private func creditRefunds(of purchases: [EventRecord]) throws(Failure) -> [EventRecord] {
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
        _ found: [KeyedHash: EventAttribution],
        _ counting: inout EventCounting
    ) throws(Failure) {
        // The maximum number of events to credit in one step. An installation with more has an id that many devices
        // share.
        let limit = 500
        var (subjects, found) = (subjects, found)
        while !subjects.isEmpty {
            var credited: [EventRecord] = []
            for event in try reader.events(of: subjects, onlyWaiting: true, atMost: limit) {
                let ofSubject = [event.install, event.user].compactMap(\.self).compactMap { found[$0] }.first
                guard let attribution = claimed ?? ofSubject,
                    attribution.mayCredit(eventAt: event.occurredAt),
                    // The read compares only the first half of a named click's id.
                    event.install != nil || event.user != nil || event.namedClick == attribution.click
                else { continue }
                var event = event
                event.attribution = attribution
                credited.append(event)
            }
            guard !credited.isEmpty else { return }
            try writer.credit(credited)
            credited += try creditRefunds(of: credited)
            // Other waiting events may name only the user of a credited event.
            subjects = EventSubjects(subjects.scope)
            for event in credited {
                counting.add(event, isCredit: true)
                guard let user = event.user else { continue }
                subjects.users.append(user)
                found[user] = event.attribution
            }
        }
    }

    /// Returns the click ids of the matches that events are credited to, by click; none unless they are published.
    private func clickIDs(of records: [EventRecord], in scope: Scope) throws(Failure) -> [Int64: String] {
        var subjects = EventSubjects(scope)
        subjects.clicks = Array(Set(records.compactMap(\.creditedClick)))
        guard !subjects.isEmpty, try publishesClickIDs(of: scope) else { return [:] }
        var found: [Int64: String] = [:]
        for match in try reader.attributedInstalls(subjects) { found[match.number] = match.clickIDs }
        return found
    }

    /// Counts the events that the transaction has accepted or credited, and publishes the accepted ones, after its last
    /// statement.
    ///
    /// Every accepted event passes through here once.
    func add(_ counting: EventCounting) throws(Failure) {
        let now = state.configuration.clock.now()
        for counted in counting.events {
            let (isFirst, isCredit) = (counted.isFirst, counted.isCredit)
            try memory.totals.add(counted.event, isFirst: isFirst, isCredit: isCredit, at: now, by: reader)
            guard !isCredit else { continue }
            let event = counted.event
            let subject = OutboxRecord.subject(of: event)
            try publish(event.scope, at: event.receivedAt, about: subject) { _ in
                .event(ReceivedEvent(event, clickIDs: event.creditedClick.flatMap { counting.clickIDs[$0] }))
            }
        }
    }
}

/// The events that a transaction has accepted, or has credited to a match that came after them.
struct EventCounting {
    /// The names of the events that are credited to each click.
    var known: Set<EventOfClick> = []
    /// The click ids of ad networks that may be published, by click.
    var clickIDs: [Int64: String] = [:]
    private(set) var events: [(event: EventRecord, isFirst: Bool, isCredit: Bool)] = []

    mutating func add(_ event: EventRecord, isCredit: Bool = false) {
        let own = event.creditedClick.map { EventOfClick(click: $0, name: event.name) }
        events.append((event, own.map { known.insert($0).inserted } ?? false, isCredit))
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
}

/// The matches that the events of a request may be credited to.
private struct Credits<Reader: WriterReader> {
    private var installs: [KeyedHash: EventAttribution] = [:]
    private var clicks: [ClickID: EventAttribution] = [:]
    private var users: [KeyedHash: EventAttribution] = [:]
    private var purchases: [String: EventRecord] = [:]
    /// Matches without an installation id, which these events name by the click.
    private(set) var found: [AttributedInstall] = []

    init(_ subjects: EventSubjects, of app: AppID, _ reader: Reader) throws(Reader.Failure) {
        if !subjects.installs.isEmpty || !subjects.clicks.isEmpty {
            for match in try reader.attributedInstalls(subjects) {
                if let install = match.install, installs[install] == nil {
                    installs[install] = match.attribution
                }
                clicks[match.attribution.click] = match.attribution
            }
        }
        let known = Set(clicks.keys.map { Int64(bitPattern: $0.high) })
        for number in Set(subjects.clicks).subtracting(known) {
            guard let claim = try reader.claim(ofClick: number), claim.scope == subjects.scope,
                !claim.isCampaignOnly, let answer = try reader.answer(of: claim, to: app)
            else { continue }
            let match = AttributedInstall(answer, subjects.scope, install: claim.install)
            clicks[match.attribution.click] = match.attribution
            found.append(match)
        }
        guard !subjects.users.isEmpty else { return }
        for event in try reader.creditedEvents(ofUsers: subjects.users, in: subjects.scope) {
            if let user = event.user { users[user] = event.attribution }
        }
    }

    mutating func read(purchases ids: [String], in scope: Scope, _ reader: Reader) throws(Reader.Failure) {
        guard !ids.isEmpty else { return }
        for event in try reader.events(named: ids, in: scope) { purchases[event.eventID] = event }
    }

    /// Gives an event its attribution: that of its installation, else of its click, its user or its purchase.
    mutating func apply(to record: inout EventRecord, _ event: AppEvent) {
        let found =
            event.installs.compactMap { installs[$0] }.first ?? event.click.flatMap { clicks[$0] }
            ?? event.users.compactMap { users[$0] }.first
        if let found, found.mayCredit(eventAt: event.occurredAt) { record.attribution = found }
        if let purchase = event.purchase.flatMap({ purchases[$0] }) { record.inherit(from: purchase) }
        if event.isRefundable { purchases[event.id] = record }
        guard let attribution = record.attribution else { return }
        // Later events of the request may name only a part of what this one names.
        for user in event.users where users[user] == nil { users[user] = attribution }
        for install in event.installs where installs[install] == nil { installs[install] = attribution }
    }
}
