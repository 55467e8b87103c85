internal import Attribution
internal import SQLite
internal import Storage

/// Compacts the counts of rare names.
extension SQLiteWriter {
    func foldRareNames(_ names: RareNames) throws(SQLiteError) -> Bool {
        try run(
            names.dimension == .link ? Self.foldRareLinks : Self.foldCampaigns,
            orForValues: Self.foldValues,
            names
        )
    }

    func removeRareNames(_ names: RareNames) throws(SQLiteError) -> Bool {
        try run(
            names.dimension == .link ? Self.removeRareLinks : Self.removeCampaigns,
            orForValues: Self.removeValues,
            names
        )
    }

    /// Runs one of two statements; returns whether it changed any row.
    private func run(_ ranked: SQL, orForValues values: SQL, _ names: RareNames) throws(SQLiteError)
        -> Bool
    {
        let (scope, span) = (names.scope.number, names.granularity.rawValue)
        let period = names.period.milliseconds
        let kept = "[" + names.kept.map { "\"\($0)\"" }.joined(separator: ",") + "]"
        if names.dimension.isRanked {
            try connection.statement(ranked).run(scope, span, period, names.limit, kept)
        } else {
            let dimension = names.dimension.rawValue
            try connection.statement(values).run(scope, span, period, names.limit, kept, dimension)
        }
        return connection.changeCount > 0
    }

    // ?1…?3 are the scope, the span and its start. The names of the JSON list ?5 are neither ranked nor changed; the
    // counts of rare names are added to the first name of the list. One statement takes the rows of at most 32 rare
    // names.

    /// The rows of the 32 most clicked campaigns after the first ?4.
    private static let rareCampaigns: SQL = """
        scope = ?1 AND dimension IN (\(Dimension.total), \(Dimension.source), \(Dimension.platform),
            \(Dimension.method), \(Dimension.timeToInstall), \(Dimension.playFinding), \(Dimension.event), \(Dimension.cohort)) AND span = ?2 AND period = ?3 AND campaign IN (
                SELECT campaign FROM counts
                WHERE scope = ?1 AND span = ?2 AND period = ?3 AND metric = 'clicks' AND dimension = \(Dimension.total)
                    AND campaign <> '' AND campaign NOT IN (SELECT value FROM json_each(?5))
                ORDER BY count DESC LIMIT 32 OFFSET ?4
            )
        """
    /// The rows of the 32 most clicked links after the first ?4.
    private static let rareLinks: SQL = """
        scope = ?1 AND dimension IN (\(Dimension.link), \(Dimension.eventLink)) AND span = ?2 AND period = ?3 AND campaign IN (
                SELECT campaign FROM counts
                WHERE scope = ?1 AND span = ?2 AND period = ?3 AND metric = 'clicks' AND dimension = \(Dimension.link)
                    AND campaign NOT IN (SELECT value FROM json_each(?5))
                ORDER BY count DESC LIMIT 32 OFFSET ?4
            )
        """
    /// The rows of the 32 most clicked values of the dimension ?6 after the first ?4.
    private static let rareValues: SQL = """
        scope = ?1 AND campaign = '' AND dimension = ?6 AND span = ?2 AND period = ?3 AND value IN (
            SELECT value FROM counts
            WHERE scope = ?1 AND campaign = '' AND dimension = ?6 AND span = ?2 AND period = ?3
                AND value NOT IN (SELECT value FROM json_each(?5))
            GROUP BY value ORDER BY sum(iif(metric = 'clicks', count, 0)) DESC LIMIT 32 OFFSET ?4
        )
        """
    static let foldCampaigns: SQL = "\(foldNames) WHERE \(rareCampaigns) \(addToConflicting)"
    static let foldRareLinks: SQL = "\(foldNames) WHERE \(rareLinks) \(addToConflicting)"
    private static let foldNames: SQL = """
        INSERT INTO counts SELECT scope, ?5 ->> '$[0]', dimension, span, period, value, metric, count FROM counts
        """
    static let foldValues: SQL = """
        INSERT INTO counts
        SELECT scope, campaign, dimension, span, period, ?5 ->> '$[0]', metric, count FROM counts
        WHERE \(rareValues) \(addToConflicting)
        """
    static let removeCampaigns: SQL = "DELETE FROM counts WHERE \(rareCampaigns)"
    static let removeRareLinks: SQL = "DELETE FROM counts WHERE \(rareLinks)"
    static let removeValues: SQL = "DELETE FROM counts WHERE \(rareValues)"
}

extension SQLiteReader {
    func firstCountedDay(of scope: Scope) throws(SQLiteError) -> Timestamp? {
        let day = try connection.statement(Self.firstCountedDay).first(scope.number) { $0.optionalInteger(0) }
        return (day ?? nil).map { Timestamp(milliseconds: $0) }
    }

    static let firstCountedDay: SQL = """
        SELECT min(period) FROM counts
        WHERE scope = ?1 AND campaign = '' AND dimension = \(Dimension.total) AND span = \(Granularity.day)
        """
}
