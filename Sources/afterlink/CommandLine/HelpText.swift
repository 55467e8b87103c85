/// Lays out what `help` prints, for a terminal of 80 columns.
package enum HelpText {
    private static let width = 80

    /// Returns the output of `afterlink help`.
    package static func overview(of commands: [CommandDescription]) -> String {
        let indent = (commands.map(\.name.count).max() ?? 0) + 4
        let lines = commands.map { command in "  " + command.name.padded(to: indent - 2) + command.summary }
        return """
            Afterlink records the click on a campaign link and returns the link to the app's
            first launch.

            Usage: afterlink COMMAND [options]

            Commands:
            \(lines.joined(separator: "\n"))

            `afterlink help COMMAND` explains a command, `afterlink help settings` lists the
            settings with their flags, environment variables and keys in a file.
            To start: `afterlink demo` plays a click and a launch, `afterlink serve` serves.
            """
    }

    /// Returns the help on the commands with the same first word, as `afterlink help apps` prints it.
    package static func group(_ word: String, of commands: [CommandDescription]) -> String {
        let indent = (commands.map(\.name.count).max() ?? 0) + 14
        let lines = commands.map { "  " + "afterlink \($0.name)".padded(to: indent - 2) + $0.summary }
        return """
            Usage: afterlink \(word) \(commands.map(\.lastWord).joined(separator: "|")) [options]

            \(lines.joined(separator: "\n"))

            `afterlink help \(word) COMMAND` explains a command.
            """
    }

    /// Returns the help on one command, as `afterlink help serve` prints it.
    package static func command(_ command: CommandDescription) -> String {
        var parts = [synopsis(command)]
        parts += command.discussion.map { wrapped($0, indent: 0).joined(separator: "\n") }
        if !command.operands.isEmpty {
            let rows = command.operands.map { entry($0.placeholder, $0.help) }
            parts.append("Arguments:\n" + rows.joined(separator: "\n"))
        }
        let options = command.optionsBesideSettings.map { option in
            entry(synopsis(option), option.help + (option.isRepeatable ? " May be repeated." : ""))
        }
        parts.append("Options:\n" + options.joined(separator: "\n"))
        parts += settings(command.settingsTaken) { $0.option.map(synopsis) ?? $0.environmentVariable }
        let examples = command.examples.map {
            "  \($0.key)\n" + wrapped($0.value, indent: 6).joined(separator: "\n")
        }
        if !examples.isEmpty { parts.append("Examples:\n" + examples.joined(separator: "\n")) }
        return parts.joined(separator: "\n\n")
    }

    /// Returns one text for each section: its heading, then each setting's head, help and default.
    static func settings(_ settings: [Setting], head: (Setting) -> String) -> [String] {
        Setting.Section.allCases.compactMap { section in
            let members = settings.filter { $0.section == section }
            guard !members.isEmpty else { return nil }
            let entries = members.map { setting in
                entry(head(setting), "\(setting.help) Default: \(setting.defaultText).")
            }
            return "\(section.rawValue):\n" + entries.joined(separator: "\n")
        }
    }

    private static func entry(_ head: String, _ text: String) -> String {
        "  \(head)\n" + wrapped(text, indent: 6).joined(separator: "\n")
    }

    private static func synopsis(_ option: CommandOption) -> String {
        "--\(option.name)" + (option.placeholder.map { " \($0)" } ?? "")
    }

    private static func synopsis(_ command: CommandDescription) -> String {
        let operands = command.operands.map { $0.isRequired ? " \($0.placeholder)" : " [\($0.placeholder)]" }
        return "Usage: afterlink \(command.name)\(operands.joined()) [options]"
    }

    /// Breaks a paragraph into lines of at most ``width`` characters.
    private static func wrapped(_ text: String, indent: Int) -> [String] {
        let margin = String(repeating: " ", count: indent)
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, indent + line.count + 1 + word.count > width {
                lines.append(margin + line)
                line = ""
            }
            line += line.isEmpty ? String(word) : " \(word)"
        }
        return lines + [margin + line]
    }
}

extension CommandDescription {
    var firstWord: String { name.split(separator: " ").first.map(String.init) ?? name }
    var lastWord: String { name.split(separator: " ").last.map(String.init) ?? name }
}

extension String {
    /// Returns the text with blanks on the right up to the width.
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}

/// The table of settings, for the terminal and for the article on faults and settings.
package enum SettingsDocumentation {
    /// The output of `afterlink help settings`.
    package static var text: String {
        let sections = HelpText.settings(Setting.all) { setting in
            let places = [setting.flag, setting.environmentVariable, setting.fileKey].compactMap(\.self)
            return places.joined(separator: ", ")
        }
        return """
            Flags override environment variables, and these override the JSON file that
            --config FILE or AFTERLINK_CONFIG names. Several values of a setting have commas
            between them in the environment, and are an array in the file. Secrets have no
            flag, because every user of the machine can read the command line.

            \(sections.joined(separator: "\n\n"))
            """
    }

    /// The table in the article FaultsAndSettings.md.
    package static var markdown: String {
        let rows = Setting.all.map { setting in
            let flag = setting.flag.map { "`\($0)\(setting.placeholder.map { " \($0)" } ?? "")`" } ?? "–"
            return "| \(flag.escapedForTable) | `\(setting.environmentVariable)` | `\(setting.fileKey)` "
                + "| \(setting.defaultText) | \(setting.help) |"
        }
        let head = ["| flag | environment | file | default | meaning |", "|---|---|---|---|---|"]
        return (head + rows).joined(separator: "\n")
    }
}

extension String {
    /// The text with `|` escaped, because `|` ends a cell.
    fileprivate var escapedForTable: String { map { $0 == "|" ? "\\|" : String($0) }.joined() }
}
