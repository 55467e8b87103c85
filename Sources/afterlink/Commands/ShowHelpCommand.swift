/// The command `afterlink help`.
enum ShowHelpCommand {
    static let description = CommandDescription(
        name: "help",
        summary: "Explain a command, or list the settings",
        discussion: [
            "Explains a command, a group of commands such as `apps`, or `settings`: every setting with its flag, its"
                + " environment variable and its key in the configuration file."
        ],
        operands: [
            .optional("COMMAND", "The command, its first word, or `settings`."),
            .optional("COMMAND", "The second word of a command that has two."),
        ],
        options: CommandOption.table([
            "markdown": "Print the settings as the table of the article on faults and settings."
        ]),
        examples: [
            "afterlink help serve": "List the settings of a server.",
            "afterlink help apps create": "Explain how to create another app.",
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        guard invocation.arguments.operands == ["settings"] else {
            return Console.print(try Program.standard.help(on: invocation.arguments.operands))
        }
        let asMarkdown = invocation.arguments.has("markdown")
        Console.print(asMarkdown ? SettingsDocumentation.markdown : SettingsDocumentation.text)
    }
}

/// The command `afterlink version`.
enum ShowVersionCommand {
    static let description = CommandDescription(
        name: "version",
        summary: "Print the version",
        discussion: ["Prints the program's name and version. `afterlink --version` does the same."],
        options: [.jsonObject],
        examples: ["afterlink version": "Get the version for a report about a defect."],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        let version = ProgramVersion.text
        invocation.show("afterlink \(version)", json: "{\"version\":\"\(version)\"}")
    }
}
