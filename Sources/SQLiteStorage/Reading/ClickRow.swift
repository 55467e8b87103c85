internal import Attribution
internal import SQLite
internal import Storage

/// Clicks and claims as they stand in their tables.
enum ClickRow {
    /// The click with this row id; nil when there is none.
    static func find(_ id: Int64, app: AppID, isTest: Bool, on connection: SQLiteConnection)
        throws(SQLiteError)
        -> Click?
    {
        try connection.statement(select).first(id) { row throws(SQLiteError) in
            try read(row, app: app, isTest: isTest, on: connection)
        }
    }

    private static func read(
        _ row: Statement,
        app: AppID,
        isTest: Bool,
        on connection: SQLiteConnection
    ) throws(SQLiteError) -> Click {
        guard
            let journeyID = JourneyID(row.text(5)),
            let window = AttributionWindow(seconds: row.integer(4)),
            let source = SourceToken(rawValue: row.text(7)),
            let platform = Platform(rawValue: row.text(9))
        else { throw .damaged("reading a click") }
        let facts = Click.Facts(
            app: app,
            isTest: isTest,
            destination: DeepLinkURL(stored: row.text(6)),
            campaignKey: row.optionalText(12).flatMap { CampaignKey($0) },
            journeyID: journeyID,
            clickedAt: Timestamp(milliseconds: row.integer(2)),
            recordedAt: Timestamp(milliseconds: row.integer(3)),
            window: window,
            source: source,
            rawSource: row.optionalText(8),
            platform: platform,
            osVersion: row.optionalText(10),
            browser: row.optionalText(15).flatMap { BrowserFamily(rawValue: $0) } ?? .unknown,
            metadata: row.optionalText(11),
            isRobot: row.integer(13) != 0,
            isContradictory: row.integer(14) != 0
        )
        let id = ClickID(high: UInt64(bitPattern: row.integer(0)), low: UInt64(bitPattern: row.integer(1)))
        guard let number = row.optionalInteger(16) else { return Click(id: id, facts: facts) }
        return Click(id: id, facts: try facts.tapped(number, variant: row.optionalText(17), on: connection))
    }

    static let select: StaticString = """
        SELECT id, id_low, clicked_at, recorded_at, window_seconds, journey_id, destination, source, raw_source,
            platform, os_version, metadata, campaign_key, is_robot, is_contradictory,
            browser, link, variant
        FROM clicks WHERE id = ?1
        """
}

extension Click.Facts {
    /// With the link that was tapped: most clicks have none, and need no look for it.
    fileprivate func tapped(_ number: Int64, variant: String?, on connection: SQLiteConnection)
        throws(SQLiteError)
        -> Click.Facts
    {
        var facts = self
        facts.link = try connection.statement(LinkSQL.idOfNumber).first(number) { row in
            LinkID(high: UInt64(bitPattern: row.integer(0)), low: UInt64(bitPattern: row.integer(1)))
        }
        facts.variant = variant
        return facts
    }
}

/// What a claim's row says besides its click.
struct ClaimRow {
    let click: Int64
    let claimedAt: Timestamp
    let method: AttributionMethod
    let confidence: Double?
    let isUndelivered: Bool
    let competingClicks: Int?
    let isCampaignOnly: Bool
    let caller: KeyedHash?

    /// Reads columns `click, claimed_at, method, confidence, is_undelivered, competing_clicks, is_campaign_only, caller,
    /// caller_rest`.
    init(_ row: Statement) throws(SQLiteError) {
        guard let method = AttributionMethod(rawValue: row.text(2)) else { throw .damaged("reading a claim") }
        click = row.integer(0)
        claimedAt = Timestamp(milliseconds: row.integer(1))
        self.method = method
        confidence = row.optionalReal(3)
        isUndelivered = row.integer(4) != 0
        competingClicks = row.optionalInteger(5).map { Int(clamping: $0) }
        isCampaignOnly = row.integer(6) != 0
        caller =
            row.isNull(7)
            ? nil
            : KeyedHash(
                index: UInt64(bitPattern: row.integer(7)),
                rest: UInt64(bitPattern: row.integer(8))
            )
    }

