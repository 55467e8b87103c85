#if PostgreSQL
internal import Attribution
internal import PostgreSQL
internal import Storage

/// Makes the partitions of the next days, and those that are missing, and deletes clicks and records of checks after the
/// retention time.
///
/// The server with the lease does this. When the retention of a day's last click has ended, the day is dropped as a
/// whole. Clicks with a long window share one partition, and are deleted one by one.
struct PartitionJob: Job {
    let name = JobName.partitions
    let share = 1.0 / 8

    private let context: JobContext<PostgreSQLReader>
    private var lease = RenewedLease(of: .partitions, milliseconds: 60_000)
    /// The search for the last expiry of a day's clicks; nil if none is under way.
    private var search: ExpirySearch?
    /// The deletion of a day's clicks of one kind; nil if none is under way.
    private var deletion: DayDeletion?
    /// The kinds of clicks, by day, that are deleted completely; a day whose clicks have expired gets no
    /// further clicks.
    private var deletedKinds: Set<DayDeletion.Kind> = []

    /// How far the clicks with a long window were searched for clicks of the kind that is deleted first.
    ///
    /// The search has read the clicks that expire before `upTo`. The last search that started with the oldest click began
    /// at `since`.
    ///
    /// The next search reads only the clicks that expire at `upTo` or later. Once an hour, a search reads all of them
    /// again, because a click may have been locked.
    private var sorted: (upTo: Timestamp, since: Timestamp)?

    /// The minimum number of milliseconds between two searches of all expired clicks with a long window.
    private static let searchInterval: Int64 = 3_600_000
    private static let interval: UInt64 = 10_000_000_000
    private static let daysAhead: Int64 = 3
    static let day: Int64 = 86_400_000
    /// If a day ended at least this many milliseconds ago, no click of that day can be recorded any more.
    private static let settlingTime: Int64 = 3_600_000

    init(_ context: JobContext<PostgreSQLReader>) { self.context = context }

    mutating func slice(at _: UInt64) throws(StoreError) -> Due {
        guard let now = context.settledNow(), try lease.isHeld(at: now, in: context) else {
            return .after(Self.interval)
        }
        let isMore = try context.read { reader throws(PostgreSQLError) in
            do throws(PostgreSQLError) {
                return try runStep(reader.connection, at: now)
            } catch {
                // A long read uses the partition; the step is tried again later.
                guard error.kind == .lockTimeout else { throw error }
                return false
            }
        }
        return isMore ? .more : .after(Self.interval)
    }

    /// Does the first step that is due, and returns whether there may be more.
    private mutating func runStep(_ connection: BlockingConnection, at now: Timestamp) throws(PostgreSQLError)
        -> Bool
    {
        let configuration = context.state.configuration
        let partitions = Partitions(connection: connection)
        let slots = try partitions.slots()
        let today = now.milliseconds / Self.day
        let lacking = Set([RowHome.longSlot] + (today...today + Self.daysAhead))
            .subtracting(slots.map(\.number)).union(try partitions.missing(at: now).map(\.slot))
        for slot in lacking.sorted() where try partitions.make(slot) { return true }

        let ended = slots.first { slot in
            let end = (slot.number + 1) * Self.day
            return slot.number != RowHome.longSlot && slot.neededUntil == nil
                && end + Self.settlingTime <= now.milliseconds
        }
        if let ended {
            var search =
                search.flatMap { $0.slot == ended.number ? $0 : nil } ?? ExpirySearch(of: ended.number)
            let isMore = try connection.advance(&search)
            self.search = isMore ? search : nil
            if !isMore { try connection.execute(Self.setNeed, search.slot, search.last.milliseconds) }
            return true
        }

        let deadlines = configuration.deadlines(at: now)
        let last = min(deadlines.all, deadlines.checks)
        let oldest = slots.first { $0.neededUntil.map { $0 < last } ?? false }
        let lag = oldest?.neededUntil.map { last.milliseconds(since: $0) } ?? 0
        context.state.noteRetentionLag(seconds: lag / 1000)
        if let oldest, let end = oldest.neededUntil {
            try connection.deleteChecks(of: oldest.number)
            try connection.execute(Self.setDeleted, end.milliseconds)
            try partitions.drop(oldest.number)
            deletedKinds = deletedKinds.filter { $0.slot != oldest.number }
            context.state.noteTraffic()
            return true
        }
        if !configuration.trustsClock { try connection.execute(JobRows.noteSettled, now.milliseconds) }
        for slot in slots {
            guard let end = slot.neededUntil else { continue }
            if end < deadlines.checks, try deleteChecks(of: slot.number, connection) { return true }
            guard end < deadlines.some else { continue }
            let areMatched = end < deadlines.all ? nil : deadlines.deletesMatchesFirst
            let kind = DayDeletion.Kind(slot: slot.number, areMatched: areMatched)
            if try deleteClicks(of: kind, connection) { return true }
        }
        let long = RowHome.longSlot
        var count = try connection.deleteClicks(of: long, before: deadlines.all.milliseconds)
        if count == 0, deadlines.some > deadlines.all {
            let age = sorted.map { now.milliseconds(since: $0.since) } ?? -1
            if !(0..<Self.searchInterval).contains(age) { sorted = (upTo: deadlines.all, since: now) }
            count = try connection.deleteClicks(
                of: long,
                from: (sorted?.upTo ?? deadlines.all).milliseconds,
                before: deadlines.some.milliseconds,
                areMatched: deadlines.deletesMatchesFirst
            )
            if count == 0 { sorted?.upTo = deadlines.some }
        }
        if count > 0 {
            context.state.noteTraffic()
            return true
        }
        guard try connection.execute(Self.hasTooManyChecks, PendingCheckRecords.maximumStored).count > 0
        else { return false }
        for slot in slots where slot.neededUntil != nil {
            if try deleteChecks(of: slot.number, connection) { return true }
        }
        return false
    }

