internal import Attribution
internal import SQLite
internal import Storage

/// What a report says of probabilities: expected conversions, methods, calibration.
extension StatisticsReader {
    func addProbabilities(to report: inout StatisticsReport) throws(SQLiteError) {
        report.expected = try expected(ofCampaign: query.campaign?.text ?? "")
        for index in report.byCampaign.indices {
            report.byCampaign[index].expected = try expected(ofCampaign: report.byCampaign[index].name)
        }
        report.calibration = try calibration()
        let unrecorded = try connection.statement(Self.unrecordedChecks).first { $0.integer(0) }
        report.unrecordedChecks = unrecorded ?? 0
    }

    /// In the order in which they are tried.
    func methods() throws(SQLiteError) -> [StatisticsReport.Group] {
        var groups: [String: Tally] = [:]
        for app in apps { groups.merge(try self.groups(.method, of: app.scope), uniquingKeysWith: +) }
        return AttributionMethod.allCases.compactMap { method in
            groups[method.rawValue].map {
                StatisticsReport.Group(name: method.rawValue, counts: $0.counts)
            }
        }
    }

    private func expected(ofCampaign campaign: String) throws(SQLiteError) -> ExpectedConversions {
        var sum = ExpectedConversions.zero
        for (app, span) in apps.flatMap({ app in query.spans.map { (app, $0) } }) {
            let row = try connection.statement(ProbabilitySQL.sumOfExpected).first(
                app.scope.number,
                campaign,
                span.granularity.rawValue,
                span.first.milliseconds,
                span.end.milliseconds
            ) { ExpectedConversions(millionths: $0.integer(0), varianceMillionths: $0.integer(1)) }
            sum += row ?? .zero
        }
        return sum
    }

    /// Kept by day: a range within days takes in the whole of them.
    private func calibration() throws(SQLiteError) -> CalibrationTable {
        var table = CalibrationTable()
        let span = query.delaySpan
        for app in apps {
            try connection.statement(ProbabilitySQL.calibration).forEach(
                app.scope.number,
                span.granularity.rawValue,
                span.first.milliseconds,
                span.end.milliseconds
            ) { row in
                let bin = CalibrationTable.Bin(
                    launches: row.integer(1),
                    statedMillionths: row.integer(2),
                    expectedMillionths: row.integer(3),
                    right: row.integer(4)
                )
                table.add(bin, at: Int(clamping: row.integer(0)))
            }
        }
        return table
    }

    private static let unrecordedChecks: StaticString = """
        SELECT value FROM progress WHERE name = 'unrecorded_checks'
        """
}
