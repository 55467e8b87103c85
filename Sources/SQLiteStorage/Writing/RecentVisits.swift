internal import Attribution
internal import SQLite

/// The visits of the last seconds, which a repeated post is recognised by.
///
/// Writer's thread only.
///
/// In memory, because an index over a random hash would make each click touch a page more, and only ten seconds
/// of it would ever be asked for. After a start, and where another process writes too, what is missing is read from
/// the end of the clicks.
struct RecentVisits {
    private struct Visit: Hashable {
        let scope: Scope
        let hash: KeyedHash
    }
    private struct Entry {
        let click: Int64
        let recordedAt: Timestamp
    }
    /// A step of the open transaction, and what it takes to go back.
    private enum Change {
        case entry(Visit, replaced: Entry?)
        case generation(dropped: [Visit: Entry], start: Timestamp)
    }

    /// Posts of one visit within this time are one click.
    static let spanMilliseconds: Int64 = 10_000

    /// Two generations, each of one span: the older one is dropped as a whole.
    private var current: [Visit: Entry] = [:]
    private var previous: [Visit: Entry] = [:]
    private var startOfCurrent = Timestamp(milliseconds: .min)
    /// The newest click on disk that was looked at.
    private(set) var newest: Int64 = 0
    /// What the open transaction has changed here, in order.
    private var changes: [Change] = []
    /// The newest click that was added.
    private var added: Int64 = 0

    /// The click that a post repeats.
    func click(of scope: Scope, _ hash: KeyedHash, recordedAt: Timestamp) -> Int64? {
        let visit = Visit(scope: scope, hash: hash)
        return Self.click(of: current[visit], recordedAt) ?? Self.click(of: previous[visit], recordedAt)
    }

    mutating func add(_ click: Int64, of scope: Scope, _ hash: KeyedHash, recordedAt: Timestamp) {
        if let dropped = turn(at: recordedAt) { changes.append(dropped) }
        let visit = Visit(scope: scope, hash: hash)
        let replaced = current.updateValue(Entry(click: click, recordedAt: recordedAt), forKey: visit)
        changes.append(.entry(visit, replaced: replaced))
        added = click
    }

    mutating func commit() {
        if !changes.isEmpty { newest = added }
        changes.removeAll(keepingCapacity: true)
    }

    /// Puts back what was here at the last commit.
    mutating func rollback() {
        for change in changes.reversed() {
            switch change {
            case .entry(let visit, let replaced): current[visit] = replaced
            case .generation(let dropped, let start):
                current = previous
                previous = dropped
                startOfCurrent = start
            }
        }
        changes.removeAll(keepingCapacity: true)
    }

    /// Begins a generation when the present one has lasted its time, and says what went for it.
    ///
    /// A clock that was set back begins one, too.
    private mutating func turn(at moment: Timestamp) -> Change? {
        guard !Self.isClose(startOfCurrent, moment) else { return nil }
        let change = Change.generation(dropped: previous, start: startOfCurrent)
        previous = current
        current = [:]
        startOfCurrent = moment
        return change
    }

    /// Reads the visits of the last seconds before the newest click, unless that was longer ago.
    mutating func load(from connection: SQLiteConnection, at now: Timestamp) throws(SQLiteError) {
        let last = try connection.integer("SELECT ifnull(max(id), 0) FROM clicks")
        guard now.milliseconds <= last >> 16 + Self.spanMilliseconds else {
            newest = last
            return
        }
        try catchUp(to: last, from: connection)
    }

    /// Reads what another process has recorded, given the database's newest click as the transaction begins.
    ///
    /// Identifiers grow from commit to commit, whichever process makes it: without another one, the newest click is
    /// the one known here, and nothing is read. It is an older one only when newer ones have been deleted.
    mutating func catchUp(to last: Int64, from connection: SQLiteConnection) throws(SQLiteError) {
        guard last != newest else { return }
        let first = last - Self.spanMilliseconds << 16
        let visits = try connection.statement(Self.recent).all(
            last > newest ? max(first, newest + 1) : first,
            Self.loadLimit
        ) { row in
            let hash = KeyedHash(
                index: UInt64(bitPattern: row.integer(2)),
                rest: UInt64(bitPattern: row.integer(3))
            )
            let entry = Entry(click: row.integer(0), recordedAt: Timestamp(milliseconds: row.integer(4)))
            return (visit: Visit(scope: Scope(number: row.integer(1)), hash: hash), entry: entry)
        }
        // Newest first: the last one to be put in is the one that counts.
        for (visit, entry) in visits.reversed() {
            _ = turn(at: entry.recordedAt)
            current[visit] = entry
        }
        newest = last
    }

    private static func click(of entry: Entry?, _ recordedAt: Timestamp) -> Int64? {
        guard let entry, isClose(entry.recordedAt, recordedAt) else { return nil }
        return entry.click
    }

    private static func isClose(_ one: Timestamp, _ other: Timestamp) -> Bool {
        let difference = one.milliseconds(since: other)
        return difference >= -spanMilliseconds && difference <= spanMilliseconds
    }

    /// So many are read in some 50 ms.
    ///
    /// After a kill under a load of more than 6,000 clicks a second, a post may be recorded twice if its
    /// first answer was lost: better than a start that takes long.
    private static let loadLimit: Int64 = 65_536

    static let recent: StaticString = """
        SELECT id, scope, visit, visit_rest, recorded_at FROM clicks WHERE id >= ?1 ORDER BY id DESC LIMIT ?2
        """
}
