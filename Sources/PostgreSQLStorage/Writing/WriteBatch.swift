#if PostgreSQL
internal import Attribution
internal import PostgreSQL
internal import Storage

/// The open transaction's rows and changes: rows are read before the writes that need them; after the writes, changes
/// are sent as one array for each column.
final class WriteBatch {
    /// The rows that one statement writes.
    private struct Rows: Hashable, Comparable {
        let change: RowChange
        /// Their shard; -1 if the statement writes to all buckets.
        let shard: Int64

        static func < (left: Rows, right: Rows) -> Bool {
            left.change == right.change ? left.shard < right.shard : left.change < right.change
        }
    }
    /// Rows to read by one statement.
    private struct Group<Key: Hashable>: Hashable {
        let key: Key
        /// The shard of these rows, as in ``Rows``.
        let shard: Int64
    }
    /// The changes to send.
    private struct Changes {
        /// The rows to write, by the statement that writes them.
        var rows: [Rows: ColumnArrays] = [:]
        var learnt: [LearntKey: Double] = [:]
        /// The clicks whose answers were marked as delivered or undelivered.
        var marked: Set<Int64> = []
    }
    /// A learnt counter; a write that adds to it also creates it, if the database may store further counters of its
    /// family (`hasRoom`).
    struct LearntKey: Hashable {
        let scope: Scope
        let key: CounterKey
        let hasRoom: Bool
    }

    let connection: WriterConnection
    private let slots: SlotTable
    /// The shards of Citus; each statement reads or writes one of them.
    let shards: BucketShards
    /// The rows that the transaction has read and changed.
    var rows = TransactionRows()
    private var changes = Changes()
    /// The transaction's additions to counts of links and to named values; at the end of the transaction,
    /// `payload` also gets the additions to other counts.
    var payload = CountPayload() { didSet { changeCount += 1 } }
    private var saved: (rows: TransactionRows, changes: Changes, payload: CountPayload)?
    private var statements: [SlotStatement: PreparedStatement] = [:]
    /// The slots that writes need and that have no partitions; their partitions are made before the next transaction.
    private var missingSlots: Set<Int64> = []
    /// A number that every change raises.
    private(set) var changeCount: Int64 = 0
    private var clearedCount: Int64 = 0
    /// Whether to publish the apps and keys after the transaction, because another server may have changed them.
    var mustReadDirectory = false
    /// The time of the last claim that the transaction has inserted.
    var lastClaim: Timestamp?
    /// The newest click that was inserted.
    private var newest: Int64 = 0
    /// The newest click that was moved from another database; 0 for none.
    var movedUpTo: Int64 = 0
    /// The identifiers of links, which never change.
    private var linkIDs: [Int64: LinkID] = [:]

    /// If the writer has made more statements than this, it renews the connection: PostgreSQL keeps all of
    /// them, and each day has statements of its own.
    private static let maximumStatements = 64
    private static let maximumLinkIDs = 20_000

    init(_ connection: WriterConnection, _ slots: SlotTable, shards: BucketShards = BucketShards()) {
        (self.connection, self.slots, self.shards) = (connection, slots, shards)
    }

    /// Adds a row to the rows that a statement writes.
    func append(_ change: RowChange, _ write: (inout ColumnArrays) -> Void) {
        changeCount += 1
        let bucket =
            shards.isCitus
            ? change.bucketColumn.map { ColumnArrays.bucket(in: $0, of: change.columns, write) } : nil
        let rows = Rows(change: change, shard: bucket.flatMap(shards.shard) ?? -1)
        changes.rows[rows, default: ColumnArrays(change.columns)].append(write)
    }

    /// Executes a statement that reads or locks, and changes nothing.
    @discardableResult
    func look<each Value: PostgreSQLValue>(_ statement: PreparedStatement, _ values: repeat each Value)
        throws(PostgreSQLError) -> ResultRows
    { try connection.run(statement, Parameters(repeat each values)) }

    /// Executes a statement at once; for changes that are rare.
    @discardableResult
    func run<each Value: PostgreSQLValue>(_ statement: PreparedStatement, _ values: repeat each Value)
        throws(PostgreSQLError) -> ResultRows
    {
        changeCount += 1
        return try connection.run(statement, Parameters(repeat each values))
    }