    /// Deletes all records of checks of a day; returns whether there were any.
    private func deleteChecks(of slot: Int64, _ connection: BlockingConnection) throws(PostgreSQLError)
        -> Bool
    {
        guard try connection.deleteChecks(of: slot) else { return false }
        context.state.noteTraffic()
        return true
    }

    /// Deletes some clicks of a day whose clicks have expired; returns whether there may be more.
    ///
    /// It searches the day block by block. It skips clicks that an erasure has locked, so it repeats the search until a
    /// search of the whole day deletes nothing. After that, it does not read the day again, although matched clicks may
    /// stay there for months.
    private mutating func deleteClicks(of kind: DayDeletion.Kind, _ connection: BlockingConnection)
        throws(PostgreSQLError) -> Bool
    {
        guard !deletedKinds.contains(kind) else { return false }
        var current = deletion.flatMap { $0.kind == kind ? $0 : nil } ?? DayDeletion(kind: kind)
        let end = current.block + DayDeletion.blocksAtOnce
        let isByBlock = try !connection.isCitus()
        let count =
            try isByBlock
            ? connection.deleteClicks(of: kind, in: current.block..<end)
            : connection.deleteClicks(of: kind.slot, before: .max, areMatched: kind.areMatched)
        if count > 0 {
            current.hasDeleted = true
            context.state.noteTraffic()
        }
        let partitions = Partitions(connection: connection)
        if isByBlock, try end < partitions.blockCount(of: .clicks, kind.slot) {
            current.block = end
        } else if current.hasDeleted {
            current = DayDeletion(kind: kind)
        } else {
            deletion = nil
            deletedKinds.insert(kind)
            return false
        }
        deletion = current
        return true
    }

    private static let setNeed = PreparedStatement("UPDATE partitions SET needed_until = $2 WHERE slot = $1")
    /// Stores the latest expiry of deleted clicks: no click that expires later has been deleted.
    fileprivate static let setDeleted: PreparedStatement = """
        INSERT INTO progress VALUES ('deleted_up_to', $1)
        ON CONFLICT (name) DO UPDATE SET value = greatest(progress.value, excluded.value)
        """
    /// Whether there are more records of checks than the maximum; if so, the records of the oldest ended day
    /// are deleted.
    private static let hasTooManyChecks: PreparedStatement =
        "SELECT value FROM progress WHERE name = 'kept_checks' AND value > $1"
}

/// The deletion of the clicks of an ended day, block by block: no index has their expiry.
private struct DayDeletion {
    /// A day, and which of its clicks are deleted: those that launches have consumed, the others, or both (nil).
    struct Kind: Hashable {
        let slot: Int64
        let areMatched: Bool?
    }

    /// The number of blocks in one transaction: some thousand clicks, for whose rows no launch waits.
    static let blocksAtOnce: Int64 = 128

    let kind: Kind
    /// The first block that is not searched yet.
    var block: Int64 = 0
    var hasDeleted = false
}

/// The search for the last expiry of a day's clicks, page by page: a whole day may have millions.
private struct ExpirySearch {
    let slot: Int64
    /// The last click that was read.
    var bucket: Int64 = -1
    var click: Int64 = 0
    var last: Timestamp

