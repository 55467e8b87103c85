internal import Storage

extension HotQueries {
    /// What the watch on match rates asks.
    package static let drift = [
        Query(
            name: "counts of watched groups",
            sql: SQLiteReader.driftCounts,
            plan: [
                "SEARCH counts USING PRIMARY KEY "
                    + "(scope=? AND campaign=? AND dimension=? AND span=? AND period>? AND period<?)"
            ]
        ),
        Query(
            name: "watched groups",
            sql: SQLiteReader.driftGroups,
            plan: ["SEARCH drift_groups USING PRIMARY KEY (scope=?)"]
        ),
        Query(
            name: "alarms",
            sql: SQLiteReader.driftAlarms,
            plan: ["SEARCH drift_groups USING INDEX drift_alarms (scope=?)"]
        ),
        Query(
            name: "deletion of old counts",
            sql: WriteContext.removeOldest,
            plan: [
                "SEARCH counts USING PRIMARY KEY (scope=? AND campaign=? AND dimension=? AND span=? AND period=?)",
                "SCALAR SUBQUERY",
                "SEARCH counts USING PRIMARY KEY (scope=? AND campaign=? AND dimension=? AND span=?)",
            ]
        ),
    ]
}
