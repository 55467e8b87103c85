/// The command `afterlink help`.
enum ShowHelpCommand {
    static let description = CommandDescription(
        name: "help",
        summary: "Explain a command, or list the settings",
        discussion: [
            "Explains a command, a group of commands such as `apps`, or `settings`: everything that can be set,"
                + " with its flag, environment variable and key in the configuration file."
        ],
        operands: [
            .optional("COMMAND", "What to explain."),
            .optional("COMMAND", "The second word of a command that has two."),
        ],
        options: CommandOption.table([
            "markdown": "Print the settings as the table that stands in the README."
        ]),
        examples: [
            "afterlink help serve": "What can be set when serving.",
            "afterlink help apps create": "How to make another app.",
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        guard invocation.arguments.operands == ["settings"] else {
            Console.print(try Program.standard.help(on: invocation.arguments.operands))
            return .success
        }
        let asMarkdown = invocation.arguments.has("markdown")
        Console.print(asMarkdown ? SettingsDocumentation.markdown : SettingsDocumentation.text)
        return .success
    }
}

/// The command `afterlink version`.
enum ShowVersionCommand {
    static let description = CommandDescription(
        name: "version",
        summary: "Print the version",
        discussion: ["Prints the program's name and version. `afterlink --version` does the same."],
        options: [.jsonObject],
        examples: ["afterlink version": "For a report about a defect."],
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
