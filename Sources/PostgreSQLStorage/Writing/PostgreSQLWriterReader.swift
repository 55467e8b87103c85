#if PostgreSQL
internal import Attribution
internal import PostgreSQL
internal import Storage

/// Reads in the open transaction: from the rows in memory, which have its changes, else from the database.
struct PostgreSQLWriterReader: WriterReader {
    let batch: WriteBatch

    /// Reads what the rows in memory do not have.
    var reader: PostgreSQLReader { get throws(PostgreSQLError) { try batch.connection.reader() } }
}

/// Clicks, claims and links.
extension PostgreSQLWriterReader {
    func click(numbered number: Int64) throws(PostgreSQLError) -> ClickRecord? {
        try batch.click(number)?.click
    }

    func claim(ofClick number: Int64) throws(PostgreSQLError) -> ClaimRecord? {
        try batch.click(number)?.claim
    }

    func claimTime(ofClick number: Int64) throws(PostgreSQLError) -> Timestamp? {
        try batch.click(number)?.claim?.claimedAt
    }

    func claim(ofInstall hash: KeyedHash, in scope: Scope, at now: Timestamp) throws(PostgreSQLError)
        -> ClaimRecord?
    {
        let key = ScopedHash(scope: scope, hash: hash)
        if batch.rows.installs[key] == nil { try batch.read { $0.installs = [key] } }
        guard let pointer = batch.rows.installs[key] ?? nil, pointer.until >= now,
            let claim = try batch.click(pointer.click)?.claim, claim.install == hash
        else { return nil }
        return claim
    }

    func click(ofPost post: KeyedHash, visit: KeyedHash, in scope: Scope, recordedAt: Timestamp)
        throws(PostgreSQLError) -> Int64?
    {
        let key = ScopedHash(scope: scope, hash: post)
        if batch.rows.posts[key] == nil {
            let slots = Slots.around(recordedAt, 0) + [RowHome.longSlot]
            try batch.read { $0.add(post, of: visit, scope, at: recordedAt, in: slots) }
        }
        let span = RowNeeds.Post.span
        return (batch.rows.posts[key] ?? []).filter { number in
            guard let click = (batch.rows.clicks[number] ?? nil)?.click, click.post == post else {
                return false
            }
            return abs(click.facts.recordedAt.milliseconds(since: recordedAt)) <= span
        }.max()
    }

    func click(ofIdempotency key: KeyedHash, in scope: Scope) throws(PostgreSQLError) -> Int64? {
        let key = ScopedHash(scope: scope, hash: key)
        if let known = batch.rows.idempotencies[key] { return known }
        try batch.read { $0.idempotencies = [key] }
        return batch.rows.idempotencies[key] ?? nil
    }

    func visits(ofVisitor visitor: UInt64, _ search: VisitSearch) throws(PostgreSQLError) -> [UInt64] {
        let key = ScopedHash(scope: search.scope, hash: search.key)
        let asked = RowNeeds.Visitor(visitor: visitor, key: key, first: search.first, last: search.last)
        if let known = batch.rows.visits[asked] { return known }
        try batch.read { $0.visitors = [asked] }
        return batch.rows.visits[asked] ?? []
    }

    /// Finds the clicks in memory: a claimed click was locked together with all clicks of its visit from the
    /// ten minutes before.
    func clicks(ofVisit visit: UInt64, near: UInt64?, _ search: VisitSearch) -> [Int64] {
        batch.rows.clicks(ofVisit: visit).filter { row in
            let click = row.click
            return row.wasOpen && row.closed.isEmpty && click.scope == search.scope
                && click.facts.clickedAt >= search.first && click.facts.clickedAt <= search.last
                && click.hashes.contains(search.key) && (near == nil || near == click.address?.near)
        }.map(\.click.number)
    }

    func limits(of link: LinkID) throws(PostgreSQLError) -> LinkLimits? {
        if batch.rows.links[link] == nil { try batch.read { $0.links = [link] } }
        return batch.rows.links[link] ?? nil
    }

    func linkID(numbered number: Int64) throws(PostgreSQLError) -> LinkID? { try batch.linkID(number) }

