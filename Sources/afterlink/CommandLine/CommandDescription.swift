/// An option of one command, as opposed to a ``Setting``, which has other sources in addition to the command line.
package struct CommandOption: Sendable {
    /// The name without `--`.
    package let name: String
    /// The placeholder of the value in the help; nil for a switch.
    package let placeholder: String?
    package let isRepeatable: Bool
    package let help: String

    package init(_ name: String, _ placeholder: String? = nil, isRepeatable: Bool = false, help: String) {
        (self.name, self.placeholder, self.isRepeatable, self.help) = (name, placeholder, isRepeatable, help)
    }

    /// Returns options from a table: the syntax of each option, with its help.
    ///
    /// The syntax is the name, then the placeholder of the value if there is one, then `...` if the option may be
    /// repeated.
    static func table(_ rows: KeyValuePairs<String, String>) -> [CommandOption] {
        rows.map { syntax, help in
            let words = syntax.split(separator: " ").map(String.init)
            let isRepeatable = words.last == "..."
            let placeholder = words.dropFirst().dropLast(isRepeatable ? 1 : 0).joined(separator: " ")
            let value = placeholder.isEmpty ? nil : placeholder
            return CommandOption(words[0], value, isRepeatable: isRepeatable, help: help)
        }
    }

    package static let json = CommandOption("json", help: "Print JSON instead of a table.")
    static let jsonObject = CommandOption("json", help: "Print a JSON object instead.")
    package static let help = CommandOption("help", help: "Print this help; -h for short.")
    package static let config = CommandOption(
        "config",
        "FILE",
        help:
            "Read settings from this JSON file, such as {\"retention\":604800}; flags and environment variables override"
            + " it. AFTERLINK_CONFIG names it, too."
    )
}

/// A command: its name and arguments, its help, and its action.
package struct CommandDescription: Sendable {
    /// An argument without a name.
    package struct Operand: Sendable {
        package let placeholder: String
        package let isRequired: Bool
        package let help: String

        static func required(_ placeholder: String, _ help: String) -> Operand {
            Operand(placeholder: placeholder, isRequired: true, help: help)
        }

        static func optional(_ placeholder: String, _ help: String) -> Operand {
            Operand(placeholder: placeholder, isRequired: false, help: help)
        }
    }

    /// The words after `afterlink`, such as `apps create`.
    package let name: String
    /// One line for the overview, without a full stop.
    package let summary: String
    /// The paragraphs of the help.
    package let discussion: [String]
    package var operands: [Operand] = []
    package var options: [CommandOption] = []
    /// The names of the settings that the command takes.
    package var settings: [String] = []
    /// Complete calls, each with its purpose.
    package let examples: KeyValuePairs<String, String>
    /// Runs the command.
    ///
    /// If it has printed the reason for a failure, it throws an ``ExitCode``; the program prints any other error.
    let run: @Sendable (Invocation) async throws -> Void

    /// All options that the command accepts.
    package var allOptions: [CommandOption] { optionsBesideSettings + settingsTaken.compactMap(\.option) }

    /// The options that are not settings: the command's own, `--help`, and `--config` if it takes settings.
    package var optionsBesideSettings: [CommandOption] {
        options + (settings.isEmpty ? [] : [.config]) + [.help]
    }

    /// The settings that this command takes, in the table's order.
    package var settingsTaken: [Setting] { Setting.all.filter { settings.contains($0.name) } }
}

/// A call of a command, with its arguments.
package struct Invocation: Sendable {
    package let command: CommandDescription
    package let arguments: Arguments
    package let environment: [String: String]

    package init(command: CommandDescription, arguments: Arguments, environment: [String: String]) {
        self.command = command
        self.arguments = arguments
        self.environment = environment
    }

    /// Prints the command's result: the JSON with `--json`, else the text.
    func show(_ text: @autoclosure () -> String, json: @autoclosure () -> String) {
        Console.print(arguments.has("json") ? json() : text())
    }
}
