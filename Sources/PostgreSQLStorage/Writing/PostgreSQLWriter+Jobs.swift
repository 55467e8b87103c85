#if PostgreSQL
internal import Attribution
internal import PostgreSQL
internal import Storage

/// Writes leases and results of jobs.
extension PostgreSQLWriter {
    func take(_ lease: JobLease) throws(PostgreSQLError) -> Bool {
        let (job, now) = (lease.name, lease.now.milliseconds)
        let taken = try batch.run(
            JobRows.take,
            job,
            lease.holder,
            now,
            lease.milliseconds,
            JobLease.noProgress,
            lease.isRenewal
        )
        return taken.count > 0
    }

    func finish(_ job: JobName, for holder: Int64, progress: Timestamp) throws(PostgreSQLError) {
        try batch.run(JobRows.finish, job.rawValue, holder, progress.milliseconds)
    }

    func noteSettled(at now: Timestamp) throws(PostgreSQLError) {
        try batch.run(JobRows.noteSettled, now.milliseconds)
    }

    func keep(_ figures: [(name: String, value: Double)], as report: FigureReport, of scope: Scope)
        throws(PostgreSQLError)
    {
        try batch.run(Self.removeFigures, scope.number, report.rawValue)
        try batch.run(
            Self.addFigures,
            scope.number,
            report.rawValue,
            figures.map(\.name),
            figures.map(\.value)
        )
    }

    private static let removeFigures: PreparedStatement =
        "DELETE FROM figures WHERE scope = $1 AND report = $2"
    private static let addFigures: PreparedStatement =
        "INSERT INTO figures SELECT $1, $2, * FROM unnest($3, $4)"

    /// Stores the findings of an evaluation, and deletes the counts that no later evaluation reads.
    func keep(_ findings: DriftDetector.Findings, of scope: Scope, end: Timestamp) throws(PostgreSQLError) {
        try batch.run(Self.removeGroups, scope.number)
        var groups = ColumnArrays(DriftRecord.columns)
        for reading in findings.readings { groups.append(DriftRecord(reading, of: scope)) }
        if !groups.isEmpty { try batch.run(Self.addGroups, groups) }
        let start = DriftHistory.start(before: end).milliseconds
        for side in DriftSide.allCases {
            try batch.run(Self.removeOldest, scope.number, start, side.dimension.rawValue)
        }
    }

    private static let removeGroups = PreparedStatement("DELETE FROM drift_groups WHERE scope = $1")
    private static let addGroups: PreparedStatement = """
        INSERT INTO drift_groups (\(DriftRecord.columns)) SELECT * FROM \(rowsWith: DriftRecord.columns)
        """
    /// Deletes the counts of at most four spans: usually one is too old, after a pause several are.
    private static let removeOldest: PreparedStatement = """
        DELETE FROM counts WHERE scope = $1 AND campaign = '' AND dimension = $3 AND span = \(Granularity.quarter.rawValue) AND period IN (
        SELECT DISTINCT period FROM counts WHERE scope = $1 AND campaign = '' AND dimension = $3
        AND span = \(Granularity.quarter.rawValue) AND period < $2 ORDER BY period LIMIT 4)
        """
}

/// Compacts the counts of rare names.
extension PostgreSQLWriter {
    func foldRareNames(_ names: RareNames) throws(PostgreSQLError) -> Bool {
        try run(
            names.dimension == .link ? Self.foldRareLinks : Self.foldCampaigns,
            orForValues: Self.foldValues,
            names
        )
    }

    func removeRareNames(_ names: RareNames) throws(PostgreSQLError) -> Bool {
        try run(
            names.dimension == .link ? Self.removeRareLinks : Self.removeCampaigns,
            orForValues: Self.removeValues,
            names
        )
    }

