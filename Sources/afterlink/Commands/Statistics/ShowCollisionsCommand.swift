internal import Attribution
internal import JSON
internal import Server

/// The command `afterlink collisions`.
enum ShowCollisionsCommand {
    static let description = CommandDescription(
        name: "collisions",
        summary: "Count how many people share a fingerprint, and estimate false matches",
        discussion: [
            "Reads all stored clicks and records of checks. For each platform and form of fingerprint it prints how many"
                + " clicks were alone (no other person had clicked with the fingerprint within the attribution window"
                + " before) and how many clicks of other people competed on average.",
            "Estimates how many of the recorded matches by fingerprint are wrong, from their probabilities. For each limit"
                + " of the share of wrong matches it prints the lowest minimum confidence and the longest window, up to the"
                + " current one, that keep the limit, and the number of matches with either. It omits a window that would"
                + " lose more than half of the right matches.",
            "A serving process counts the same in the background and shows it in `afterlink stats`; this command counts now."
                + " Its time grows with the number of stored clicks. It shows its progress and delays no other process.",
        ],
        options: CommandOption.table([
            "app APP": "Only this app, by id or name.",
            "test": "Test clicks and checks instead of live ones.",
        ]) + [.json],
        settings: CommandDatabase.settings + ["attribution-window"],
        examples: [
            "afterlink collisions --app Shop":
                "Show how many matches of the app are expected to be wrong, and the settings that lower the number."
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        let arguments = invocation.arguments
        let configuration = try ConfigurationReader.read(invocation)
        let database = try CommandDatabase.open(configuration, for: .reading)
        defer { database.close() }
        let directory = try database.directory()
        let apps = try arguments.value("app").map { text in [try AppChoice.find(text, in: directory)] }
        var collisions: [AppCollisions] = []
        var line = ProgressLine()
        for app in apps ?? directory.apps {
            let report = try await database.statistics.countCollisions(
                of: app.id,
                isTest: arguments.has("test"),
                window: app.settings.window ?? configuration.attributionWindow,
                at: WallClock.system.now()
            ) { line.update("Counting \(app.settings.name): \(Int($0 * 100)) %") }
            if let report { collisions.append(AppCollisions(app: app.id, report: report)) }
        }
        line.finish()
        guard !collisions.isEmpty || arguments.has("json") else {
            return Console.printError(
                "The database has no app yet: `afterlink apps create NAME` creates one.\n"
            )
        }
        let texts = CollisionTables(collisions: collisions, directory: directory).texts
        let json = JSONWriter.text { CollisionBody.write(collisions, in: directory, to: &$0) }
        invocation.show(texts.joined(separator: "\n\n"), json: json)
    }
}

/// Reports on collisions as tables, app by app.
struct CollisionTables {
    let collisions: [AppCollisions]
    let directory: Directory

    var texts: [String] { collisions.flatMap(texts) }

    private func texts(_ app: AppCollisions) -> [String] {
        let report = app.report
        let known = directory.app(app.app)
        let name = known?.settings.name ?? app.app.text
        let window = ElapsedTime.text(milliseconds: report.window.seconds * 1000)
        let head = "Collisions of \(name), window \(window), counted \(report.countedAt.iso8601):"
        guard !report.forms.isEmpty || report.matches > 0 else {
            return ["\(head) no click with a fingerprint and no match by one is stored."]
        }
        return [
            "\(head)\n\(forms(report.forms))",
            matches(report, known?.settings.policy) + "\n" + limits(report.limits),
        ]
    }

    private func forms(_ forms: [CollisionReport.Form]) -> String {
        forms.table([
            .left("PLATFORM", \.platformForm.platform.rawValue),
            .left("FORM") { $0.platformForm.form?.rawValue ?? "ready-made" },
            .right("CLICKS") { String(Int($0.sharing.clicks.rounded())) },
            .right("ALONE") { Table.percent($0.sharing.alone) },
            .right("COMPETING") { $0.sharing.competing.map { Self.decimal($0, digits: 1) } ?? "–" },
        ])
    }

    private func matches(_ report: CollisionReport, _ policy: MatchPolicy?) -> String {
        guard report.matches > 0 else { return "No match by a fingerprint is recorded." }
        let rule =
            policy.map {
                " (rule \($0.rule.rawValue), minimum confidence \(Self.decimal($0.minimumConfidence, digits: 2)))"
            } ?? ""
        return "Matches by fingerprint: \(report.matches) recorded\(rule), of which"
            + " \(Int(report.expectedFalse.rounded())) ± \(Int(report.spread.rounded())) are expected to be wrong"
            + " (\(Table.percent(report.falseShare)))."
    }

    private func limits(_ limits: [FalseMatchLimit]) -> String {
        func window(_ window: AttributionWindow) -> String {
            ElapsedTime.text(milliseconds: window.seconds * 1000)
        }
        return limits.table([
            .left("WRONG AT MOST") { "\(Int(($0.share * 100).rounded())) %" },
            .right("MINIMUM CONFIDENCE") {
                $0.threshold.map { Self.decimal($0.minimum, digits: 3) } ?? "none does"
            },
            .right("MATCHES") { $0.threshold.map { String($0.matches) } ?? "–" },
            .right("OR WINDOW") { $0.window.map { window($0.window) } ?? "none does" },
            .right("MATCHES") { $0.window.map { String($0.matches) } ?? "–" },
        ])
    }

    private static func decimal(_ number: Double, digits: Int) -> String {
        var unit = 1.0
        for _ in 0..<digits { unit *= 10 }
        return String((number * unit).rounded() / unit)
    }
}