    /// Executes a statement that takes records as arrays.
    @discardableResult
    func run(_ statement: PreparedStatement, _ records: ColumnArrays) throws(PostgreSQLError) -> ResultRows {
        changeCount += 1
        return try connection.run(statement, records.parameters)
    }

    func add(_ sum: Double, to key: LearntKey) {
        changeCount += 1
        changes.learnt[key, default: 0] += sum
    }

    /// Changes the additions to learnt counters that are not sent yet; nil drops an addition.
    func changeLearnt(_ change: (LearntKey, Double) -> Double?) {
        changes.learnt = changes.learnt.reduce(into: [:]) { $0[$1.key] = change($1.key, $1.value) }
    }

    /// Sends the matches of the transaction's claims; call it before writing events, which may be credited to these
    /// matches.
    func sendInstalls() throws(PostgreSQLError) { try send(.attributedInstall) }

    /// Sends the transaction's events of the outbox, so that an erasure that follows deletes these, too.
    func sendPostbacks() throws(PostgreSQLError) {
        try send(.outboxEvent)
        try send(.postback)
    }

    /// Sends the deletions of records of checks; returns how many records were deleted.
    func sendErasedChecks() throws(PostgreSQLError) -> Int64 {
        var count: Int64 = 0
        for (rows, arrays) in changes.rows.sorted(by: { $0.key < $1.key }) {
            guard case .erasedCheck = rows.change else { continue }
            changes.rows[rows] = nil
            var parameters = arrays.parameters
            if rows.shard >= 0 { parameters.append(shards.buckets(of: rows.shard)) }
            count += Int64(try connection.run(statement(.change(rows.change)), parameters).affectedCount)
        }
        return count
    }

    private func send(_ change: RowChange) throws(PostgreSQLError) {
        guard let arrays = changes.rows.removeValue(forKey: Rows(change: change, shard: -1)) else { return }
        _ = try connection.run(statement(.change(change)), arrays.parameters)
    }

    func mark(_ click: Int64) {
        changeCount += 1
        changes.marked.insert(click)
    }

    /// Requires partitions for a row, and throws if there are none: then they are made, and the batch is done again.
    func require(_ slot: Int64) throws(PostgreSQLError) {
        guard !slots.use(slot) else { return }
        missingSlots.insert(slot)
        throw PostgreSQLError(.serializationFailure, "The partitions of slot \(slot) are missing.")
    }

    /// Returns the slots that writes have needed and that had no partitions.
    func takeMissingSlots() -> Set<Int64> {
        defer { missingSlots = [] }
        return missingSlots
    }

    /// Drops all statements if there are too many; returns whether it did.
    func dropStatements() -> Bool {
        guard statements.count > Self.maximumStatements else { return false }
        statements = [:]
        return true
    }

    private func statement(_ statement: SlotStatement) -> PreparedStatement {
        if let made = statements[statement] { return made }
        let made = PreparedStatement(statement.text(onCitus: shards.isCitus))
        statements[statement] = made
        return made
    }
}

/// The ends of a transaction.
extension WriteBatch {
    func savepoint() { saved = (rows, changes, payload) }
    func undo() { if let saved { (rows, changes, payload) = saved } }

    func clear() {
        (rows, changes, saved) = (TransactionRows(), Changes(), nil)
        if !payload.isEmpty { payload = CountPayload() }
        (lastClaim, clearedCount, mustReadDirectory) = (nil, changeCount, false)
    }

    /// Whether the transaction has changed nothing.
    var isEmpty: Bool { changeCount == clearedCount }

