public import Attribution

/// The posts of the last seconds, by which a repeated one is recognised.
///
/// Writer's thread only.
///
/// In memory, because an index over a random hash would make each click touch a page more, and only ten seconds
/// of it would ever be asked for. After a start, and where another process writes too, what is missing is read from
/// the end of the clicks.
public struct RecentPosts {
    /// A post as the database has it.
    public struct Stored: Sendable {
        let click: Int64
        let scope: Scope
        let hash: KeyedHash
        let recordedAt: Timestamp

        public init(click: Int64, scope: Scope, hash: KeyedHash, recordedAt: Timestamp) {
            self.click = click
            self.scope = scope
            self.hash = hash
            self.recordedAt = recordedAt
        }
    }
    private struct Post: Hashable {
        let scope: Scope
        let hash: KeyedHash
    }
    private struct Entry {
        let click: Int64
        let recordedAt: Timestamp
    }
    /// A step of the open transaction, and what it takes to go back.
    private enum Change {
        case entry(Post, replaced: Entry?)
        case generation(dropped: [Post: Entry], start: Timestamp)
    }

    /// Equal posts within this time are one click.
    public static let spanMilliseconds: Int64 = 10_000

    /// Two generations, each of one span: the older one is dropped as a whole.
    private var current: [Post: Entry] = [:]
    private var previous: [Post: Entry] = [:]
    private var startOfCurrent = Timestamp(milliseconds: .min)
    /// The newest click on disk that was looked at.
    public private(set) var newest: Int64 = 0
    /// What the open transaction has changed here, in order.
    private var changes: [Change] = []
    /// The newest click that was added.
    private var added: Int64 = 0

    public init() {}

    /// The click that a post repeats.
    public func click(of scope: Scope, _ hash: KeyedHash, recordedAt: Timestamp) -> Int64? {
        let post = Post(scope: scope, hash: hash)
        return Self.click(of: current[post], recordedAt) ?? Self.click(of: previous[post], recordedAt)
    }

    public mutating func add(_ click: Int64, of scope: Scope, _ hash: KeyedHash, recordedAt: Timestamp) {
        if let dropped = turn(at: recordedAt) { changes.append(dropped) }
        let post = Post(scope: scope, hash: hash)
        let replaced = current.updateValue(Entry(click: click, recordedAt: recordedAt), forKey: post)
        changes.append(.entry(post, replaced: replaced))
        added = click
    }

    public mutating func commit() {
        if !changes.isEmpty { newest = added }
        changes.removeAll(keepingCapacity: true)
    }

    /// Puts back what was here at the last commit.
    public mutating func rollback() {
        for change in changes.reversed() {
            switch change {
            case .entry(let post, let replaced): current[post] = replaced
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

    /// Adds posts that were read from the database, oldest first, and records which of its clicks is the newest.
    public mutating func catchUp(with posts: some Sequence<Stored>, newest click: Int64) {
        for post in posts {
            _ = turn(at: post.recordedAt)
            current[Post(scope: post.scope, hash: post.hash)] = Entry(
                click: post.click,
                recordedAt: post.recordedAt
            )
        }
        newest = click
    }

    private static func click(of entry: Entry?, _ recordedAt: Timestamp) -> Int64? {
        guard let entry, isClose(entry.recordedAt, recordedAt) else { return nil }
        return entry.click
    }

    private static func isClose(_ one: Timestamp, _ other: Timestamp) -> Bool {
        let difference = one.milliseconds(since: other)
        return difference >= -spanMilliseconds && difference <= spanMilliseconds
    }
}
