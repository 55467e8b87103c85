public import Attribution

/// A stored post: a request that reported a click.
public struct StoredPost: Sendable {
    let click: Int64
    let scope: Scope
    let hash: KeyedHash
    let recordedAt: Timestamp

    public init(click: Int64, scope: Scope, hash: KeyedHash, recordedAt: Timestamp) {
        (self.click, self.scope, self.hash, self.recordedAt) = (click, scope, hash, recordedAt)
    }
}

/// The posts of the last ten seconds, to recognise repeated posts.
///
/// Only the writing thread uses it.
///
/// The posts are in memory: with an index of posts, each click would write another page, although only the last ten
/// seconds of the index would be read. After a start, and when another process has written, the missing posts are read
/// from the newest clicks.
struct RecentPosts {
    private struct Post: Hashable {
        let scope: Scope
        let hash: KeyedHash
    }
    private struct Entry {
        let click: Int64
        let recordedAt: Timestamp
    }
    /// A change in the open transaction, with the values that undo it.
    private enum Change {
        case entry(Post, replaced: Entry?)
        case generation(dropped: [Post: Entry], start: Timestamp)
    }

    /// Equal posts within this time are one click.
    static let spanMilliseconds: Int64 = 10_000

    /// Two generations of one span each; the older one is dropped as a whole.
    private var current: [Post: Entry] = [:]
    private var previous: [Post: Entry] = [:]
    private var startOfCurrent = Timestamp(milliseconds: .min)
    /// The newest click on disk whose post was read or added.
    private(set) var newest: Int64 = 0
    /// The changes of the open transaction, in order.
    private var changes: [Change] = []
    /// The newest click that was added.
    private var added: Int64 = 0

    /// Returns the click that a post repeats; nil if the post is new.
    func click(of scope: Scope, _ hash: KeyedHash, recordedAt: Timestamp) -> Int64? {
        let post = Post(scope: scope, hash: hash)
        return Self.click(of: current[post], recordedAt) ?? Self.click(of: previous[post], recordedAt)
    }

    mutating func add(_ click: Int64, of scope: Scope, _ hash: KeyedHash, recordedAt: Timestamp) {
        if let dropped = startGeneration(at: recordedAt) { changes.append(dropped) }
        let post = Post(scope: scope, hash: hash)
        let replaced = current.updateValue(Entry(click: click, recordedAt: recordedAt), forKey: post)
        changes.append(.entry(post, replaced: replaced))
        added = click
    }

    mutating func commit() {
        if !changes.isEmpty { newest = added }
        changes.removeAll(keepingCapacity: true)
    }

    /// Restores the state of the last commit.
    mutating func rollback() {
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

    /// Starts a new generation if the current one is older than a span, or if the clock was set back by more than a
    /// span.
    ///
    /// - Returns: the change, with the values that undo it; nil if no generation was started.
    private mutating func startGeneration(at moment: Timestamp) -> Change? {
        guard !Self.isClose(startOfCurrent, moment) else { return nil }
        let change = Change.generation(dropped: previous, start: startOfCurrent)
        previous = current
        current = [:]
        startOfCurrent = moment
        return change
    }

    /// Reads the posts of the ten seconds before the newest click, unless that click is older than ten seconds.
    mutating func load<Reader: WriterReader>(by reader: Reader, newest last: Int64, at now: Timestamp)
        throws(Reader.Failure)
    {
        if now.milliseconds <= last >> 16 + Self.spanMilliseconds { try catchUp(to: last, by: reader) }
        newest = last
    }

    /// Reads the posts of other processes in the ten seconds up to `last`, the database's newest click at this time.
    ///
    /// A new click's number is larger than that of any committed click. If no other process has recorded a click,
    /// `last` is ``newest``, and nothing is read. `last` is older than ``newest`` only if newer clicks were deleted.
    mutating func catchUp<Reader: WriterReader>(to last: Int64, by reader: Reader) throws(Reader.Failure) {
        guard last != newest else { return }
        let first = last - Self.spanMilliseconds << 16
        let start = last > newest ? max(first, newest + 1) : first
        let posts = try reader.posts(from: start, atMost: Self.loadLimit)
        // The posts come newest first; of equal posts, the one that is added last counts.
        for post in posts.reversed() {
            _ = startGeneration(at: post.recordedAt)
            let entry = Entry(click: post.click, recordedAt: post.recordedAt)
            current[Post(scope: post.scope, hash: post.hash)] = entry
        }
        newest = last
    }

    /// The maximum number of posts that are read; reading this many takes some 50 ms.
    ///
    /// After a kill under more than 6,000 clicks a second, a post may be recorded twice if its first response was lost.
    /// The alternative is a start that takes longer.
    private static let loadLimit = 65_536

    private static func click(of entry: Entry?, _ recordedAt: Timestamp) -> Int64? {
        guard let entry, isClose(entry.recordedAt, recordedAt) else { return nil }
        return entry.click
    }

    private static func isClose(_ one: Timestamp, _ other: Timestamp) -> Bool {
        let difference = one.milliseconds(since: other)
        return difference >= -spanMilliseconds && difference <= spanMilliseconds
    }
}

/// The time until which each day's key for addresses is needed, because clicks of that day can be matched.
///
/// The transaction of the click stores this time, so that no process destroys a key that another process's click needs.
struct AddressKeyDeadlines {
    /// The times by day, in milliseconds since 1970, that this process has stored.
    private var stored: [Int64: Int64] = [:]
    private static let hour: Int64 = 3_600_000
    private static let maximumDays = 64

    /// Returns the day and time to store for a click.
    ///
    /// Nil if that time or a later one is stored, if the click has no address, or if it is a robot's.
    func need(of click: NewClick) -> (day: Int64, until: Int64)? {
        guard click.evidence.address != nil, !click.facts.isRobot else { return nil }
        let day = AddressKeys.day(of: click.facts.recordedAt)
        let end = click.facts.expiresAt.advanced(byMilliseconds: Self.hour).milliseconds
        // The time is rounded up, so that a day's row is written once an hour and not with each click.
        let until = end / Self.hour * Self.hour
        if let known = stored[day], known >= until { return nil }
        return (day, until)
    }

    mutating func note(_ need: (day: Int64, until: Int64)) {
        stored[need.day] = need.until
        if stored.count > Self.maximumDays { stored = [need.day: need.until] }
    }
}