    init(of slot: Int64) {
        self.slot = slot
        // The records of checks of a day without clicks are needed up to its end.
        last = Timestamp(milliseconds: (slot + 1) * PartitionJob.day)
    }
}

extension BlockingConnection {
    /// Reads the next clicks of a search; returns false after the last one.
    fileprivate func advance(_ search: inout ExpirySearch) throws(PostgreSQLError) -> Bool {
        let rows = try execute(Self.nextExpiries, search.slot, search.bucket, search.click)
        guard rows.count > 0 else { return false }
        (search.bucket, search.click) = (try rows.value(0, 0), try rows.value(0, 1))
        search.last = max(search.last, Timestamp(milliseconds: try rows.value(0, 2)))
        return true
    }

    private static let nextExpiries: PreparedStatement = """
        SELECT b::int8, id, max(expires_at) OVER () FROM (
        SELECT b, id, expires_at FROM clicks WHERE slot = $1 AND (b, id) > ($2, $3) ORDER BY b, id LIMIT 20000) AS page
        ORDER BY b DESC, id DESC LIMIT 1
        """

    /// Deletes all records of checks of a day; returns whether there were any.
    @discardableResult
    fileprivate func deleteChecks(of slot: Int64) throws(PostgreSQLError) -> Bool {
        let partition = Partitions.name(of: .checks, slot)
        // A drop that was stopped in the middle may have dropped the partition.
        guard try execute(Self.partition, partition.text).count > 0,
            try execute(Self.anyCheck, slot).count > 0
        else { return false }
        // A table that Citus distributes has its rows in shards.
        let isLocal = try !isCitus()
        try transaction { () throws(PostgreSQLError) in
            // An erasure subtracts the records that it deletes, so they must not be counted here as well. Readers do not
            // wait for the count of up to millions of records, but only for what follows.
            let lock: SQLText = "LOCK TABLE \(partition) IN"
            if isLocal { try execute(PreparedStatement("\(lock) SHARE ROW EXCLUSIVE MODE")) }
            let count: Int64 = try execute(PreparedStatement("SELECT count(*) FROM \(partition)")).value(0, 0)
            if isLocal { try execute(PreparedStatement("\(lock) ACCESS EXCLUSIVE MODE")) }
            try execute(Self.uncount, count)
            try execute(PreparedStatement("TRUNCATE \(partition)"))
        }
        return true
    }

    private static let uncount: PreparedStatement =
        "UPDATE progress SET value = value - $1 WHERE name = 'kept_checks'"
    private static let anyCheck = PreparedStatement("SELECT FROM checks WHERE slot = $1 LIMIT 1")
    private static let partition = PreparedStatement("SELECT FROM pg_class WHERE oid = to_regclass($1)")

    /// The maximum number of clicks with a long window that one transaction deletes.
    private static let longClicksAtOnce: Int64 = 200
    /// The maximum number of a day's clicks in a bucket that one transaction deletes on Citus.
    private static let clicksOfDayAtOnce: Int64 = 4096

    /// Deletes some of a slot's clicks that expired before a time, and what refers to them.
    ///
    /// - Parameters:
    ///   - slot: the slot.
    ///   - start: the earliest expiry, in milliseconds.
    ///   - time: the time, in milliseconds.
    ///   - areMatched: true to delete only clicks that launches have consumed, false to delete only the
    ///     others, nil to delete both.
    /// - Returns: the number of deleted clicks.
    /// - Throws: if the transaction failed.
    fileprivate func deleteClicks(
        of slot: Int64,
        from start: Int64 = .min,
        before time: Int64,
        areMatched: Bool? = nil
    ) throws(PostgreSQLError) -> Int {
        try transaction { () throws(PostgreSQLError) in
            let limit = slot == RowHome.longSlot ? Self.longClicksAtOnce : Self.clicksOfDayAtOnce
            let clicks = try deleteClicks(Parameters(time, limit, slot, Self.kind(areMatched), start))
            try deleteReferences(to: clicks, in: slot)
            return clicks.count
        }
    }

    /// Deletes the clicks of a kind in some blocks of their day, and what refers to them; returns their number.
    fileprivate func deleteClicks(of kind: DayDeletion.Kind, in blocks: Range<Int64>)
        throws(PostgreSQLError) -> Int
    {
        try transaction { () throws(PostgreSQLError) in
            let clicks = try execute(
                Self.deleteClicksOfBlocks,
                kind.slot,
                "(\(blocks.lowerBound),0)",
                "(\(blocks.upperBound),0)",
                Self.kind(kind.areMatched)
            ).records(of: ClickRecord.self)
            try deleteReferences(to: clicks, in: kind.slot)
            return clicks.count
        }
    }