    func claim(for check: Check, on connection: SQLiteConnection) throws(SQLiteError) -> Claim? {
        let click = try ClickRow.find(click, app: check.app, isTest: check.isTest, on: connection)
        return click.map {
            Claim(
                click: $0,
                claimedAt: claimedAt,
                method: method,
                confidence: confidence,
                competingClicks: competingClicks,
                isCampaignOnly: isCampaignOnly
            )
        }
    }

    static func ofClick(_ click: ClickID, on connection: SQLiteConnection) throws(SQLiteError) -> ClaimRow? {
        try connection.statement(byClick).first(click.high) { row throws(SQLiteError) in try ClaimRow(row) }
    }

    /// The claim of the check's installation whose click's window has not ended.
    static func ofInstall(_ check: Check, _ scope: Scope, on connection: SQLiteConnection) throws(SQLiteError)
        -> ClaimRow?
    {
        for install in check.installs {
            let row = try connection.statement(byInstall).first(
                scope.number,
                install.index,
                install.rest,
                check.at.milliseconds
            ) { row throws(SQLiteError) in try ClaimRow(row) }
            if let row { return row }
        }
        return nil
    }

    /// An answer to this key that was seen to fail, of a click whose window has not ended.
    static func undelivered(
        _ scope: Scope,
        _ key: KeyedHash,
        at now: Timestamp,
        on connection: SQLiteConnection
    ) throws(SQLiteError) -> ClaimRow? {
        try connection.statement(undelivered).first(scope.number, key.index, key.rest, now.milliseconds) {
            row throws(SQLiteError) in try ClaimRow(row)
        }
    }

    /// The newest claim of the check's caller, made within the grace before or after it.
    ///
    /// After: a clock that was set back. Not without end, or a leap of the clock would repeat answers for years.
    static func ofCaller(_ scope: Scope, _ key: KeyedHash, _ check: Check, on connection: SQLiteConnection)
        throws(SQLiteError) -> ClaimRow?
    {
        for caller in check.callers {
            let row = try connection.statement(byCaller).first(
                scope.number,
                key.index,
                caller.index,
                caller.rest,
                check.at.advanced(byMilliseconds: -check.replayGrace).milliseconds,
                check.at.advanced(byMilliseconds: check.replayGrace).milliseconds
            ) { row throws(SQLiteError) in try ClaimRow(row) }
            if let row { return row }
        }
        return nil
    }

    static let byClick: StaticString = """
        SELECT click, claimed_at, method, confidence, is_undelivered, competing_clicks, is_campaign_only,
            caller, caller_rest
        FROM claims WHERE click = ?1
        """
    static let byInstall: StaticString = """
        SELECT claims.click, claimed_at, method, confidence, is_undelivered, competing_clicks, is_campaign_only,
            caller, caller_rest
        FROM claims CROSS JOIN clicks ON clicks.id = claims.click
        WHERE claims.scope = ?1 AND install = ?2 AND install_rest = ?3 AND expires_at >= ?4
        ORDER BY claimed_at DESC LIMIT 1
        """
    static let byCaller: StaticString = """
        SELECT claims.click, claimed_at, method, confidence, is_undelivered, competing_clicks, is_campaign_only,
            claims.caller, caller_rest
        FROM click_index AS closed CROSS JOIN claims ON claims.click = closed.click
        WHERE closed.scope = ?1 AND closed.hash = ?2 AND closed.state = 1
            AND closed.since BETWEEN ?5 AND ?6 AND closed.caller = ?3 AND claims.caller = ?3 AND caller_rest = ?4
        ORDER BY closed.since DESC, closed.click DESC LIMIT 1
        """
    static let undelivered: StaticString = """
        SELECT claims.click, claimed_at, method, confidence, is_undelivered, competing_clicks, is_campaign_only,
            caller, caller_rest
        FROM claims CROSS JOIN clicks ON clicks.id = claims.click
        WHERE is_undelivered = 1 AND claims.scope = ?1 AND hash = ?2 AND hash_rest = ?3
            AND expires_at >= ?4
        ORDER BY claimed_at DESC LIMIT 1
        """
}