    // A writer of PostgreSQL needs none of the next three reads: servers do not read each other's clicks, and no write
    // closes or deletes single expired clicks.
    func posts(from click: Int64, atMost limit: Int) -> [StoredPost] { [] }
    func hashes(after click: Int64, atMost limit: Int, _ body: ([KeyedHash]) -> Void) {}
    func clicks(expiringFrom start: Timestamp, before end: Timestamp, atMost limit: Int) -> [ClickRecord] {
        []
    }
}

/// Apps, keys, links and sessions, for the audit log; all but sessions are locked, so that no other server
/// changes them before the commit.
extension PostgreSQLWriterReader {
    func directoryVersion() throws(PostgreSQLError) -> Int64 { try reader.directoryVersion() }

    func directorySnapshot() throws(PostgreSQLError) -> DirectoryCache.Snapshot {
        try batch.look(Self.lockDirectory)
        // A refusal may be due to another server's change, and then the apps in memory are old.
        batch.mustReadDirectory = true
        return try reader.directorySnapshot()
    }

    func link(_ id: LinkID) throws(PostgreSQLError) -> StoredLink? {
        try batch.lock(id)
        return try reader.link(id)
    }

    func fields(ofLink number: Int64, _ body: (_ name: String, _ text: String) -> Void)
        throws(PostgreSQLError)
    { try reader.fields(ofLink: number, body) }

    func session(_ digest: KeyDigest) throws(PostgreSQLError) -> SessionRecord? { try reader.session(digest) }
    func sessions() throws(PostgreSQLError) -> [SessionRecord] { try reader.sessions() }
    func dashboards() throws(PostgreSQLError) -> [(server: Int64, url: String)] { try reader.dashboards() }

    private static let lockDirectory: PreparedStatement =
        "SELECT pg_advisory_xact_lock(\(AdvisoryLock.directory.rawValue))"
}

/// Other subjects, which the database's reader reads.
extension PostgreSQLWriterReader {
    func number(of app: AppID) throws(PostgreSQLError) -> Int64? { try reader.number(of: app) }
    func newestClick() throws(PostgreSQLError) -> Int64 { try reader.newestClick() }
    func newestCheck() throws(PostgreSQLError) -> Int64 { try reader.newestCheck() }
    func value(of name: StoredValue) throws(PostgreSQLError) -> Int64? { try reader.value(of: name) }
    func numberedApps() throws(PostgreSQLError) -> [NumberedApp] { try reader.numberedApps() }

    func storedProgress(of name: String) throws(PostgreSQLError) -> Int64? {
        try reader.storedProgress(of: name)
    }

    func formerServerKeys() throws(PostgreSQLError) -> [UInt64: Timestamp] { try reader.formerServerKeys() }

    func countedNames(of dimension: Dimension, _ scope: Scope, in period: Timestamp) throws(PostgreSQLError)
        -> [String]
    { try reader.countedNames(of: dimension, scope, in: period) }

    func campaign(hashed hash: UInt64, _ expected: PendingCheckRecords.Expected, in scope: Scope)
        throws(PostgreSQLError) -> String?
    { try reader.campaign(hashed: hash, expected, in: scope) }

    func learningEpoch(of scope: Scope) throws(PostgreSQLError) -> LearningEpoch? {
        if let known = batch.rows.epochs[scope] { return known }
        try batch.read { $0.learning = [scope] }
        return batch.rows.epochs[scope] ?? nil
    }

    func modelSums(of scope: Scope) throws(PostgreSQLError) -> [CounterKey: Double] {
        try reader.modelSums(of: scope)
    }

    func openClicks(
        of key: KeySummary.Key,
        before position: RowPosition,
        atMost limit: Int,
        _ body: (IndexRecord) -> Void
    ) throws(PostgreSQLError) { try reader.openClicks(of: key, before: position, atMost: limit, body) }

    func learntSums(of scope: Scope, _ family: CounterFamily, after key: Int64, atMost limit: Int)
        throws(PostgreSQLError) -> [(key: Int64, sum: Double)]
    { try reader.learntSums(of: scope, family, after: key, atMost: limit) }
}
#endif
