public import Attribution

/// A database whose rows move to another one; nothing changes it while this value exists.
public protocol MoveSource {
    /// A digest of the contents, which differs after the database was served again.
    var mark: Int64 { get throws(StoreError) }

    /// Reads the rows of a table, in any order.
    func forEachRow(of table: MovedTable, _ body: (any RowReader) throws(StoreError) -> Void)
        throws(StoreError)

    /// Returns the next clicks in the order of their numbers.
    func clicks(after number: Int64, atMost limit: Int) throws(StoreError) -> [MovedClick]

    /// Returns the next records of checks in the order of their numbers.
    func checks(after number: Int64, atMost limit: Int) throws(StoreError) -> [CheckRecord]

    /// Returns how many rows the target must have after the move, by ``MovedRows``.
    func rowCount(of rows: MovedRows) throws(StoreError) -> Int64
}

/// Rows that a move counts in both databases when it has copied them.
public enum MovedRows: Sendable {
    case table(MovedTable)
    case clicks
    case claims
    case clickIndex
    case clickAddresses
    case checks
    /// The clicks that installations have claimed.
    case installs
    case idempotencies
    /// The counts of links with a maximum of clicks.
    case linkLimits

    public static let all: [MovedRows] =
        MovedTable.all.map { .table($0) } + [
            .clicks, .claims, .clickIndex, .clickAddresses, .checks, .installs, .idempotencies, .linkLimits,
        ]

    /// The name of the table, or of a part of a table.
    public var name: String {
        switch self {
        case .table(let table): table.name.description
        case .clicks: "clicks"
        case .claims: "claims"
        case .clickIndex: "click_index"
        case .clickAddresses: "click_addresses"
        case .checks: "checks"
        case .installs: "installs"
        case .idempotencies: "idempotencies"
        case .linkLimits: "link_limits"
        }
    }
}

/// The result of a move: the numbers of rows in both databases.
public struct MoveReport: Sendable {
    public struct Count: Equatable, Sendable {
        public let name: String
        public let expected: Int64
        public let found: Int64

        public init(name: String, expected: Int64, found: Int64) {
            (self.name, self.expected, self.found) = (name, expected, found)
        }
    }

    public let counts: [Count]

    public init(counts: [Count]) { self.counts = counts }

    /// The tables whose number of rows in the target is not the expected number.
    public var differences: [Count] { counts.filter { $0.found != $0.expected } }
}
