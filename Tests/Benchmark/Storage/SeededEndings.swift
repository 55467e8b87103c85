import Attribution
import Support

/// Writes what became of made-up clicks that can be matched no more.
struct SeededEndings {
    private static let closedColumns = [
        "scope", "hash", "state", "since", "click", "hash_rest", "clicked_at", "closed_as", "caller",
        "expires_at", "visit", "platform_form", "weight", "exact_address", "near_address", "visitor",
        "destination", "campaign", "os_release", "signal_marks",
    ]
    private static let claimColumns = [
        "click", "scope", "claimed_at", "method", "confidence", "hash", "hash_rest", "install",
        "install_rest", "is_undelivered", "competing_clicks", "is_campaign_only", "caller", "caller_rest",
    ]
    /// From a click to its first launch.
    private static let delay: Int64 = 600_000

    private let closed: PlainStatement
    private let claim: PlainStatement
    private var random = SeededGenerator(seed: 2)

    init(scope: Int64, _ database: PlainDatabase) throws {
        try database.require(Self.closedColumns, of: "click_index")
        try database.require(Self.claimColumns, of: "claims")
        closed = try database.prepare(
            """
            INSERT INTO click_index (\(Self.closedColumns.prefix(9).joined(separator: ", ")))
            VALUES (\(scope), ?1, 1, ?2, ?3, ?4, ?5, ?6, ?7)
            """
        )
        claim = try database.prepare(
            """
            INSERT INTO claims (
                click, scope, claimed_at, method, hash, hash_rest, confidence, competing_clicks, caller,
                caller_rest
            )
            VALUES (?1, \(scope), ?2, '\(AttributionMethod.fingerprint.rawValue)', ?3, ?4, 0.9, 0, ?5, ?6)
            """
        )
    }

    mutating func insert(_ click: SeededClick) throws {
        guard let reason = click.closedAs else { return }
        let isClaimed = reason == .alreadyClaimed
        let closedAt = isClaimed ? click.clickedAt + Self.delay : click.expiresAt
        closed.bind(click.fingerprint, at: 1)
        closed.bind(closedAt, at: 2)
        closed.bind(click.id, at: 3)
        closed.bind(click.fingerprintRest, at: 4)
        closed.bind(click.clickedAt, at: 5)
        closed.bind(.text(reason.rawValue), at: 6)
        let caller = Int64(bitPattern: random.next())
        closed.bind(isClaimed ? .integer(caller) : .null, at: 7)
        try closed.run()
        guard isClaimed else { return }
        claim.bind(click.id, at: 1)
        claim.bind(closedAt, at: 2)
        claim.bind(click.fingerprint, at: 3)
        claim.bind(click.fingerprintRest, at: 4)
        claim.bind(caller, at: 5)
        claim.bind(Int64(bitPattern: random.next()), at: 6)
        try claim.run()
    }
}
