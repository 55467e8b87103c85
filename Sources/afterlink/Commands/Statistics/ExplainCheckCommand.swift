internal import Attribution
internal import JSON
internal import Server

/// The command `afterlink explain`.
enum ExplainCheckCommand {
    static let description = CommandDescription(
        name: "explain",
        summary: "Explain why a check matched or did not match",
        discussion: [
            "Finds a recorded check and says why it ended as it did: the clicks with its fingerprint and what became of"
                + " each, and where there are none, what the fingerprint was made of and in which value the nearest"
                + " click differs, found again by trying the values of recent clicks.",
            "Takes the id of a check (chk_…, as GET /admin/api/checks lists them), of the request (the answer's"
                + " X-Request-ID), of a click (clk_…), or a fingerprint, whose last check is meant. Of a click that no"
                + " check found, says what became of it and which checks came near.",
            "Every match is recorded, and of other checks 2,000 a second; records are kept as long as clicks are after"
                + " their window. A serving process writes them with up to a second's delay.",
        ],
        operands: [.required("ID", "A check, request or click id, or a fingerprint.")],
        options: [.json],
        settings: CommandDatabase.settings + ["server-key-file", "device-data"],
        examples: ["afterlink explain chk_01jz8w6t7n3k5m9q2r4v6x8y0z": "Why did this launch find no click?"],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        let configuration = try ConfigurationReader.read(invocation)
        try CommandDatabase.require(configuration)
        let keys = try KeyCopy(server: configuration.serverKeyPath).keys
        let text = invocation.arguments.operands.first ?? ""
        guard let reference = CheckReference(text, keys: keys) else {
            throw CommandFailure.usage(
                "\"\(Table.printable(text))\" is no id of a check, request or click, and no fingerprint."
            )
            .advising("`afterlink help explain` says what it takes.")
        }
        let database = try CommandDatabase.open(configuration, for: .reading)
        defer { database.close() }
        let data = try TableFiles.settings(of: configuration).devices
        let explainer = Explainer(keys: keys, directory: try database.directory(), data: data)
        let isJSON = invocation.arguments.has("json")
        guard let explanation = try await database.checks.explanation(of: reference, by: explainer) else {
            if case .click(let id) = reference, let material = try await database.checks.material(ofClick: id)
            {
                let now = WallClock.system.now()
                let told = ClickExplanation(material, in: try database.directory(), at: now)
                Console.print(isJSON ? told.json().text : ClickExplanationText(explanation: told).text)
                return .success
            }
            throw CommandFailure.because("No check is recorded for this.")
                .advising(
                    "Records are kept as long as clicks are after their window, and a serving process writes them"
                        + " with up to a second's delay."
                )
        }
        Console.print(isJSON ? explanation.json().text : ExplanationText(explanation: explanation).text)
        return .success
    }
}
