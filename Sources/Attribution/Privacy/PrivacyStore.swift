public enum ErasureSubject: IdentifiedSubject { public static let prefix = "era" }
public typealias ErasureID = Identifier<ErasureSubject>

/// A number of rows for each table with personal data.
public struct PrivacyCounts: Equatable, Sendable {
    public var clicks: Int64 = 0
    /// Fingerprints and advertising ids by which checks find clicks.
    public var hashes: Int64 = 0
    public var addresses: Int64 = 0
    public var claims: Int64 = 0
    public var checks: Int64 = 0
    /// Learnt sums by fingerprint or address.
    public var sums: Int64 = 0
    public var events: Int64 = 0
    /// Matches that events are credited to.
    public var installs: Int64 = 0

    public init() {}

    /// The counts by the names of their tables.
    public static let tables: [(name: String, count: any WritableKeyPath<PrivacyCounts, Int64> & Sendable)] =
        [
            ("clicks", \.clicks), ("click_index", \.hashes), ("click_addresses", \.addresses),
            ("claims", \.claims), ("checks", \.checks), ("learnt_counters", \.sums),
            ("events", \.events), ("attributed_installs", \.installs),
        ]

    public var isEmpty: Bool { self == PrivacyCounts() }

    public static func += (left: inout PrivacyCounts, right: PrivacyCounts) {
        for table in tables { left[keyPath: table.count] += right[keyPath: table.count] }
    }
}

/// The record of an erasure; it contains no erased value.
public struct Erasure: Equatable, Sendable {
    public let id: ErasureID
    public let at: Timestamp
    public let app: AppID
    public let kind: SubjectKind
    /// The author of the request.
    public let actor: AuditActor
    public var counts = PrivacyCounts()
    /// Whether the write-ahead log no longer contains former content; true for a database without such a file.
    public var isLogCleared = true

    /// How long the record is stored: three years in milliseconds.
    public static let keptMilliseconds: Int64 = 3 * 366 * 86_400_000

    public init(id: ErasureID, at: Timestamp, app: AppID, kind: SubjectKind, actor: AuditActor) {
        (self.id, self.at, self.app, self.kind, self.actor) = (id, at, app, kind, actor)
    }
}

/// A stored value of a row, as people read it.
public enum HeldValue: Equatable, Sendable {
    case none
    case integer(Int64)
    case real(Double)
    case text(String)
    case flag(Bool)
}

/// A stored row, with all its columns.
public struct HeldRow: Equatable, Sendable {
    public let table: String
    public let isTest: Bool
    public let fields: [(name: String, value: HeldValue)]

    public init(table: String, isTest: Bool, fields: [(name: String, value: HeldValue)]) {
        (self.table, self.isTest, self.fields) = (table, isTest, fields)
    }

    public static func == (left: HeldRow, right: HeldRow) -> Bool {
        left.table == right.table && left.isTest == right.isTest
            && left.fields.elementsEqual(right.fields, by: ==)
    }
}

/// The stored rows of a subject.
public struct HeldData: Sendable {
    public var rows: [HeldRow] = []
    public var counts = PrivacyCounts()
    /// Whether these are all rows: one call finds at most ``maximumClicks`` clicks and as many checks.
    public var isComplete = true

    public static let maximumClicks = 10_000

    public init() {}
}

/// The number of stored rows of a table, and their age.
public struct TableHolding: Equatable, Sendable {
    public let table: String
    /// The number of rows, at most ``maximumCount``.
    public let count: Int64
    /// The time of the oldest row; nil for an empty table, or one without times.
    public let oldest: Timestamp?

    /// The largest number that is counted.
    public static let maximumCount: Int64 = 1_000_000

    /// Whether all rows were counted.
    public var isComplete: Bool { count < Self.maximumCount }

    public init(table: String, count: Int64, oldest: Timestamp?) {
        (self.table, self.count, self.oldest) = (table, count, oldest)
    }
}

/// The store that shows and erases what is stored about a person, as data protection law requires.
public protocol PrivacyStore {
    /// Returns what is stored about a subject.
    func held(_ subject: DataSubject) async throws(StoreError) -> HeldData

    /// Deletes what is stored about a subject, in slices that delay no click, and records the erasure.
    ///
    /// The call searches until it finds no row from before the time of the erasure, and also deletes newer rows that it
    /// finds. It ends although newer rows may still come, because a value that many people share gets new ones all the
    /// time. But it waits some seconds for records of checks that other processes have not stored yet.
    ///
    /// - Parameters:
    ///   - subject: the clicks and checks to delete.
    ///   - record: the record without counts.
    /// - Returns: the record as it is stored.
    /// - Throws: if the database failed; what was deleted until then is recorded.
    func erase(_ subject: DataSubject, _ record: Erasure) async throws(StoreError) -> Erasure

    /// Returns the records of the newest erasures, the newest first.
    func erasures(atMost limit: Int) async throws(StoreError) -> [Erasure]

    /// Returns how much each table stores.
    func holdings() async throws(StoreError) -> [TableHolding]
}
