/// The table of settings as text, for the terminal and for the README.
package enum SettingsDocumentation {
    /// The output of `afterlink help settings`.
    package static var text: String {
        let sections = HelpText.settings(Setting.all) { setting in
            let places = [setting.flag, setting.environmentVariable, setting.fileKey].compactMap(\.self)
            return places.joined(separator: ", ")
        }
        return """
            What can be set. Flags win over environment variables, these over the JSON file
            that --config FILE or AFTERLINK_CONFIG names. Settings that may be repeated are
            separated by commas in the environment and are arrays in the file. Secrets have
            no flag: anybody on the machine could read them.

            \(sections.joined(separator: "\n\n"))
            """
    }

    /// The table that stands in the README.
    package static var markdown: String {
        let rows = Setting.all.map { setting in
            let flag = setting.flag.map { "`\($0)\(setting.placeholder.map { " \($0)" } ?? "")`" } ?? "–"
            let repeats = setting.isRepeatable ? " May be repeated." : ""
            return "| \(flag.escapedForTable) | `\(setting.environmentVariable)` | `\(setting.fileKey)` "
                + "| \(setting.defaultText) | \(setting.help)\(repeats) |"
        }
        let head = [
            "| flag | environment | file | default | meaning |",
            "|---|---|---|---|---|",
        ]
        return (head + rows).joined(separator: "\n")
    }
}

extension String {
    /// A bar would end a table's cell.
    fileprivate var escapedForTable: String {
        map { $0 == "|" ? "\\|" : String($0) }.joined()
    }
}
