internal import Attribution
internal import JSON
internal import Server

/// The command `afterlink explain`.
enum ExplainCheckCommand {
    static let description = CommandDescription(
        name: "explain",
        summary: "Explain why a check matched or did not match",
        discussion: [
            "Finds a recorded check and explains its outcome: it lists the clicks with the check's fingerprint and the state"
                + " of each. Without such clicks, it tries the values of recent clicks to find the values behind the"
                + " fingerprint, and shows the value in which the nearest click differs.",
            "ID is the id of a check (chk_…, as GET /admin/api/checks lists them), of a request (the X-Request-ID of its"
                + " response) or of a click (clk_…), or a fingerprint, which stands for its last check. For a click that no"
                + " check found, it shows the click's state and the checks that nearly found it.",
            "A serving process records every match and at most 2,000 other checks a second, within a second after the"
                + " check. The records stay for --retention-checks seconds.",
        ],
        operands: [.required("ID", "The id of a check, request or click, or a fingerprint.")],
        options: [.json],
        settings: CommandDatabase.settings + ["server-key-file", "secret-file", "device-data"],
        examples: [
            "afterlink explain chk_01jz8w6t7n3k5m9q2r4v6x8y0z": "Show why this launch found no click."
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        let configuration = try ConfigurationReader.read(invocation)
        try CommandDatabase.require(configuration)
        let keys = try configuration.storedServerKeys()
        let text = invocation.arguments.operands.first ?? ""
        guard let reference = CheckReference(text, keys: keys) else {
            let shown = Table.printable(text)
            throw CommandFailure.usage(
                "\"\(shown)\" is neither a fingerprint nor an id of a check, request or click."
            ).advising("`afterlink help explain` describes each of them.")
        }
        let database = try CommandDatabase.open(configuration, for: .reading)
        defer { database.close() }
        let data = try TableFiles.settings(of: configuration).devices
        let explainer = Explainer(keys: keys, directory: try database.directory(), data: data)
        guard let explanation = try await database.checks.explanation(of: reference, by: explainer) else {
            if case .click(let id) = reference, let material = try await database.checks.material(ofClick: id)
            {
                let now = WallClock.system.now()
                let explanation = ClickExplanation(material, in: try database.directory(), at: now)
                let text = ClickExplanationText(explanation: explanation)
                return invocation.show(text.text, json: explanation.json().text)
            }
            if case .click = reference {
                throw CommandFailure.because("The database has no click with this id.")
                    .advising("Clicks stay for --retention seconds after the end of their window.")
            }
            throw CommandFailure.because("The database has no record of this check.")
                .advising(
                    "Records stay for --retention-checks seconds. A serving process writes them within a second."
                )
        }
        invocation.show(ExplanationText(explanation: explanation).text, json: explanation.json().text)
    }
}
