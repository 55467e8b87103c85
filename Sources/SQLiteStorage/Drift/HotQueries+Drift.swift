internal import Storage

extension HotQueries {
    /// What the watch on match rates asks.
    package static let drift = [
        Query(
            name: "counts of watched groups",
            sql: DriftRows.counters,
            plan: ["SEARCH drift_counters USING PRIMARY KEY (scope=? AND period>? AND period<?)"]
        ),
        Query(
            name: "groups of a span",
            sql: AdmittedDriftGroups.counted,
            plan: ["SEARCH drift_counters USING PRIMARY KEY (scope=? AND period=?)"]
        ),
        Query(
            name: "watched groups",
            sql: DriftRows.groups,
            plan: ["SEARCH drift_groups USING PRIMARY KEY (scope=?)"]
        ),
        Query(
            name: "alarms",
            sql: DriftRows.alarms,
            plan: ["SEARCH drift_groups USING INDEX drift_alarms (scope=?)"]
        ),
        Query(
            name: "deletion of old counts",
            sql: WriteContext.removeOldest,
            plan: [
                "SEARCH drift_counters USING PRIMARY KEY (scope=? AND period=?)", "SCALAR SUBQUERY",
                "SEARCH drift_counters USING PRIMARY KEY (scope=?)",
            ]
        ),
    ]
}
