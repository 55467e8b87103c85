internal import Attribution
internal import Server
internal import Storage

/// Checks by settings and traffic whether the apps' policies can do what they are meant to.
enum PolicyExamination {
    /// The most apps whose traffic is looked at.
    private static let appLimit = 100

    static func diagnoses(_ configuration: Configuration, _ report: DatabaseReport, at now: Timestamp) async
        -> [Diagnosis]
    {
        let directory = report.directory
        var figures: [AppID: PolicyFigures] = [:]
        // Other checks report a database that cannot be read, or that is of an older version.
        if report.summary.pendingMigrations.isEmpty,
            let database = try? CommandDatabase.open(configuration, for: .reading)
        {
            defer { database.close() }
            for app in directory.apps.prefix(appLimit) {
                let query = StatisticsQuery(app: app.id)
                guard let statistics = try? await database.statistics.statistics(query, at: now) else {
                    continue
                }
                figures.merge(statistics.policyFigures(of: query)) { $1 }
            }
        }
        let warnings = directory.policyWarnings(figures)
        guard !warnings.isEmpty else { return [.ok("policies", "what the apps are set to can be followed")] }
        return warnings.map { .warning("policies", $0, "look whether it is meant so") }
    }
}
