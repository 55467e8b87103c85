/// Puts together what flags, environment and file say: flags over environment over file over defaults.
package struct ConfigurationReader {
    /// One wrong value, and where it stands.
    struct Problem {
        let place: String
        /// Nil where the value is secret, or where the name is what is wrong.
        let value: String?
        let sentence: String

        var text: String {
            let shown = value.map { " \"\($0.prefix(200))\"" } ?? ""
            return "  " + Self.printable("\(place)\(shown) \(sentence)")
        }

        /// Names and values come from outside: their control characters do not reach the terminal.
        private static func printable(_ text: String) -> String {
            let scalars = text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? "?" : $0 }
            return String(String.UnicodeScalarView(scalars))
        }
    }

    /// A setting that is not its default, and where its value stands.
    package struct Origin: Sendable {
        let setting: Setting
        /// As in `--listen`, or `listen in /etc/afterlink.json`.
        let place: String
        let texts: [String]
    }

    private let arguments: Arguments
    private let environment: [String: String]
    private let settings: [Setting]
    private var problems: [Problem] = []
    /// Why the file says nothing.
    private var fileFailure: CommandFailure?
    private var origins: [Origin] = []

    /// Reads the settings that a command takes.
    ///
    /// - Throws: one failure that names everything that is wrong.
    package static func read(
        _ invocation: Invocation,
        readFile: (String) throws -> String = TextFile.read
    ) throws -> Configuration {
        var reader = ConfigurationReader(invocation)
        return try reader.configuration(readFile: readFile)
    }

    /// As ``read(_:readFile:)``, with where each value came from.
    package static func examine(_ invocation: Invocation) throws -> (Configuration, [Origin]) {
        var reader = ConfigurationReader(invocation)
        let configuration = try reader.configuration(readFile: TextFile.read)
        return (configuration, reader.origins)
    }

    private init(_ invocation: Invocation) {
        arguments = invocation.arguments
        environment = invocation.environment
        settings = invocation.command.settingsTaken
    }

    private mutating func configuration(
        readFile: (String) throws -> String
    ) throws -> Configuration {
        let file = fileValues(readFile: readFile)
        var configuration = Configuration()
        for setting in settings {
            guard let found = lookUp(setting, in: file) else { continue }
            origins.append(Origin(setting: setting, place: found.place, texts: found.texts))
            for refusal in setting.read(found.texts, &configuration) {
                let sentence = refusal.sentence ?? "must be \(setting.allowed)"
                let value = setting.isSecret ? nil : refusal.text
                problems.append(Problem(place: found.place, value: value, sentence: sentence))
            }
        }
        for conflict in configuration.conflicts {
            guard let setting = settings.first(where: { $0.name == conflict.setting }) else { continue }
            let place = lookUp(setting, in: file)?.place ?? setting.flag ?? setting.environmentVariable
            problems.append(
                Problem(place: place, value: conflict.value, sentence: conflict.sentence)
            )
        }
        if let failure = failure() { throw failure }
        return configuration
    }

    private func lookUp(_ setting: Setting, in file: ConfigurationFile?) -> (place: String, texts: [String])?
    {
        if let flag = setting.flag, let texts = arguments.values(setting.name) {
            return (flag, texts)
        }
        // An empty variable is one that a compose file or a unit passes on unset.
        if let text = environment[setting.environmentVariable], !text.isEmpty {
            return (setting.environmentVariable, setting.isRepeatable ? Self.list(text) : [text])
        }
        if let file, let texts = file.values[setting.fileKey] {
            return (file.place(of: setting.fileKey), texts)
        }
        return nil
    }

    /// The parts between commas, without the blanks around them.
    private static func list(_ text: String) -> [String] {
        text.split(separator: ",").map { part in
            String(part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
    }

    private mutating func fileValues(
        readFile: (String) throws -> String
    ) -> ConfigurationFile? {
        guard let path = arguments.value("config") ?? environment["AFTERLINK_CONFIG"], !path.isEmpty else {
            return nil
        }
        do {
            let file = try ConfigurationFile(path: path, text: try readFile(path))
            problems += file.problems
            return file
        } catch {
            fileFailure = CommandFailure(describing: error)
            return nil
        }
    }

    /// Everything that is wrong, of the file and of the values, in one.
    private func failure() -> CommandFailure? {
        guard !problems.isEmpty else { return fileFailure }
        let count = problems.count == 1 ? "One setting is" : "\(problems.count) settings are"
        let lines = problems.map(\.text).joined(separator: "\n")
        let advice = "`afterlink help settings` lists every setting, its names and what it may be."
        return CommandFailure(
            .configuration,
            (fileFailure.map { "\($0.explanation)\n" } ?? "")
                + "\(count) wrong, so nothing was done:\n\(lines)",
            advice: (fileFailure.map { "\($0.advice)\n" } ?? "") + advice
        )
    }
}
