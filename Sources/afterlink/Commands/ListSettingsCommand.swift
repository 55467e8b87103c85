internal import JSON
internal import Server

/// The command `afterlink settings list`.
enum ListSettingsCommand {
    static let description = CommandDescription(
        name: "settings list",
        summary: "Show the value of every setting, and where it was set",
        discussion: [
            "Prints the settings as `afterlink serve` would read them from the same flags, environment and file, without"
                + " secrets. The page Settings of the dashboard shows the settings of a running process, and"
                + " `afterlink help settings` explains each."
        ],
        options: [.json],
        settings: ServeCommand.description.settings,
        examples: [
            "afterlink settings list --config /etc/afterlink.json":
                "Show what this file and the environment set."
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        let settings = ShownSetting.all(try ConfigurationReader.examine(invocation).1)
        let json = JSONWriter.text { json in
            json.objects("settings", settings) { json, setting in
                json.member("name", setting.name)
                json.member("value", setting.value)
                json.member("from", setting.origin)
            }
        }
        let table = settings.table([
            .left("SETTING", \.name), .left("VALUE", \.value), .left("FROM", \.origin),
        ])
        invocation.show(table, json: json)
    }
}
