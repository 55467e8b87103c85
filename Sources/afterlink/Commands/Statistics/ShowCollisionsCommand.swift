internal import Attribution
internal import JSON
internal import Server

/// The command `afterlink collisions`.
enum ShowCollisionsCommand {
    static let description = CommandDescription(
        name: "collisions",
        summary: "Count how many people share a fingerprint, and expect false matches",
        discussion: [
            "Reads all clicks and all records of checks that are held, and tells for each platform and form of fingerprint"
                + " how many clicks were alone on theirs, that is, with whose fingerprint nobody else had clicked within"
                + " the attribution window before them, and how many clicks of other people competed on average.",
            "Adds up what the recorded matches by fingerprint leave over to certainty: so many of them are expected to be"
                + " wrong. Of the limits below, each is the lowest minimum confidence and the longest window up to the"
                + " present one that keeps the share of wrong matches at most so high, with the matches there would be"
                + " then. A window that costs more than half of the right matches is not told.",
            "A serving process counts the same beside its work and shows it in `afterlink stats`; this command counts"
                + " anew. It takes the longer the more clicks are held, says how far it has come, and holds nobody up.",
        ],
        options: CommandOption.table([
            "app APP": "Only this app, by id or name.",
            "test": "Test clicks and checks instead of live ones.",
        ]) + [.json],
        settings: CommandDatabase.settings + ["attribution-window"],
        examples: [
            "afterlink collisions --app Shop":
                "How many matches of the app are expected to be wrong, and what would make them fewer?"
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
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
        guard !arguments.has("json") else {
            var json = JSONWriter()
            json.object { CollisionBody.write(collisions, in: directory, to: &$0) }
            Console.print(json.text)
            return .success
        }
        guard !collisions.isEmpty else {
            Console.printError(
                "There is no app in the database yet: `afterlink apps create NAME` makes one.\n"
            )
            return .success
        }
        let texts = CollisionTables(collisions: collisions, directory: directory).texts
        Console.print(texts.joined(separator: "\n\n"))
        return .success
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
            return ["\(head) no click with a fingerprint and no match by one is held."]
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
            .right("CLICKS") { String(Int($0.crowding.clicks.rounded())) },
            .right("ALONE") { Table.percent($0.crowding.alone) },
            .right("COMPETING") { $0.crowding.competing.map { Self.decimal($0, digits: 1) } ?? "–" },
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