    /// Runs one of two statements; returns whether it changed any row.
    private func run(
        _ ranked: PreparedStatement,
        orForValues values: PreparedStatement,
        _ names: RareNames
    ) throws(PostgreSQLError) -> Bool {
        // Without the lock, a server could add counts between the statement that adds up the rare names' counts and
        // the statement that deletes them: these counts would be lost, and the names' ranks would change.
        if !batch.rows.hasLockedFold {
            try batch.look(Self.lockFold)
            batch.rows.hasLockedFold = true
        }
        let statement = names.dimension.isRanked ? ranked : values
        let changed = try batch.run(
            statement,
            names.scope.number,
            names.granularity.rawValue,
            names.period.milliseconds,
            Int64(names.limit),
            names.kept,
            names.dimension.rawValue
        )
        return changed.affectedCount > 0
    }

    private static let lockFold = PreparedStatement("SELECT FROM jobs WHERE name = 'fold' FOR UPDATE")

    // $1…$4 are the scope, the span, its start and the number of names that are not rare. The names of $5 are neither
    // ranked nor changed; the first one is the name for everything else. $6 is the dimension. One statement adds up or
    // deletes the rows of at most 32 rare names.

    private static let rareCampaigns: SQLText = """
        scope = $1 AND dimension IN (\(Dimension.total.rawValue), \(Dimension.source.rawValue), \(Dimension.platform.rawValue),
        \(Dimension.method.rawValue), \(Dimension.timeToInstall.rawValue), \(Dimension.playFinding.rawValue),
        \(Dimension.event.rawValue), \(Dimension.cohort.rawValue)) AND $6 >= 0
        AND span = $2 AND period = $3 AND campaign IN (
        SELECT campaign FROM counts WHERE scope = $1 AND span = $2 AND period = $3 AND metric = 'clicks'
        AND dimension = \(Dimension.total.rawValue) AND campaign <> '' AND campaign <> ALL ($5) ORDER BY count DESC LIMIT 32 OFFSET $4)
        """
    private static let rareLinks: SQLText = """
        scope = $1 AND dimension IN (\(Dimension.link.rawValue), \(Dimension.eventLink.rawValue)) AND $6 >= 0 AND span = $2 AND period = $3 AND campaign IN (
        SELECT campaign FROM counts WHERE scope = $1 AND span = $2 AND period = $3 AND metric = 'clicks'
        AND dimension = \(Dimension.link.rawValue) AND campaign <> ALL ($5) ORDER BY count DESC LIMIT 32 OFFSET $4)
        """
    private static let rareValues: SQLText = """
        scope = $1 AND campaign = '' AND dimension = $6 AND span = $2 AND period = $3 AND value IN (
        SELECT value FROM counts WHERE scope = $1 AND campaign = '' AND dimension = $6 AND span = $2
        AND period = $3 AND value <> ALL ($5) GROUP BY value
        ORDER BY coalesce(sum(count) FILTER (WHERE metric = 'clicks'), 0) DESC LIMIT 32 OFFSET $4)
        """
    private static let foldCampaigns: PreparedStatement =
        "\(foldNames) WHERE \(rareCampaigns) \(grouped) \(addToConflicting)"
    private static let foldRareLinks: PreparedStatement =
        "\(foldNames) WHERE \(rareLinks) \(grouped) \(addToConflicting)"
    private static let foldNames: SQLText = """
        INSERT INTO counts SELECT scope, ($5)[1], dimension, span, period, value, metric, \(clamped: "sum(count)") FROM counts
        """
    private static let grouped: SQLText = "GROUP BY 1, 2, 3, 4, 5, 6, 7 ORDER BY 1, 2, 3, 4, 5, 6, 7"
    private static let foldValues: PreparedStatement = """
        INSERT INTO counts SELECT scope, campaign, dimension, span, period, ($5)[1], metric, sum(count) FROM counts
        WHERE \(rareValues) \(grouped) \(addToConflicting)
        """
    static let addToConflicting: SQLText = """
        ON CONFLICT (scope, campaign, dimension, span, period, value, metric)
        DO UPDATE SET count = \(clamped: "counts.count::numeric + excluded.count")
        """
    private static let removeCampaigns = PreparedStatement("DELETE FROM counts WHERE \(rareCampaigns)")
    private static let removeRareLinks = PreparedStatement("DELETE FROM counts WHERE \(rareLinks)")
    private static let removeValues = PreparedStatement("DELETE FROM counts WHERE \(rareValues)")
}
#endif
