/// The command `afterlink version`.
enum ShowVersionCommand {
    static let description = CommandDescription(
        name: "version",
        summary: "Print the version",
        discussion: ["Prints the program's name and version. `afterlink --version` does the same."],
        options: [CommandOption("json", help: "Print a JSON object instead.")],
        examples: [
            "afterlink version": "For a report about a defect."
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        let isJSON = invocation.arguments.has("json")
        Console.print(
            isJSON ? "{\"version\":\"\(ProgramVersion.text)\"}" : "afterlink \(ProgramVersion.text)"
        )
        return .success
    }
}
