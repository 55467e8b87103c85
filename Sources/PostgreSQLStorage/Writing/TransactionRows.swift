#if PostgreSQL
internal import Attribution
internal import PostgreSQL
internal import Storage

/// A hash, and the scope to whose rows it belongs.
struct ScopedHash: Hashable {
    let scope: Scope
    let hash: KeyedHash
}

/// A click's row, as the open transaction sees it.
struct ClickRow {
    let click: ClickRecord
    var claim: ClaimRecord?
    /// Whether its rows in the index were open when they were read or inserted.
    let wasOpen: Bool
    /// Whether no other transaction can change it now.
    let isLocked: Bool
    /// The hashes under which this transaction has closed it.
    var closed: Set<KeyedHash> = []
}

/// What the open transaction has read and locked, and has changed since.
///
/// A nil value means that the row was searched for and does not exist. All rows that a transaction changes are locked,
/// except posts and idempotency keys: a unique index decides between servers that insert the same post or key.
struct TransactionRows {
    struct Pointer {
        let click: Int64
        let until: Timestamp
    }

    private(set) var clicks: [Int64: ClickRow?] = [:]
    private var clicksByVisit: [UInt64: [Int64]] = [:]
    private(set) var posts: [ScopedHash: [Int64]] = [:]
    var idempotencies: [ScopedHash: Int64?] = [:]
    var installs: [ScopedHash: Pointer?] = [:]
    var links: [LinkID: LinkLimits?] = [:]
    var visits: [RowNeeds.Visitor: [UInt64]] = [:]
    /// The epochs of learnt sums, unless the transaction has changed them.
    var epochs: [Scope: LearningEpoch?] = [:]

    /// The endpoints, and the apps whose responses contain click ids.
    var endpoints: [EndpointRecord] = []
    var appsWithClickIDs: [Int64] = []

    /// For each event key that was locked and searched: whether events wait for a claim with this key.
    var eventKeys: [EventKey: Bool] = [:]
    /// Whether the transaction has inserted events.
    var hasNewEvents = false
    /// Whether no other transaction can add counts to the tables of counts; see ``FoldJob``.
    var hasLockedFold = false

    /// Adds a click that was read or inserted; does not replace a locked one, which may have changes.
    mutating func add(_ row: ClickRow) {
        let number = row.click.number
        if case .some(.some(let known)) = clicks[number] {
            guard !known.isLocked else { return }
        } else {
            clicksByVisit[row.click.visit.index, default: []].append(number)
        }
        clicks.updateValue(row, forKey: number)
    }

    /// Returns whether a click was searched for, and is locked if it exists.
    func isLocked(_ click: Int64) -> Bool {
        guard let known = clicks[click] else { return false }
        return known?.isLocked ?? true
    }

    mutating func addMissing(_ click: Int64) {
        if clicks[click] == nil { clicks.updateValue(nil, forKey: click) }
    }

    /// Records that a click does not exist any more, because the transaction erases it.
    mutating func remove(_ click: Int64) { clicks.updateValue(nil, forKey: click) }

    mutating func change(_ click: Int64, _ body: (inout ClickRow) -> Void) {
        guard case .some(.some(var row)) = clicks[click] else { return }
        body(&row)
        clicks.updateValue(row, forKey: click)
    }

    /// Counts a click of a link; returns the new count, or nil if the link has no limit.
    mutating func addLimitedClick(of link: Int64) -> Int? {
        guard let (id, limits) = links.first(where: { $0.value?.number == link }), var limits,
            limits.maximumClicks != nil
        else { return nil }
        limits.clicks += 1
        links[id] = limits
        return limits.clicks
    }

    /// Adds clicks to the known clicks of a post.
    mutating func add(_ numbers: [Int64], to post: ScopedHash) { posts[post, default: []] += numbers }

    /// Returns the clicks of a visit, which is given by the first 64 bits of its hash.
    func clicks(ofVisit visit: UInt64) -> [ClickRow] {
        (clicksByVisit[visit] ?? []).compactMap { clicks[$0] ?? nil }
    }
}

/// The rows to read in one step, before the writes that need them.
struct RowNeeds {
    struct Post: Hashable {
        let hash: ScopedHash
        let visit: UInt64
        let home: VisitHome
        let at: Timestamp
    }
    /// A visitor's clicks from the ten minutes before a click just after midnight, under the previous day's
    /// key; see ``WriterReader/visits(ofVisitor:_:)``.
    struct Visitor: Hashable {
        let visitor: UInt64
        let key: ScopedHash
        let first: Timestamp
        let last: Timestamp

        /// The slots of clicks around a midnight.
        var slots: [Int64] {
            let days = [first, last].map { $0.milliseconds / Slots.day }
            return [RowHome.longSlot] + Set(days).sorted()
        }
    }