    /// Appends the statements that write the rows and the learnt counters, in the order of ``RowChange``.
    ///
    /// This order, and the order of the rows of each statement, are the same in all transactions. So if two servers
    /// write the same rows, the second server waits for the first one. Both may wait for each other only if one of them
    /// may not create some learnt counters. Then PostgreSQL ends one transaction, and its batch is done again.
    func flush(to steps: inout StatementBatch) {
        for (key, sum) in changes.learnt {
            append(key.hasRoom ? .learntCounter : .knownCounter) { row in
                row.put("scope", key.scope.number)
                row.put("family", Int64(key.key.family.rawValue))
                row.put("key", key.key.key)
                row.put("value", sum)
            }
        }
        for number in changes.marked { appendMark(of: number) }
        for (rows, arrays) in changes.rows.sorted(by: { $0.key < $1.key }) {
            var parameters = arrays.parameters
            if rows.shard >= 0 { parameters.append(shards.buckets(of: rows.shard)) }
            steps.append(statement(.change(rows.change)), parameters)
        }
        changes = Changes()
    }

    /// Writes whether an answer was delivered, also to the index row by which the next check finds the click.
    private func appendMark(of number: Int64) {
        guard let row = rows.clicks[number] ?? nil, let claim = row.claim else { return }
        let slot = RowHome(of: number).slot
        append(.delivery(slot: slot)) { values in
            values.put("click", number)
            values.put("is_undelivered", claim.isUndelivered)
            values.put("caller", "caller_rest", claim.caller)
            values.put("install", "install_rest", claim.install)
        }
        guard row.click.hashes.contains(claim.hash) else { return }
        append(.closedDelivery(slot: slot)) { values in
            values.put("scope", claim.scope.number)
            values.put("hash", claim.hash.index)
            values.put("since", row.click.facts.clickedAt)
            values.put("click", number)
            values.put("is_undelivered", claim.isUndelivered)
            values.put("caller", claim.caller?.index)
        }
    }

    /// Appends the transaction's counts; `bucket` is this server's bucket in `count_deltas`.
    func flushCounts(to steps: inout StatementBatch, bucket: Int64) {
        guard !payload.isEmpty else { return }
        steps.append(Self.insertDelta, bucket, payload.bytes)
        payload = CountPayload()
    }

    private static let insertDelta: PreparedStatement =
        "INSERT INTO count_deltas (b, payload) VALUES ($1::int8, $2)"
}

/// Reads and locks rows.
extension WriteBatch {
    /// Reads, in one trip, what the writes of a batch need, and in a second trip the clicks that installations and
    /// idempotency keys refer to.
    ///
    /// If a write limits the clicks of a link, an earlier trip reads whether the link has a limit already.
    func prepare(_ writes: some Collection<Write>, _ transaction: WriteTransaction<PostgreSQLWriter>)
        throws(PostgreSQLError)
    {
        var needs = RowNeeds()
        (needs.newest, needs.movedUpTo) = (newest, movedUpTo)
        for write in writes { try needs.add(write, transaction) }
        if !needs.limitedLinks.isEmpty {
            let unlimited = try connection.run(RowReads.unlimited, Parameters(needs.limitedLinks))
            needs.startsLimit = unlimited.count > 0
        }
        needs.targets = transaction.readsTargets
        try read(needs)
        if needs.targets, !needs.isEmpty {
            transaction.setTargets(rows.endpoints, appsWithClickIDs: rows.appsWithClickIDs)
        }
        var named = RowNeeds()
        named.clicks =
            needs.installs.compactMap { rows.installs[$0]??.click }
            + needs.idempotencies.compactMap { rows.idempotencies[$0] ?? nil }
        named.clicks.removeAll(where: rows.isLocked)
        try read(named)
    }

    /// Reads rows that were not prepared.
    func read(_ add: (inout RowNeeds) -> Void) throws(PostgreSQLError) {
        var needs = RowNeeds()
        needs.movedUpTo = movedUpTo
        add(&needs)
        try read(needs)
    }

