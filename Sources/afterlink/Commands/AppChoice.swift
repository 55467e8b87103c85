internal import Attribution

/// Finds the app that a command is about.
enum AppChoice {
    static let option = CommandOption(
        "app",
        "APP",
        help: "The app, by id or name; needed when there are several."
    )

    /// The app with this id or name; without one, the only app there is.
    static func find(_ text: String?, in directory: Directory) throws -> App {
        let names = directory.apps.map { "\($0.settings.name) (\($0.id.text))" }.joined(separator: ", ")
        guard let first = directory.apps.first else {
            throw CommandFailure(
                "There is no app in the database yet.",
                advice: "`afterlink apps create NAME` makes one."
            )
        }
        guard let text else {
            guard directory.apps.count == 1 else {
                throw CommandFailure(
                    .usage,
                    "There are several apps, and the command is about one: \(names).",
                    advice: "Say which one with --app."
                )
            }
            return first
        }
        if let app = directory.apps.first(where: { $0.id.text == text || $0.settings.name == text }) {
            return app
        }
        throw CommandFailure("There is no app \"\(text)\".", advice: "There are: \(names).")
    }
}
