import Attribution
import Foundation
import Storage
import Support
import TestDatabases
import Testing

@testable import SQLite
@testable import SQLiteStorage

@Suite("Query plans")
struct QueryPlanTests {
    @Test("every frequent statement uses its index and scans no table")
    func usesIndexes() async throws {
        let test = try await TestStore()
        test.store.stop(within: 60_000)
        let connection = try SQLiteConnection(path: test.path, access: .readOnly, busyMilliseconds: 0)
        for (statements, expected) in plans {
            let lines = expected.split(separator: "|").map(Self.line)
            for sql in statements {
                let plan = try connection.queryPlan(of: sql)
                #expect(plan.count == lines.count, "\(sql): \(plan)")
                for (line, text) in zip(plan, lines) { #expect(line.contains(text), "\(sql): \(plan)") }
            }
        }
    }

    @Test("no statement of a click, a claim or a check fills a temporary table")
    func fillsNoTemporaryTable() async throws {
        let test = try await TestStore()
        test.store.stop(within: 60_000)
        let connection = try SQLiteConnection(path: test.path, access: .readOnly, busyMilliseconds: 0)
        for sql in [
            SQLiteWriter.insertClick, SQLiteWriter.insertOpen, SQLiteWriter.closeClick,
            SQLiteWriter.insertClaim,
            SQLiteWriter.insertCheck,
        ] {
            let program = try connection.prepare(text: "EXPLAIN " + sql.description)
            while try program.step() { #expect(program.text(1) != "OpenEphemeral", "\(sql)") }
        }
    }

    @Test("a report of many apps is not read on the loop, whose other requests would wait")
    func reportOfManyApps() async throws {
        let test = try await TestStore { $0.hasBackgroundWork = true }
        let steps = try await test.run { session in
            let reader = try #require(session as? SQLiteSession)
            var steps: [Int] = []
            for count in [1, 5] as [UInt64] {
                while try session.directory().apps.count < Int(count) {
                    let number = UInt64(try session.directory().apps.count) + 1
                    let settings = App.Settings(name: "App \(number)")
                    let id = AppID(high: 1, low: number)
                    try await session.create(App(id: id, settings: settings, createdAt: TestStore.noon))
                }
                // The first report reads the numbers of the apps.
                _ = try await session.statistics(StatisticsQuery(), at: TestStore.noon)
                let before = reader.readStepCount
                _ = try await session.statistics(StatisticsQuery(), at: TestStore.noon)
                steps.append(reader.readStepCount - before)
            }
            return steps
        }
        #expect(steps[1] * 2 < steps[0], "\(steps)")
    }

    @Test("a check after a match takes less than 2.5 times the steps of a check without a click")
    func hidesClaims() async throws {
        let test = try await TestStore()
        let steps = try await test.run { session in
            let reader = try #require(session as? SQLiteSession)
            for number in 0..<20 as Range<UInt64> {
                _ = try await session.record(.sample(fingerprint: number))
                _ = try await session.match(.sample(fingerprint: number))
            }
            let later = TestStore.noon.advanced(byMilliseconds: 600_000)
            var steps = (unknown: [Int](), claimed: [Int]())
            for number in 0..<20 as Range<UInt64> {
                for (first, isClaimed) in [(100, false), (0, true)] as [(UInt64, Bool)] {
                    let check = Check.sample(fingerprint: first + number, at: later, caller: 7, grace: 60_000)
                    let before = reader.readStepCount
                    let view = try await session.view(for: check)
                    let count = reader.readStepCount - before
                    #expect(view.reason == (isClaimed ? .alreadyClaimed : .noClick) && view.replay == nil)
                    if isClaimed { steps.claimed.append(count) } else { steps.unknown.append(count) }
                }
            }
            return steps
        }
        let (unknown, claimed) = (try #require(steps.unknown.max()), try #require(steps.claimed.max()))
        // Measured once: 79 steps after a match, and 39 without a click. A search for one kind of repeatable
        // answer would raise the 79 steps to 97, and searches for both kinds to 120.
        #expect(unknown > 0 && claimed < unknown * 5 / 2, "\(claimed) steps, and \(unknown)")
    }

    /// Returns a line of a plan in SQLite's notation.
    private static func line(_ text: Substring) -> String {
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard let search = text.wholeMatch(of: #/(\w+)( [A-Z ]+ \w+)?\(([^()]+)([…)])(.*)/#) else {
            return text
        }
        let columns = search.3.split(separator: " ").map {
            $0.last == ">" || $0.last == "<" ? "\($0)?" : "\($0)=?"
        }
        let key = search.2 ?? (search.3.hasPrefix("rowid") ? " INTEGER PRIMARY KEY" : " PRIMARY KEY")
        let end = search.4 == ")" ? ")\(search.5)" : ""
        return "SEARCH \(search.1) USING\(key) (\(columns.joined(separator: " AND "))\(end)"
    }
}

/// The plans of the statements that run for every click or check, or whose cost must not grow with the database.
///
/// A plan contains a text for each line of SQLite's plan, in order. `table(a b>)` means a search by the table's key for
/// a value of `a` and for values of `b` above a bound. `table INDEX name(a)` means a search by an index. After `…`, the
/// line may continue.
private let plans: [(statements: [SQL], plan: String)] = [
    (
        [SQLiteReader.clicksOfKey],
        """
        COMPOUND QUERY | LEFT-MOST SUBQUERY | CO-ROUTINE | click_index(scope hash state) |
        SCALAR SUBQUERY | claims INDEX undelivered_claims(scope hash) | SCAN | UNION ALL | CO-ROUTINE |
        click_index(scope hash state) | SCAN
        """
    ),
    (
        [SQLiteReader.openClicks],
        "SEARCH click_index USING PRIMARY KEY (scope=? AND hash=? AND state=? AND (since,click)<(?,?))"
    ),
    ([SQLiteReader.aroundAddress, SQLiteReader.clicksNearAddress], "click_addresses(scope near_address)"),
    (
        [SQLiteReader.openClick, SQLiteWriter.closeClick, SQLiteWriter.removeClosed, SQLiteReader.indexRow],
        "click_index(scope hash state since click)"
    ),
    (
        [
            SQLiteReader.clickByIdentifier, SQLiteReader.clickByNumber, SQLiteWriter.adoptIdempotency,
            SQLiteWriter.deleteClick,
        ],
        "clicks(rowid)"
    ),
    (
        [
            SQLiteReader.claimOfClick, SQLiteReader.timeOfClaim, SQLiteWriter.markUndelivered,
            SQLiteWriter.markDelivered,
        ],
        "claims(rowid)"
    ),
    (
        [SQLiteReader.newestOfDestination, SQLiteReader.claimedSince],
        "CO-ROUTINE (subquery-1) | click_index(scope hash state) | SCAN (subquery-1)"
    ),
    ([SQLiteReader.learntSum], "learnt_counters(scope family key)"),
    ([SQLiteReader.claimOfInstall], "claims INDEX claims_by_install(scope install) | clicks(rowid)"),
    ([SQLiteReader.claimOfCaller], "closed(scope hash state since> since<) | claims(rowid)"),
    (
        [SQLiteReader.undeliveredClaim],
        "claims INDEX undelivered_claims(scope hash) | clicks(rowid) | USE TEMP B-TREE FOR ORDER BY"
    ),
    ([SQLiteReader.clickOfIdempotency], "clicks INDEX clicks_by_idempotency(scope idempotency)"),
    (
        [SQLiteReader.visitsOfVisitor, SQLiteReader.clicksOfVisit],
        "CO-ROUTINE (subquery-1) | click_index(scope hash state since> since<) | SCAN (subquery-1)"
    ),
    (
        [SQLiteReader.clicksOfVisitNear],
        """
        CO-ROUTINE around | click_addresses(scope near_address clicked_at> clicked_at<) | SCAN around |
        f(scope hash state since click)
        """
    ),
    ([SQLiteReader.clicksByExpiry], "clicks INDEX clicks_by_expiry(expires_at>…"),
    (
        [SQLiteReader.indexRows, SQLiteReader.indexRowAfter],
        "SEARCH click_index USING PRIMARY KEY ((scope,hash,state,since,click)>(?,?,?,?,?))"
    ),
    ([SQLiteReader.hashesOfClicks, SQLiteReader.recentPosts], "clicks(rowid>)"),
    (
        [SQLiteReader.ascendingChecks, SQLiteReader.descendingChecks],
        "checks(rowid> rowid<) | clicks(rowid) LEFT-JOIN"
    ),
    ([SQLiteReader.checkOfClaim], "CO-ROUTINE | checks(rowid>) | SCAN"),
    ([SQLiteReader.checkTraces], "checks(rowid> rowid<)"),
    ([SQLiteWriter.deleteOldestChecks], "checks(rowid) | LIST SUBQUERY | checks(rowid<)"),
    ([SQLiteWriter.removeOldErasures], "erasures(id_high<)"),
    ([SQLiteWriter.removeErased], "erased_rows(rowid) | LIST SUBQUERY | erased_rows(rowid<)"),
    (
        [SQLiteReader.campaignOfHash],
        "CO-ROUTINE open | click_index(scope hash state) | SCAN open | clicks(rowid)"
    ),
    (
        [SQLiteReader.ascendingClicks, SQLiteReader.descendingClicks],
        "clicks(rowid> rowid<) | claims(rowid) LEFT-JOIN | links(rowid) LEFT-JOIN"
    ),
    (
        [SQLiteReader.rowsForCollisions],
        "SEARCH click_index USING PRIMARY KEY (scope=? AND (hash,state,since,click)>(?,?,?,?))"
    ),
    ([SQLiteReader.figuresOfReport], "figures(scope report)"),
    (
        [SQLiteReader.limitsOfLink],
        """
        links INDEX sqlite_autoindex_links_1(id_high id_low) | CORRELATED SCALAR SUBQUERY |
        link_counts(link variant)
        """
    ),
    ([SQLiteWriter.countMatch], "link_counts(link variant)"),
    ([SQLiteReader.linkByNumber], "links(rowid)"),
    (
        [SQLiteReader.countSeries, SQLiteReader.countedPeriods],
        "counts(scope campaign dimension span period>…"
    ),
    ([SQLiteReader.countedValues], "counts(scope campaign dimension span period…"),
    (
        [SQLiteReader.topCampaigns, SQLiteReader.countedCampaigns],
        "counts COVERING INDEX top_campaigns(scope span period)"
    ),
    (
        [SQLiteReader.topLinks, SQLiteReader.countedLinks],
        "counts COVERING INDEX top_links(scope span period)"
    ),
    ([SQLiteReader.firstCountedDay], "counts(scope campaign dimension span)"),
    (
        [SQLiteWriter.foldCampaigns, SQLiteWriter.removeCampaigns],
        """
        counts(scope campaign dimension span period… | LIST SUBQUERY |
        counts COVERING INDEX top_campaigns(scope span period) | LIST SUBQUERY | SCAN json_each
        """
    ),
    (
        [SQLiteWriter.foldRareLinks, SQLiteWriter.removeRareLinks],
        """
        counts(scope campaign dimension span period… | LIST SUBQUERY |
        counts COVERING INDEX top_links(scope span period) | LIST SUBQUERY | SCAN json_each
        """
    ),
    (
        [SQLiteWriter.foldValues, SQLiteWriter.removeValues],
        """
        counts(scope campaign dimension span period… | LIST SUBQUERY |
        counts(scope campaign dimension span period… | LIST SUBQUERY | SCAN json_each |
        USE TEMP B-TREE FOR ORDER BY
        """
    ),
    (
        [SQLiteReader.liveClicksBySecond, SQLiteReader.liveClicksByHour],
        "live_clicks(scope span expires_in>…"
    ),
    (
        [SQLiteReader.verifiedLink, SQLiteReader.firstLink],
        "events INDEX links_of_users(scope user_hash is_verified)"
    ),
    ([SQLiteReader.refunds], "events INDEX events_of_purchases(scope purchase)"),
    ([SQLiteReader.driftCounts], "counts(scope campaign dimension span period> period<)"),
    ([SQLiteReader.driftGroups], "drift_groups(scope)"),
    ([SQLiteReader.driftAlarms], "drift_groups INDEX drift_alarms(scope)"),
    (
        [SQLiteWriter.removeOldest],
        """
        counts(scope campaign dimension span period) | SCALAR SUBQUERY |
        counts(scope campaign dimension span)
        """
    ),
    ([SQLiteReader.linksBySlug], "links INDEX sqlite_autoindex_links_2(slug) | apps(rowid)"),
    ([SQLiteReader.linkByID], "links INDEX sqlite_autoindex_links_1(id_high id_low) | apps(rowid)"),
    ([SQLiteReader.numberOfNextLink], "links COVERING INDEX sqlite_autoindex_links_1(id_high>)"),
    (
        [SQLiteReader.sharedSlug],
        """
        own INDEX links_by_app(app) | SCALAR SUBQUERY |
        apps COVERING INDEX sqlite_autoindex_apps_2(id_high id_low) |
        other COVERING INDEX sqlite_autoindex_links_2(slug app) | SCALAR SUBQUERY |
        apps COVERING INDEX sqlite_autoindex_apps_2(id_high id_low)
        """
    ),
    (
        [DatabaseSurvey.clicksSince],
        """
        CO-ROUTINE scopes | COMPOUND QUERY | LEFT-MOST SUBQUERY | SCAN apps | UNION ALL | SCAN apps | SCAN scopes |
        counts(scope campaign dimension span period>)
        """
    ),
    (
        [DatabaseSurvey.firstDay],
        """
        CO-ROUTINE scopes | COMPOUND QUERY | LEFT-MOST SUBQUERY | SCAN apps | UNION ALL | SCAN apps | SEARCH scopes |
        CORRELATED SCALAR SUBQUERY | counts(scope campaign dimension span)
        """
    ),
    (
        [SQLiteReader.campaignsOfHour],
        """
        MERGE (UNION) | LEFT | counts COVERING INDEX top_campaigns(scope span period) | USE TEMP B-TREE |
        RIGHT | counts COVERING INDEX top_links(scope span period) | USE TEMP B-TREE
        """
    ),
    ([SQLiteReader.fieldsOfLink, SQLiteWriter.deleteLinkFields], "link_fields(link)"),
    ([SQLiteReader.countsOfLink], "link_counts(link)"),
    (
        [SQLiteReader.liveLinks],
        """
        CO-ROUTINE links | links INDEX links_by_campaign(campaign_key) | SCAN links |
        CORRELATED SCALAR SUBQUERY | link_counts(link variant) | apps(rowid)
        """
    ),
    (
        [SQLiteReader.allLinks],
        """
        links(rowid<) | apps(rowid) | CORRELATED SCALAR SUBQUERY |
        link_fields COVERING INDEX links_by_tag(value link field)
        """
    ),
    (
        [SQLiteReader.linksOfApp],
        """
        links INDEX links_by_app(app rowid<) | apps(rowid) | CORRELATED SCALAR SUBQUERY |
        link_fields COVERING INDEX links_by_tag(value link field)
        """
    ),
    (
        [SQLiteReader.linksOfCampaign],
        """
        links INDEX links_by_campaign(campaign_key rowid<) | apps(rowid) | CORRELATED SCALAR SUBQUERY |
        link_fields COVERING INDEX links_by_tag(value link field)
        """
    ),
    ([SQLiteReader.linksOfTag], "tag COVERING INDEX links_by_tag(value link<) | links(rowid) | apps(rowid)"),
]