    /// Reads rows in one trip; locks those of installations, clicks, links and epochs, in this order.
    func read(_ needs: RowNeeds) throws(PostgreSQLError) {
        guard !needs.isEmpty else { return }
        let clicks = grouped(needs.clicks) {
            (VisitHome(of: $0, movedUpTo: movedUpTo), UInt64(bitPattern: $0))
        }
        .sorted { left, right in
            left.key.key == right.key.key
                ? left.key.shard < right.key.shard : left.key.key < right.key.key
        }
        let installs = grouped(needs.installs) { (0, $0.hash.index) }.sorted { $0.key.shard < $1.key.shard }
        let idempotencies = grouped(needs.idempotencies) { (0, $0.hash.index) }
        let posts = grouped(needs.posts) { ($0.home, $0.visit) }
        let visitors = grouped(needs.visitors) { ($0.slots, $0.key.hash.index) }
        var readers: [(inout ResultRow) throws(PostgreSQLError) -> Void] = []
        let results = try connection.run { steps in
            func ask(
                _ statement: PreparedStatement,
                _ parameters: Parameters,
                _ read: @escaping (inout ResultRow) throws(PostgreSQLError) -> Void
            ) {
                steps.append(statement, parameters)
                readers.append(read)
            }
            func ask(
                _ slotStatement: SlotStatement,
                _ shard: Int64,
                _ parameters: Parameters,
                _ read: @escaping (inout ResultRow) throws(PostgreSQLError) -> Void
            ) {
                var parameters = parameters
                if shards.isCitus { parameters.append(shards.buckets(of: shard)) }
                ask(statement(slotStatement), parameters, read)
            }
            if !needs.eventKeys.isEmpty {
                let keys = Array(needs.eventKeys)
                ask(EventLocks.take, Parameters(keys.map(\.key.key), keys.map { $0.value ? 1 : 0 as Int64 }))
                {
                    _ in
                }
            }
            for (group, keys) in installs { ask(.installs, group.shard, Parameters(keys), addInstall) }
            for (group, numbers) in clicks {
                ask(.clicks(group.key), group.shard, Parameters(numbers), addLockedClick)
            }
            if !needs.claimKeys.isEmpty {
                let keys = Array(Set(needs.claimKeys))
                ask(EventLocks.waiting, Parameters(keys.map(\.scope.number), keys.map(\.key))) { [self] in
                    let scope = Scope(number: $0.get("scope"))
                    rows.eventKeys[EventKey(scope: scope, key: $0.get("key"))] = true
                }
            }
            if needs.startsLimit { ask(RowReads.waitForClicks, Parameters()) { _ in } }
            if !needs.links.isEmpty {
                ask(RowReads.lockLimits, Parameters(needs.links)) { _ in }
                ask(RowReads.lockUncounted, Parameters(needs.links)) { _ in }
                ask(RowReads.limits, Parameters(needs.links), addLimits)
            }
            for (group, posts) in posts { ask(.posts(group.key), group.shard, Parameters(posts), addPost) }
            for (group, keys) in idempotencies {
                ask(.idempotencies, group.shard, Parameters(keys), addIdempotency)
            }
            if !needs.learning.isEmpty {
                ask(RowReads.epochs, Parameters(needs.learning.map(\.number)), addEpoch)
            }
            for (group, visitors) in visitors {
                ask(.visitors(group.key), group.shard, Parameters(visitors)) { [self] in
                    addVisit(&$0, of: visitors)
                }
            }
            if needs.targets {
                ask(PostgreSQLReader.selectEndpoints, Parameters()) { [self] row throws(PostgreSQLError) in
                    rows.endpoints.append(try row.record(EndpointRecord.self))
                }
                ask(PostgreSQLReader.selectApps, Parameters()) { [self] in
                    rows.appsWithClickIDs.append($0.get("number"))
                }
            }
        }
        addAbsence(needs)
        for (result, read) in zip(results, readers) {
            for index in 0..<result.count {
                var row = ResultRow(result, index)
                try read(&row)
            }
        }
        for number in needs.clicks { rows.addMissing(number) }
    }

    /// Groups rows by a key and, on Citus, by the shard of a hash.
    private func grouped<Row, Key: Hashable>(_ rows: [Row], by key: (Row) -> (key: Key, hash: UInt64))
        -> [Group<Key>: [Row]]
    {
        Dictionary(grouping: rows) { row in
            let (key, hash) = key(row)
            return Group(key: key, shard: shards.shard(of: Int64(bitPattern: hash)) ?? -1)
        }
    }

