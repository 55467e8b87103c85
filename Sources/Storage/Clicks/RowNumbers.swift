public import Attribution

/// The numbers of rows (the first halves of identifiers), by which rows are ordered.
public enum RowIdentifier {
    /// Returns the smallest number that a row of this time can have.
    public static func first(at time: Timestamp) -> Int64 {
        // 46 bits reach to the year 4199. A wrong clock's later time is capped, so that further identifiers fit.
        min(max(time.milliseconds, 0), 1 << 46) << 16
    }

    /// When a row with this identifier was recorded.
    public static func time(of id: Int64) -> Timestamp { Timestamp(milliseconds: id >> 16) }
}

/// How the numbers of new clicks and of new records of checks are made.
///
/// A number has 48 bits of milliseconds and a counter, so that rows of one millisecond are in the order of arrival. If
/// several servers write to a database, no two of them may make the same number, and each number must show where its
/// row is stored. Then the counter leaves bits for the row's home:
///
/// ```
/// plain:  48 milliseconds │ 16 counter
/// homed:  48 milliseconds │ 4 counter │ 5 server │ 1 long window │ 6 bucket
/// ```
///
/// A full counter carries into the milliseconds, so the numbers of a busy millisecond are ahead of the clock.
public struct NumberLayout: Equatable, Sendable {
    /// The number of bits for the home.
    private let homeBits: Int64
    /// The server's number, shifted to its position.
    private let server: Int64
    /// The longest window, in seconds, of a click whose slot is its day; see ``RowHome/slot``.
    private let shortSeconds: Int64

    /// The layout without homes.
    public static let plain = NumberLayout(homeBits: 0, server: 0, shortSeconds: 0)

    /// Creates a layout with homes.
    ///
    /// - Parameters:
    ///   - server: the number of this server, which no other running server has; 0…31, or the result is nil.
    ///   - shortSeconds: the longest window, in seconds, of a click whose slot is its day.
    public init?(server: Int, shortSeconds: Int64) {
        guard (0...RowHome.maximumServer).contains(server) else { return nil }
        self.init(homeBits: 12, server: Int64(server) << 7, shortSeconds: shortSeconds)
    }

    private init(homeBits: Int64, server: Int64, shortSeconds: Int64) {
        (self.homeBits, self.server, self.shortSeconds) = (homeBits, server, shortSeconds)
    }

    /// Returns a number greater than `last` for a new click; its home is in the bucket of the visit.
    public func click(after last: Int64, at time: Timestamp, visit: KeyedHash, window: AttributionWindow)
        -> Int64
    {
        guard homeBits > 0 else { return next(after: last, at: time) }
        let bucket = Int64(visit.index & 63)
        let long: Int64 = window.seconds > shortSeconds ? 1 << 6 : 0
        return next(after: last, at: time) | server | long | bucket
    }

    /// Returns a number greater than `last` for the record of a check; its home is in the bucket of the
    /// server's counts.
    public func check(after last: Int64, at time: Timestamp) -> Int64 {
        guard homeBits > 0 else { return next(after: last, at: time) }
        return next(after: last, at: time) | server | batchBucket
    }

    /// The bucket for rows that a server writes once in a transaction.
    public var batchBucket: Int64 { server >> 7 }

    private func next(after last: Int64, at time: Timestamp) -> Int64 {
        max((last >> homeBits) + 1, RowIdentifier.first(at: time) >> homeBits) << homeBits
    }
}

/// The last number of the rows of a table, which does not decrease, except as ``value(at:)`` explains.
struct LastNumber: Sendable {
    var value: Int64 = 0 {
        didSet { if Self.isAhead(value, of: RowIdentifier.time(of: oldValue)) { beforeLeap = oldValue } }
    }
    /// The number before the last leap; a leap is a number that is more than a day later than the number before it.
    private var beforeLeap: Int64 = 0

    /// Returns the number that the number of a new row must exceed if several servers share the database.
    ///
    /// A number contains the time of its row. Other servers search for a click only in the days until tomorrow, and lists
    /// and exports end with the current time. So after the clock was days ahead and is right again, numbers continue from
    /// before that time. The database refuses a number that exists already, and the row gets another one.
    func value(at time: Timestamp) -> Int64 {
        guard Self.isAhead(value, of: time) else { return value }
        return Self.isAhead(beforeLeap, of: time) ? 0 : beforeLeap
    }

    private static func isAhead(_ number: Int64, of time: Timestamp) -> Bool {
        RowIdentifier.time(of: number).milliseconds(since: time) > 86_400_000
    }
}

/// Where the row of a number is stored, in a database whose numbers name the home.
///
/// Every number has a home, even a plain number from before a move of the database. But a plain number does not name the
/// bucket of the click's visit, and the slot that it names may be wrong for the click's window.
public struct RowHome: Hashable, Sendable {
    /// 0…63.
    public let bucket: Int64
    /// The day since 1970 on which the row was recorded; -1 for clicks with a long window.
    public let slot: Int64
    /// The server that made the number, 0…31.
    public let server: Int64

    public static let maximumServer = 31
    /// The slot of all clicks with a long window.
    public static let longSlot: Int64 = -1

    public init(of number: Int64) {
        bucket = number & 63
        server = number >> 7 & 31
        slot = number & 1 << 6 != 0 ? Self.longSlot : Self.day(of: number)
    }

    /// The day since 1970 of a number, which is the slot of the record of a check.
    public static func day(of number: Int64) -> Int64 {
        RowIdentifier.time(of: number).milliseconds / 86_400_000
    }
}