    /// The newest click of this server; after its clock was set back, further clicks are stored in the day of this
    /// click.
    var newest: Int64 = 0
    /// The newest click that was moved from another database; 0 for none.
    var movedUpTo: Int64 = 0
    var installs: [ScopedHash] = []
    /// Clicks that may be claimed or marked; they are locked, and with them the clicks of their visits.
    var clicks: [Int64] = []
    var links: [LinkID] = []
    /// The changed links that have a maximum number of clicks after their change.
    var limitedLinks: [LinkID] = []
    /// Whether one of these links had no maximum before its change.
    ///
    /// The transaction must then wait for clicks that are under way.
    var startsLimit = false
    var posts: [Post] = []
    var idempotencies: [ScopedHash] = []
    var visitors: [Visitor] = []
    /// The scopes whose learnt sums grow.
    var learning: Set<Scope> = []
    /// The keys to lock with ``EventLocks``, for events and for claims with an installation.
    ///
    /// The value is true for an exclusive lock: a claim needs one for its keys, and a refund for its
    /// purchase.
    var eventKeys: [EventKey: Bool] = [:]
    /// Whether to read the endpoints too, if other rows are read.
    var targets = false
    /// The keys of the installations and clicks of claims; events may wait for a claim with one of these keys.
    var claimKeys: [EventKey] = []

    var isEmpty: Bool {
        installs.isEmpty && clicks.isEmpty && links.isEmpty && posts.isEmpty && idempotencies.isEmpty
            && visitors.isEmpty && learning.isEmpty && eventKeys.isEmpty && claimKeys.isEmpty && !startsLimit
    }

    /// Adds all rows that a write may need; the write itself decides later which of them it uses.
    mutating func add(_ write: Write, _ transaction: WriteTransaction<PostgreSQLWriter>)
        throws(PostgreSQLError)
    {
        switch write {
        case .click(let click):
            let (app, isTest) = (click.facts.app, click.facts.isTest)
            guard let scope = try transaction.scope(of: app, isTest: isTest) else { return }
            let number = transaction.numbers.click(
                after: 0,
                at: click.facts.recordedAt,
                visit: click.visit,
                window: click.facts.window
            )
            add(click, scope, number)
        case .claim(let request):
            guard let scope = try transaction.scope(of: request.app, isTest: request.isTest) else { return }
            installs += request.installs.map { ScopedHash(scope: scope, hash: $0) }
            clicks.append(Int64(bitPattern: request.click.high))
            let words = request.installs.map(\.index) + [request.click.high]
            let keys = words.map { EventKey(scope: scope, key: Int64(bitPattern: $0)) }
            claimKeys += keys
            // An event that names only the click locks the click's row, as the claim does.
            guard !request.installs.isEmpty else { break }
            for key in keys { eventKeys[key] = true }
        case .events(let batch):
            guard let scope = try transaction.scope(of: batch.app, isTest: batch.isTest) else { return }
            for event in batch.events {
                let words = event.installs.map(\.index) + [event.click?.high].compactMap(\.self)
                var keys = words.map { EventKey(scope: scope, key: Int64(bitPattern: $0)) }
                if event.isRefundable { keys.append(EventKey(scope, purchase: event.id)) }
                for key in keys where eventKeys[key] == nil { eventKeys[key] = false }
                if let purchase = event.purchase { eventKeys[EventKey(scope, purchase: purchase)] = true }
            }
        case .updates(let updates): clicks += updates.failedDeliveries.map { Int64(bitPattern: $0.high) }
        case .learning(.add(let slices)): learning.formUnion(slices.map(\.scope))
        case .erase(let slice): clicks += slice.isLast ? [] : slice.clicks
        case .links(.update(let link, _), _) where link.settings.maximumClicks != nil:
            limitedLinks.append(link.id)
        case .directory, .links, .learning, .keys, .sessions, .postbacks, .applePostbacks, .audit, .job,
            .barrier, .hold:
            break
        }
    }

    /// Adds what a click needs; `number` is a number that the click may get.
    private mutating func add(_ click: NewClick, _ scope: Scope, _ number: Int64) {
        let facts = click.facts
        let isLong = RowHome(of: number).slot == RowHome.longSlot
        let slots = isLong ? [RowHome.longSlot] : Slots.around(facts.recordedAt, RowHome(of: newest).slot)
        add(click.post, of: click.visit, scope, at: facts.recordedAt, in: slots)
        if let post = click.earlier.post {
            add(post, of: click.earlier.visit ?? click.visit, scope, at: facts.recordedAt, in: slots)
        }
        if let key = click.idempotency {
            idempotencies += ([key] + click.earlier.idempotencies).map { ScopedHash(scope: scope, hash: $0) }
        }
        if let link = facts.link { links.append(link) }
        if let visitor = click.earlier.visitor, let key = click.fingerprints.first?.key {
            let first = facts.clickedAt.advanced(byMilliseconds: -AddressKeys.visitMilliseconds)
            let key = ScopedHash(scope: scope, hash: key)
            visitors.append(Visitor(visitor: visitor, key: key, first: first, last: facts.clickedAt))
        }
    }

