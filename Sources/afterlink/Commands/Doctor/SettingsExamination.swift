internal import Attribution
internal import Server
internal import Storage

extension Diagnosis {
    /// Lists the settings that the operator set, each with its source, and warns of unknown environment variables.
    static func settings(_ origins: [ConfigurationReader.Origin], _ environment: [String: String])
        -> [Diagnosis]
    {
        var diagnoses = origins.map { origin in
            Diagnosis.ok("settings", "\(origin.setting.name) is \(origin.shownValue), from \(origin.place)")
        }
        diagnoses.append(
            .ok("settings", "all others have their defaults; `afterlink help settings` lists them")
        )
        for hint in Setting.unknownVariables(in: environment) {
            diagnoses.append(.warning("settings", hint).advising("correct or remove it"))
        }
        return diagnoses
    }

    /// States what a power cut may lose.
    static func durability(_ configuration: Configuration) -> Diagnosis {
        switch configuration.durability {
        case .full: .ok("durability", "full: an acknowledged click survives a power cut")
        case .relaxed:
            .warning("durability", "relaxed: a power cut may lose the clicks of the last seconds")
                .advising("set --durability full unless you accept that")
        }
    }

    /// Reports a host of the dashboard that is also a host of an app: the service would not start.
    static func dashboardHost(_ configuration: Configuration, _ directory: Directory) -> [Diagnosis] {
        guard let host = configuration.dashboardHost else { return [] }
        return directory.apps.compactMap { app in
            let problem = LinkHostChange.problem(of: app.settings, withDashboardAt: host)
            return problem.map {
                .problem("dashboard", $0.message).advising("the service does not start before that")
            }
        }
    }

    /// The maximum number of apps whose traffic is read.
    private static let appLimit = 100

    /// Warns of postback endpoints that get nothing, and of matching policies that the apps' settings or traffic make
    /// useless.
    static func traffic(_ configuration: Configuration, _ report: DatabaseReport, at now: Timestamp) async
        -> [Diagnosis]
    {
        let directory = report.directory
        var figures: [AppID: PolicyFigures] = [:]
        var endpoints: [EndpointStatus] = []
        // Other findings report a database that cannot be read, or that is of an older version.
        if report.summary.pendingMigrations.isEmpty,
            let database = try? CommandDatabase.open(configuration, for: .reading)
        {
            defer { database.close() }
            endpoints = (try? await database.postbacks.endpoints()) ?? []
            for app in directory.apps.prefix(appLimit) {
                let query = StatisticsQuery(app: app.id)
                let statistics = try? await database.statistics.statistics(query, at: now)
                if let statistics { figures.merge(statistics.policyFigures(of: query)) { $1 } }
            }
        }
        let stopped = endpoints.compactMap(\.endpoint.warning).map {
            Diagnosis.warning("postbacks", $0)
                .advising("then `afterlink postbacks replay` repeats the deliveries that were given up")
        }
        let warnings = directory.policyWarnings(figures)
        guard !warnings.isEmpty else {
            return stopped + [.ok("policies", "the apps' policies fit their settings and traffic")]
        }
        return stopped
            + warnings.map { .warning("policies", $0).advising("correct it unless you mean it") }
    }
}
