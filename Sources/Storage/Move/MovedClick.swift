public import Attribution

/// A click with its claim and its rows in the index, as a database without homes of rows stores them.
///
/// The click keeps its identifier, so that tokens stay valid: ``RowHome`` finds a home in any number.
public struct MovedClick: Sendable {
    public let click: ClickRecord
    public let claim: ClaimRecord?
    public let entries: [MovedEntry]

    public init(_ click: ClickRecord, _ claim: ClaimRecord?, _ entries: [MovedEntry]) {
        (self.click, self.claim, self.entries) = (click, claim, entries)
    }

    /// The time of a retirement; SQLite does not store it, so this is the time of the click.
    private var retiredAt: Timestamp? {
        let isRetired =
            claim == nil && entries.contains { $0.closedAs == NoMatchReason.alreadyClaimed.rawValue }
        return isRetired ? click.facts.clickedAt : nil
    }

    /// The row of addresses, which every click with an address has unless a robot made the click.
    public var address: AddressHashes? { click.facts.isRobot ? nil : click.address }

    /// The columns of a click's row that also contains the claim.
    public static let columns: Columns =
        ClickRecord.columns + [
            "claimed_at", "method", "confidence", "hash", "hash_rest", "install", "install_rest",
            "is_undelivered", "competing_clicks", "is_campaign_only", "caller", "caller_rest", "retired_at",
        ]

    public func write(to row: inout some RowWriter) {
        click.write(to: &row)
        row.put("claimed_at", claim?.claimedAt)
        row.put("method", claim?.method)
        row.put("confidence", claim?.confidence)
        row.put("hash", "hash_rest", claim?.hash)
        row.put("install", "install_rest", claim?.install)
        row.put("is_undelivered", (claim?.isUndelivered).map { $0 ? 1 : 0 })
        row.put("competing_clicks", claim?.competingClicks)
        row.put("is_campaign_only", (claim?.isCampaignOnly).map { $0 ? 1 : 0 })
        row.put("caller", "caller_rest", claim?.caller)
        row.put("retired_at", retiredAt)
    }
}

/// A row of `click_index`, read from SQLite and written as PostgreSQL stores it.
///
/// SQLite closes the rows of an expired click, and in a closed row, the time of the closing replaces the time
/// of the click. In PostgreSQL, expired rows stay open, and a closed row has both times.
public struct MovedEntry: Sendable {
    /// The columns that only the index has; their values are copied.
    private static let copied: Columns = [
        "platform_form", "weight", "visitor", "destination", "campaign", "os_release", "signal_marks",
    ]
    /// The columns to read.
    public static let source: Columns = ["since", "closed_as", "caller"] + copied

    let closedAs: String?
    private let closedAt: Timestamp
    private let caller: Int64?
    private let platformForm: Int64?
    private let weight: Double?
    private let others: [Int64?]
    private let hash: KeyedHash

    /// Reads the row of a click under a hash.
    public init(_ row: inout some RowReader, under hash: KeyedHash) {
        self.hash = hash
        closedAt = row.get("since")
        let reason: String? = row.get("closed_as")
        closedAs = reason == NoMatchReason.expired.rawValue ? nil : reason
        caller = row.get("caller")
        platformForm = row.get("platform_form")
        weight = row.get("weight")
        others = Self.copied.names.dropFirst(2).map { row.getOptionalInteger($0) }
    }

    public static let columns: Columns =
        [
            "scope", "hash", "hash_rest", "since", "click", "expires_at", "visit", "exact_address",
            "near_address",
        ] + copied + ["closed_at", "closed_as", "caller", "is_undelivered"]

    public func write(of moved: MovedClick, to row: inout some RowWriter) {
        let click = moved.click
        row.put("scope", click.scope.number)
        row.put("hash", "hash_rest", hash)
        row.put("since", click.facts.clickedAt)
        row.put("click", click.number)
        row.put("expires_at", click.expiresAt)
        row.put("visit", click.visit.index)
        row.put("exact_address", "near_address", moved.address)
        row.put("platform_form", platformForm)
        row.put("weight", weight)
        for (name, value) in zip(Self.copied.names.dropFirst(2), others) { row.putInteger(name, value) }
        row.put("closed_at", closedAs == nil ? nil : closedAt)
        row.put("closed_as", closedAs)
        row.put("caller", closedAs == nil ? nil : caller)
        // The next check with this hash gets an answer that was lost.
        let isUndelivered = moved.claim.map { $0.isUndelivered && $0.hash == hash } ?? false
        row.put("is_undelivered", isUndelivered ? 1 : nil as Int64?)
    }
}