    mutating func add(
        _ post: KeyedHash,
        of visit: KeyedHash,
        _ scope: Scope,
        at time: Timestamp,
        in slots: [Int64]
    ) {
        let hash = ScopedHash(scope: scope, hash: post)
        let times = time.advanced(byMilliseconds: -Post.span)...time.advanced(byMilliseconds: Post.span)
        let home = VisitHome(slots, at: times, movedUpTo: movedUpTo)
        posts.append(Post(hash: hash, visit: visit.index, home: home, at: time))
    }
}

extension RowNeeds.Post {
    /// The time, in milliseconds, within which equal posts are one click.
    static let span: Int64 = 10_000

    /// The turns that the post's clicks may have; see ``turn(at:)``.
    var turns: [ClosedRange<Int64>] {
        let first = RowIdentifier.first(at: at.advanced(byMilliseconds: -Self.span))
        let last = RowIdentifier.first(at: at.advanced(byMilliseconds: Self.span + 1))
        let turn = Self.turn(at: at)
        return [turn - 1...turn + 1, -max(first, last)...(-first)]
    }

    /// The turn of a click: the interval of twenty seconds in which it was recorded.
    ///
    /// If another click has the same post and turn, the click's number, negated, becomes its turn.
    static func turn(at time: Timestamp) -> Int64 { time.milliseconds / (2 * span) }

    /// Whether clicks of one post at these times have a turn in common; see the unique indexes of ``Partitions``.
    static func collide(_ one: Timestamp, _ other: Timestamp) -> Bool {
        let (shiftedOne, shiftedOther) = (
            one.advanced(byMilliseconds: span), other.advanced(byMilliseconds: span)
        )
        return turn(at: one) == turn(at: other) || turn(at: shiftedOne) == turn(at: shiftedOther)
    }
}

/// The slots of rows around a time.
enum Slots {
    static let day: Int64 = 86_400_000

    /// Returns the slots of clicks that were recorded at most ten seconds before or after a time.
    ///
    /// The slot `newest` of the newest click is included if it is later.
    static func around(_ time: Timestamp, _ newest: Int64) -> [Int64] {
        let span = RowNeeds.Post.span
        let days = [(time.milliseconds - span) / day, (time.milliseconds + span) / day, newest]
        return Set(days.filter { $0 >= (time.milliseconds - span) / day }).sorted()
    }
}

/// Where the clicks of a visit are stored.
///
/// A visit has one bucket, which the numbers of its clicks name. Clicks that were moved from another database may be in
/// any bucket. Whatever their window is, they may be in the slot of their day or in slot -1. So they are searched
/// everywhere. In the ten minutes after the newest moved click, a new click's visit is searched everywhere too.
struct VisitHome: Hashable, Comparable {
    let slots: [Int64]
    /// Whether some of the clicks may have been moved.
    let isMoved: Bool

    /// - Parameters:
    ///   - slots: the slots of clicks that were not moved.
    ///   - times: the times of the clicks that are searched.
    ///   - movedUpTo: the newest click that was moved; 0 for none.
    init(_ slots: [Int64], at times: ClosedRange<Timestamp>, movedUpTo: Int64) {
        isMoved = movedUpTo > 0 && times.lowerBound <= RowIdentifier.time(of: movedUpTo)
        let days = times.lowerBound.milliseconds / Slots.day...times.upperBound.milliseconds / Slots.day
        self.slots = isMoved ? Set(slots + [RowHome.longSlot] + days).sorted() : slots
    }

    /// The home of a click and of the clicks of its visit in the ten minutes before it.
    init(of click: Int64, movedUpTo: Int64) {
        let (slot, last) = (RowHome(of: click).slot, RowIdentifier.time(of: click))
        let first = last.advanced(byMilliseconds: -AddressKeys.visitMilliseconds)
        let isLong = slot == RowHome.longSlot
        let slots = isLong ? [slot] : Array(min(first.milliseconds / Slots.day, slot)...slot)
        self.init(slots, at: first...last, movedUpTo: movedUpTo)
    }

    static func < (left: VisitHome, right: VisitHome) -> Bool {
        left.slots == right.slots
            ? !left.isMoved && right.isMoved : left.slots.lexicographicallyPrecedes(right.slots)
    }
}
#endif
