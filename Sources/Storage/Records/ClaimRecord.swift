public import Attribution

/// A row of `claims`: which first launch consumed a click, and the answer that it got.
public struct ClaimRecord: Record, Equatable, Sendable {
    /// The click's number.
    public let click: Int64
    public let scope: Scope
    public let claimedAt: Timestamp
    public let method: AttributionMethod
    /// 0…1.
    public let confidence: Double?
    /// A hash of the launch, if possible one that the click has, too; zeros for a launch without hashes.
    public let hash: KeyedHash
    public var install: KeyedHash?
    /// Whether the delivery of the last response is known to have failed.
    public var isUndelivered: Bool
    public let competingClicks: Int?
    public let isCampaignOnly: Bool
    public var caller: KeyedHash?

    /// Creates the row of a claim; `hash` is nil for a launch without hashes.
    public init(_ claim: Claim, _ scope: Scope, hash: KeyedHash?, install: KeyedHash?, caller: KeyedHash) {
        click = Int64(bitPattern: claim.click.id.high)
        self.scope = scope
        claimedAt = claim.claimedAt
        method = claim.method
        confidence = claim.confidence
        self.hash = hash ?? KeyedHash(index: 0, rest: 0)
        self.install = install
        isUndelivered = false
        competingClicks = claim.competingClicks
        isCampaignOnly = claim.isCampaignOnly
        self.caller = caller
    }

    /// Returns the answer that the launch got.
    public func claim(of click: Click) -> Claim {
        Claim(
            click: click,
            claimedAt: claimedAt,
            method: method,
            confidence: confidence,
            competingClicks: competingClicks,
            isCampaignOnly: isCampaignOnly
        )
    }
}

extension ClaimRecord {
    public static let columns: Columns = [
        "click", "scope", "claimed_at", "method", "confidence", "hash", "hash_rest", "install",
        "install_rest",
        "is_undelivered", "competing_clicks", "is_campaign_only", "caller", "caller_rest",
    ]

    public func write(to row: inout some RowWriter) {
        row.put("click", UInt64(bitPattern: click))
        row.put("scope", scope.number)
        row.put("claimed_at", claimedAt)
        row.put("method", method)
        row.put("confidence", confidence)
        row.put("hash", "hash_rest", hash)
        row.put("install", "install_rest", install)
        row.put("is_undelivered", isUndelivered)
        row.put("competing_clicks", competingClicks)
        row.put("is_campaign_only", isCampaignOnly)
        row.put("caller", "caller_rest", caller)
    }

    public init?(_ row: inout some RowReader) {
        click = row.get("click")
        scope = Scope(number: row.get("scope"))
        claimedAt = row.get("claimed_at")
        guard let method: AttributionMethod = row.get("method") else { return nil }
        self.method = method
        confidence = row.get("confidence")
        hash = row.get("hash", "hash_rest")
        install = row.get("install", "install_rest")
        isUndelivered = row.get("is_undelivered")
        competingClicks = row.get("competing_clicks")
        isCampaignOnly = row.get("is_campaign_only")
        caller = row.get("caller", "caller_rest")
    }
}
