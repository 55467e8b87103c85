internal import Attribution
internal import Crypto
internal import Server
internal import Storage

/// The command `afterlink doctor`.
enum DoctorCommand {
    static let description = CommandDescription(
        name: "doctor",
        summary: "Examine settings, keys, clock, disk, files, domain files and the service",
        discussion: [
            "Examines what the service depends on and prints a line for each finding: ok, warning or problem, with what"
                + " to do. Give it the settings of the service. It prints no secret. It sends a test request to each domain that"
                + " an app names for Apple's postbacks, and changes nothing but the record of this test. The exit status is"
                + " 1 if there is a problem.",
            "--request-from shows the client address of a request: the peer of its connection, or the address that"
                + " trusted proxies forward.",
        ],
        options: CommandOption.table([
            "request-from ADDRESS": "Also show the client address of a request from this peer address.",
            "forwarded-for TEXT ...": "One X-Forwarded-For field line of that request.",
            "forwarded TEXT ...": "One Forwarded field line (RFC 7239) of that request.",
        ]) + [.jsonObject],
        settings: Setting.all.map(\.name),
        examples: [
            "afterlink doctor --data-directory /var/lib/afterlink":
                "Examine everything that the service needs.",
            "afterlink doctor --trusted-proxy 10.0.0.0/8 --request-from 10.0.0.7"
                + " --forwarded-for '203.0.113.9, 10.0.0.3'": "Show which of these is the client address.",
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        let arguments = invocation.arguments
        let request = try RequestExamination(arguments)
        let (given, origins) = try ConfigurationReader.examine(invocation)
        let configuration = withFullPaths(given)
        var diagnoses = Diagnosis.settings(origins, invocation.environment)
        if let request { diagnoses += request.diagnoses(trusting: configuration.trustedProxies) }
        let library = type(of: Wiring.database(configuration)).library
        diagnoses.append(.ok("versions", "\(ProgramVersion.text), \(library), \(OpenSSLLibrary.version)"))
        diagnoses.append(.durability(configuration))
        let now = WallClock.system.now()
        if let files = TLSFiles(configuration) { diagnoses.append(.certificate(files, at: now)) }
        if let tables = Diagnosis.tables(configuration) { diagnoses.append(tables) }
        diagnoses += await databaseDiagnoses(configuration, origins, at: now)
        diagnoses += FileExamination(configuration).diagnoses()
        Console.print(
            arguments.has("json") ? Diagnosis.json(diagnoses) : diagnoses.map(\.line).joined(separator: "\n")
        )
        if diagnoses.contains(where: { $0.status == .problem }) { throw ExitCode.failed }
    }

    /// Returns the configuration with full paths, so that findings are clear in any folder.
    private static func withFullPaths(_ given: Configuration) -> Configuration {
        var configuration = given
        configuration.dataDirectory = TextFile.fullPath(given.dataDirectory)
        let paths: [WritableKeyPath<Configuration, String?>] = [
            \.serverKeyFile, \.secretFile, \.tlsCertificate, \.tlsKey, \.deviceData, \.robots, \.relayRanges,
            \.landingPage,
        ]
        for path in paths { configuration[keyPath: path] = given[keyPath: path].map(TextFile.fullPath) }
        return configuration
    }

    /// Returns a warning if a database lacks migrations; its survey may have failed because it reads newer tables.
    private static func olderVersion(_ configuration: Configuration) -> Diagnosis? {
        let plan = try? CommandDatabase.explaining(configuration) { try $0.migrationPlan() }
        guard let plan, !plan.applied.isEmpty, !plan.pending.isEmpty else { return nil }
        return .olderVersion("\(configuration.databaseName) is of an older version", lacking: plan.pending)
    }

    private static func databaseDiagnoses(
        _ configuration: Configuration,
        _ origins: [ConfigurationReader.Origin],
        at now: Timestamp
    ) async -> [Diagnosis] {
        let path = configuration.databasePath
        guard configuration.isOnServer || TextFile.exists(path) || TextFile.reachError(of: path) != nil else {
            return [
                .warning("database", "there is no database at \(path) yet")
                    .advising("`afterlink init` creates it; --database and --data-directory name another one")
            ] + ServiceExamination(configuration: configuration, holder: nil).diagnoses()
        }
        let report: DatabaseReport
        do {
            if configuration.isOnServer {
                try CommandDatabase.require(configuration)
            } else {
                try TextFile.requireReach(of: path)
            }
            report = try CommandDatabase.explaining(configuration) { try $0.survey() }
        } catch {
            return [olderVersion(configuration) ?? .problem("database", error)]
                + ServiceExamination(configuration: configuration, holder: nil).diagnoses()
        }
        let newest = FileExamination(configuration).newestChange
        let database = DatabaseExamination(report: report, isFile: !configuration.isOnServer, now: now)
        let server = report.server.map {
            DatabaseServerExamination($0, version: ProgramVersion.text, at: now).diagnoses()
        }
        // A probe cannot be recorded in a database of an older version, which the finding `database` reports.
        let isCurrent = report.summary.pendingMigrations.isEmpty
        let receivers =
            await isCurrent ? Diagnosis.applePostbacks(configuration, report.directory, at: now) : []
        return database.diagnoses() + (server ?? [])
            + ServerKeyExamination.diagnoses(configuration, report.summary, at: now)
            + Diagnosis.dashboardHost(configuration, report.directory)
            + Diagnosis.domainFiles(report.directory)
            + (await Diagnosis.traffic(configuration, report, at: now))
            + KeyExamination.diagnoses(report.directory.keys, at: now)
            + receivers
            + [.clock(now, newestClickAt: report.summary.newestClickAt, newestFileAt: newest)]
            + ServiceExamination(configuration: configuration, holder: report.holder).diagnoses()
            + InitialSettings.withoutEffect(origins, configuration, report.directory).map {
                .warning("settings", $0.text).advising($0.advice)
            }
    }
}
