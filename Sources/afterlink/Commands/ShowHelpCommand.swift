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
            CommandDescription.Operand(placeholder: "COMMAND", isRequired: false, help: "What to explain."),
            CommandDescription.Operand(
                placeholder: "COMMAND",
                isRequired: false,
                help: "The second word of a command that has two."
            ),
        ],
        options: [
            CommandOption("markdown", help: "Print the settings as the table that stands in the README.")
        ],
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