    /// The number that represents a kind of clicks in the statements.
    private static func kind(_ areMatched: Bool?) -> Int64 { areMatched.map { $0 ? 1 : 0 } ?? -1 }

    /// Deletes the rows that refer to deleted clicks of a slot, and stores the last expiry.
    private func deleteReferences(to clicks: [ClickRecord], in slot: Int64) throws(PostgreSQLError) {
        guard let last = clicks.map(\.expiresAt.milliseconds).max() else { return }
        let isByBucket = try isCitus()
        for (statement, key) in Self.references {
            let keys = clicks.flatMap { click in key(click).map { (click, $0) } }
            // Without Citus, one statement deletes the rows of all buckets.
            let groups = isByBucket ? Dictionary(grouping: keys, by: { $0.1 & 63 }) : [0: keys]
            for (bucket, keys) in groups {
                let times = keys.map(\.0.facts.clickedAt.milliseconds)
                let (scopes, numbers) = (keys.map(\.0.scope.number), keys.map(\.0.number))
                var parameters = Parameters(scopes, keys.map(\.1), times, numbers, slot)
                if isByBucket { parameters.append(Int64(bucket)) }
                try execute(isByBucket ? statement.ofBucket : statement.plain, parameters)
            }
        }
        try execute(PartitionJob.setDeleted, last)
    }

    private func deleteClicks(_ parameters: Parameters) throws(PostgreSQLError) -> [ClickRecord] {
        guard try isCitus() else { return try execute(Self.deleteClicks, parameters).records() }
        var clicks: [ClickRecord] = []
        for bucket in 0..<Int64(64) {
            var parameters = parameters
            parameters.append(bucket)
            clicks += try execute(Self.deleteClicksOfBucket, parameters).records(of: ClickRecord.self)
        }
        return clicks
    }

    private static let deleteClicksOfBlocks: PreparedStatement = """
        DELETE FROM clicks WHERE slot = $1 AND ctid = ANY (ARRAY(
        SELECT ctid FROM clicks WHERE slot = $1 AND ctid >= $2::text::tid AND ctid < $3::text::tid
        AND ($4 < 0 OR (claimed_at IS NOT NULL) = ($4 = 1)) FOR UPDATE SKIP LOCKED)) RETURNING \(ClickRecord.columns)
        """
    private static let deleteClicks = deleteClicks("slot = $3", by: "ctid")
    /// Deletes by `id`, because a row's position in its table (`ctid`) is not unique on Citus.
    private static let deleteClicksOfBucket = deleteClicks("slot = $3 AND b = $6", by: "id")

    private static func deleteClicks(_ place: SQLText, by column: StaticString) -> PreparedStatement {
        """
        DELETE FROM clicks WHERE \(place) AND \(column) = ANY (ARRAY(
        SELECT \(column) FROM clicks WHERE \(place) AND expires_at >= $5 AND expires_at < $1
        AND ($4 < 0 OR (claimed_at IS NOT NULL) = ($4 = 1)) ORDER BY expires_at LIMIT $2
        FOR UPDATE SKIP LOCKED)) RETURNING \(ClickRecord.columns)
        """
    }
    /// The statements that delete the rows of clicks in other tables, each with the keys of these rows; the
    /// lowest six bits of a key are its bucket.
    private static let references:
        [((plain: PreparedStatement, ofBucket: PreparedStatement), @Sendable (ClickRecord) -> [UInt64])] = [
            (reference("click_index", "slot = $5 AND since = k.time AND hash"), { $0.hashes.map(\.index) }),
            (
                reference("click_addresses", "slot = $5 AND clicked_at = k.time AND near_address"),
                { $0.address.map { [$0.near] } ?? [] }
            ),
            (
                reference("idempotencies", "$5::int8 IS NOT NULL AND idempotency"),
                { $0.idempotency.map { [$0.index] } ?? [] }
            ),
        ]

    private static func reference(_ table: StaticString, _ key: StaticString)
        -> (plain: PreparedStatement, ofBucket: PreparedStatement)
    {
        func text(_ bucket: SQLText) -> SQLText {
            """
            DELETE FROM \(table) AS t USING unnest($1, $2, $3, $4) AS k (scope, key, time, click)
            WHERE b = \(bucket) AND t.scope = k.scope AND t.click = k.click AND \(key) = k.key
            """
        }
        return (PreparedStatement(text("k.key & 63")), PreparedStatement(text("$6")))
    }
}
#endif
