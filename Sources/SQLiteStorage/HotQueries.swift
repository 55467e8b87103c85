package import SQLite
internal import Storage

/// The statements that run for every click and check, and those whose cost must not follow what is stored: tests
/// read how SQLite goes about them.
package enum HotQueries {
    package struct Query: Sendable {
        package let name: String
        package let sql: SQL
        /// What each line of its plan must contain, in order.
        package let plan: [String]

        init(name: String, sql: SQL, plan: [String]) {
            self.name = name
            self.sql = sql
            self.plan = plan
        }
    }

    private static func query(_ name: String, _ sql: SQL, _ plan: String...) -> Query {
        Query(name: name, sql: sql, plan: plan)
    }

    private static let spanPlan =
        "SEARCH counts USING PRIMARY KEY (scope=? AND campaign=? AND dimension=? AND span=? AND period=?"
    private static let rangePlan =
        "SEARCH counts USING PRIMARY KEY (scope=? AND campaign=? AND dimension=? AND span=? AND period>?"
    private static let rankPlan =
        "SEARCH counts USING COVERING INDEX top_campaigns (scope=? AND span=? AND period=?)"

    private static let visitPlan =
        "SEARCH click_index USING PRIMARY KEY (scope=? AND hash=? AND state=? AND since>? AND since<?)"

    package static let all = [
        query(
            "clicks of a key",
            SnapshotSQL.ofKey,
            "COMPOUND QUERY",
            "LEFT-MOST SUBQUERY",
            "CO-ROUTINE",
            "SEARCH click_index USING PRIMARY KEY (scope=? AND hash=? AND state=?)",
            "SCALAR SUBQUERY",
            "SEARCH claims USING INDEX undelivered_claims (scope=? AND hash=?)",
            "SCAN",
            "UNION ALL",
            "CO-ROUTINE",
            "SEARCH click_index USING PRIMARY KEY (scope=? AND hash=? AND state=?)",
            "SCAN"
        ),
        query(
            "all live clicks of a key",
            SnapshotSQL.openOfKey,
            "SEARCH click_index USING PRIMARY KEY (scope=? AND hash=? AND state=?)"
        ),
        query(
            "clicks around an address",
            SnapshotSQL.aroundAddress,
            "SEARCH click_addresses USING PRIMARY KEY (scope=? AND near_address=?)"
        ),
        query(
            "crowd around an address",
            SnapshotSQL.clicksNearAddress,
            "SEARCH click_addresses USING PRIMARY KEY (scope=? AND near_address=?)"
        ),
        query(
            "open row of a click",
            SnapshotSQL.openClick,
            "SEARCH click_index USING PRIMARY KEY (scope=? AND hash=? AND state=? AND since=? AND click=?)"
        ),
        query(
            "click that was named",
            SQLiteReader.clickByIdentifier,
            "SEARCH clicks USING INTEGER PRIMARY KEY (rowid=?)"
        ),
        query(
            "claim by click",
            SQLiteReader.claimOfClick,
            "SEARCH claims USING INTEGER PRIMARY KEY (rowid=?)"
        ),
        query(
            "newest click of a destination",
            ClaimSQL.newestOfDestination,
            "CO-ROUTINE (subquery-1)",
            "SEARCH click_index USING PRIMARY KEY (scope=? AND hash=? AND state=?)",
            "SCAN (subquery-1)"
        ),
        query(
            "claimed click of an advertising id",
            SnapshotSQL.claimedSince,
            "CO-ROUTINE (subquery-1)",
            "SEARCH click_index USING PRIMARY KEY (scope=? AND hash=? AND state=?)",
            "SCAN (subquery-1)"
        ),
        query(
            "learnt counter",
            LearntSQL.find,
            "SEARCH learnt_counters USING PRIMARY KEY (scope=? AND family=? AND key=?)"
        ),
        query("claim of a click", RecordSQL.findClaim, "SEARCH claims USING INTEGER PRIMARY KEY (rowid=?)"),
        query(
            "click by identifier",
            SQLiteReader.clickByNumber,
            "SEARCH clicks USING INTEGER PRIMARY KEY (rowid=?)"
        ),
        query(
            "claim of an installation",
            SQLiteReader.claimOfInstall,
            "SEARCH claims USING INDEX claims_by_install (scope=? AND install=?)",
            "SEARCH clicks USING INTEGER PRIMARY KEY (rowid=?)"
        ),
        query(
            "claim of a caller",
            SQLiteReader.claimOfCaller,
            "SEARCH closed USING PRIMARY KEY (scope=? AND hash=? AND state=? AND since>? AND since<?)",
            "SEARCH claims USING INTEGER PRIMARY KEY (rowid=?)"
        ),
        query(
            "undelivered claim",
            SQLiteReader.undeliveredClaim,
            "SEARCH claims USING INDEX undelivered_claims (scope=? AND hash=?)",
            "SEARCH clicks USING INTEGER PRIMARY KEY (rowid=?)",
            "USE TEMP B-TREE FOR ORDER BY"
        ),
        query(
            "click of an idempotency key",
            RecordSQL.findIdempotent,
            "SEARCH clicks USING INDEX clicks_by_idempotency (scope=? AND idempotency=?)"
        ),
        query(
            "closing of a fingerprint",
            IndexSQL.close,
            "SEARCH click_index USING PRIMARY KEY (scope=? AND hash=? AND state=? AND since=? AND click=?)"
        ),
        query(
            "moment of a claim",
            IndexSQL.claimedAt,
            "SEARCH claims USING INTEGER PRIMARY KEY (rowid=?)"
        ),
        query(
            "deletion of a closed fingerprint",
            IndexSQL.removeClosed,
            "SEARCH click_index USING PRIMARY KEY (scope=? AND hash=? AND state=? AND since=? AND click=?)"
        ),
        query(
            "clicks of a visitor",
            RecordSQL.visitsOfVisitor,
            "CO-ROUTINE (subquery-1)",
            Self.visitPlan,
            "SCAN (subquery-1)"
        ),
        query(
            "earlier clicks of a visit",
            ClaimSQL.sameVisitBefore,
            "CO-ROUTINE (subquery-1)",
            Self.visitPlan,
            "SCAN (subquery-1)"
        ),
        query(
            "clicks of a visit near an address",
            ClaimSQL.sameVisitNear,
            "CO-ROUTINE around",
            "SEARCH click_addresses USING PRIMARY KEY (scope=? AND near_address=? AND clicked_at>? AND clicked_at<?)",
            "SCAN around",
            "SEARCH f USING PRIMARY KEY (scope=? AND hash=? AND state=? AND since=? AND click=?)"
        ),
        query(
            "mark of an undelivered claim",
            ClaimSQL.markUndelivered,
            "SEARCH claims USING INTEGER PRIMARY KEY (rowid=?)"
        ),
        query(
            "mark of a delivered claim",
            ClaimSQL.markDelivered,
            "SEARCH claims USING INTEGER PRIMARY KEY (rowid=?)"
        ),
        query(
            "idempotency key of a repeated click",
            RecordSQL.adoptIdempotency,
            "SEARCH clicks USING INTEGER PRIMARY KEY (rowid=?)"
        ),
        query(
            "expired clicks",
            RetentionSQL.due,
            "SEARCH clicks USING INDEX clicks_by_expiry (expires_at>? AND"
        ),
        query(
            "deletion of a click",
            RetentionSQL.delete,
            "SEARCH clicks USING INTEGER PRIMARY KEY (rowid=?)"
        ),
        query(
            "fingerprints, in order",
            FilterSQL.stored,
            "SEARCH click_index USING PRIMARY KEY ((scope,hash,state,since,click)>(?,?,?,?,?))"
        ),
        query(
            "clicks that another process has recorded",
            FilterSQL.recordedSince,
            "SEARCH clicks USING INTEGER PRIMARY KEY (rowid>?)"
        ),
        query(
            "visits of the last seconds",
            RecentPosts.recent,
            "SEARCH clicks USING INTEGER PRIMARY KEY (rowid>?)"
        ),
        query(
            "records of checks, back from one",
            CheckReading.page,
            "SEARCH checks USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)",
            "SEARCH clicks USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN"
        ),
        query(
            "record of a claim",
            CheckReading.ofClaim,
            "CO-ROUTINE",
            "SEARCH checks USING INTEGER PRIMARY KEY (rowid>?)",
            "SCAN"
        ),
        query(
            "checks from a click on",
            ClickExplanationReader.checks,
            "SEARCH checks USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"
        ),
        query(
            "index row of a click",
            ClickExplanationReader.indexed,
            "SEARCH click_index USING PRIMARY KEY (scope=? AND hash=? AND state=? AND since=? AND click=?)"
        ),
        query(
            "oldest records of checks",
            CheckSQL.deleteOldest,
            "SEARCH checks USING INTEGER PRIMARY KEY (rowid=?)",
            "LIST SUBQUERY",
            "SEARCH checks USING INTEGER PRIMARY KEY (rowid<?)"
        ),
        query(
            "campaign of a hash",
            CheckSQL.campaignOfHash,
            "CO-ROUTINE open",
            "SEARCH click_index USING PRIMARY KEY (scope=? AND hash=? AND state=?)",
            "SCAN open",
            "SEARCH clicks USING INTEGER PRIMARY KEY (rowid=?)"
        ),
        query(
            "recent clicks of an explanation",
            ExplanationReader.recent,
            "CO-ROUTINE newest",
            "SEARCH clicks USING INTEGER PRIMARY KEY (rowid<?)",
            "SCAN newest",
            "SEARCH claims USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN"
        ),
        query(
            "fingerprints of a scope, in order",
            CollisionCensus.fingerprints,
            "SEARCH click_index USING PRIMARY KEY (scope=? AND (hash,state,since,click)>(?,?,?,?))"
        ),
        query(
            "records of checks, on from one",
            CollisionCensus.checks,
            "SEARCH checks USING INTEGER PRIMARY KEY (rowid>?)",
            "SEARCH clicks USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN"
        ),
        query(
            "report on collisions",
            SQLiteReader.collisionFigures,
            "SEARCH figures USING PRIMARY KEY (scope=? AND report=?)"
        ),
        query(
            "limits of a tapped link",
            LinkSQL.limits,
            "SEARCH links USING INDEX sqlite_autoindex_links_1 (id_high=? AND id_low=?)",
            "CORRELATED SCALAR SUBQUERY",
            "SEARCH link_counts USING PRIMARY KEY (link=? AND variant=?)"
        ),
        query(
            "count of a link's matches",
            LinkSQL.countMatch,
            "SEARCH link_counts USING PRIMARY KEY (link=? AND variant=?)"
        ),
        query("identifier of a link", LinkSQL.idOfNumber, "SEARCH links USING INTEGER PRIMARY KEY (rowid=?)"),
        query(
            "counts of a dimension",
            SQLiteReader.sumsOfCounts,
            Self.rangePlan,
            "USE TEMP B-TREE FOR GROUP BY"
        ),
        query("series", SQLiteReader.countSeries, Self.rangePlan),
        query("spans with counts", SQLiteReader.countedPeriods, Self.rangePlan),
        query("names of a span", SQLiteReader.countedValues, Self.spanPlan),
        query("top campaigns", SQLiteReader.topCampaigns, Self.rankPlan),
        query("campaigns of a day", SQLiteReader.countedCampaigns, Self.rankPlan),
        query(
            "first counted day",
            CompactionSQL.firstDay,
            "SEARCH counts USING PRIMARY KEY (scope=? AND campaign=? AND dimension=? AND span=?)"
        ),
        query(
            "compaction of campaigns",
            CompactionSQL.foldCampaigns,
            Self.spanPlan,
            "LIST SUBQUERY",
            Self.rankPlan,
            "LIST SUBQUERY",
            "SCAN json_each"
        ),
        query(
            "deletion of campaigns",
            CompactionSQL.removeCampaigns,
            Self.spanPlan,
            "LIST SUBQUERY",
            Self.rankPlan,
            "LIST SUBQUERY",
            "SCAN json_each"
        ),
        query(
            "compaction of names",
            CompactionSQL.foldValues,
            Self.spanPlan,
            "LIST SUBQUERY",
            Self.spanPlan,
            "LIST SUBQUERY",
            "SCAN json_each",
            "USE TEMP B-TREE FOR ORDER BY"
        ),
        query(
            "deletion of names",
            CompactionSQL.removeValues,
            Self.spanPlan,
            "LIST SUBQUERY",
            Self.spanPlan,
            "LIST SUBQUERY",
            "SCAN json_each",
            "USE TEMP B-TREE FOR ORDER BY"
        ),
        query(
            "live seconds",
            SQLiteReader.liveClicksBySecond,
            "SEARCH live_clicks USING PRIMARY KEY (scope=? AND span=? AND"
        ),
        query(
            "live hours",
            SQLiteReader.liveClicksByHour,
            "SEARCH live_clicks USING PRIMARY KEY (scope=? AND span=? AND"
        ),
    ]
}