    /// Records that the rows do not exist; the caller then replaces these records by the rows that it found.
    private func addAbsence(_ needs: RowNeeds) {
        if needs.targets { (rows.endpoints, rows.appsWithClickIDs) = ([], []) }
        for key in needs.installs where rows.installs[key] == nil {
            rows.installs.updateValue(nil, forKey: key)
        }
        for key in needs.idempotencies where rows.idempotencies[key] == nil {
            rows.idempotencies.updateValue(nil, forKey: key)
        }
        for link in needs.links where rows.links[link] == nil { rows.links.updateValue(nil, forKey: link) }
        for key in needs.claimKeys { rows.eventKeys[key] = false }
        for scope in needs.learning { rows.epochs.updateValue(nil, forKey: scope) }
        for post in needs.posts { rows.add([], to: post.hash) }
        for visitor in needs.visitors { rows.visits[visitor] = rows.visits[visitor] ?? [] }
    }

    private func addInstall(_ row: inout ResultRow) {
        let key = ScopedHash(scope: Scope(number: row.get("scope")), hash: row.get("install", "install_rest"))
        rows.installs[key] = TransactionRows.Pointer(click: row.get("click"), until: row.get("until"))
    }

    private func addIdempotency(_ row: inout ResultRow) {
        let scope = Scope(number: row.get("scope"))
        let key = ScopedHash(scope: scope, hash: row.get("idempotency", "idempotency_rest"))
        rows.idempotencies[key] = row.get("click") as Int64
    }

    private func addEpoch(_ row: inout ResultRow) {
        let scope = Scope(number: row.get("scope"))
        let epoch = LearningEpoch(began: row.get("began_at"), landmark: row.get("landmark"))
        rows.epochs.updateValue(epoch, forKey: scope)
    }

    private func addLimits(_ row: inout ResultRow) {
        let number: Int64 = row.get("number")
        let id = LinkID(high: row.get("id_high"), low: row.get("id_low"))
        rows.links[id] = LinkLimits(
            number: number,
            isArchived: row.get("is_archived"),
            expiresAt: row.get("expires_at"),
            maximumClicks: row.get("maximum_clicks"),
            clicks: row.get("clicks")
        )
        note(id, ofLink: number)
    }

    private func addLockedClick(_ row: inout ResultRow) throws(PostgreSQLError) {
        _ = try click(&row, isLocked: true)
    }

    private func addPost(_ row: inout ResultRow) throws(PostgreSQLError) {
        let click = try click(&row, isLocked: false)
        rows.add([click.number], to: ScopedHash(scope: click.scope, hash: click.post))
    }

    private func click(_ row: inout ResultRow, isLocked: Bool) throws(PostgreSQLError) -> ClickRecord {
        let (isClaimed, isRetired): (Bool, Bool) = (row.get("is_claimed"), row.get("is_retired"))
        let click = try row.record(ClickRecord.self)
        let claim = isClaimed ? try row.record(ClaimRecord.self) : nil
        let wasOpen = claim == nil && !isRetired && !click.facts.isRobot
        rows.add(ClickRow(click: click, claim: claim, wasOpen: wasOpen, isLocked: isLocked))
        return click
    }

    private func addVisit(_ row: inout ResultRow, of visitors: [RowNeeds.Visitor]) {
        let number: Int = row.get("n")
        guard visitors.indices.contains(number - 1) else { return }
        rows.visits[visitors[number - 1], default: []].append(row.get("visit"))
    }

    /// Returns a click's row, read and locked if the transaction does not have it.
    func click(_ number: Int64) throws(PostgreSQLError) -> ClickRow? {
        if let known = rows.clicks[number] { return known }
        try read { $0.clicks = [number] }
        return rows.clicks[number] ?? nil
    }

    func note(_ id: LinkID, ofLink number: Int64) {
        if linkIDs.count >= Self.maximumLinkIDs { linkIDs = [:] }
        linkIDs[number] = id
    }

    func linkID(_ number: Int64) throws(PostgreSQLError) -> LinkID? {
        if let known = linkIDs[number] { return known }
        let id = try connection.reader().linkID(numbered: number)
        if let id { note(id, ofLink: number) }
        return id
    }

    /// Notes the newest click; a failure of the transaction does not undo this.
    func noteNewest(_ click: Int64) { newest = max(newest, click) }
}
#endif
