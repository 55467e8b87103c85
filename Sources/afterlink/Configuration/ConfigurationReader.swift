internal import Attribution
internal import JSON

/// Reads the settings of a command: flags override the environment, which overrides the file.
package struct ConfigurationReader {
    /// A wrong value or name, and its source.
    struct Problem {
        let place: String
        /// The wrong text; nil if it is secret, if the value is no text, or if the name is wrong.
        let value: String?
        let sentence: String

        var text: String {
            let shown = value.map { " \"\($0.prefix(200))\"" } ?? ""
            return "  " + Table.printable("\(place)\(shown) \(sentence)")
        }
    }

    /// A setting that the operator set, and the source of its value.
    package struct Origin: Sendable {
        let setting: Setting
        /// The source, as in `--listen`, or `listen in /etc/afterlink.json`.
        let place: String
        let texts: [String]

        /// The value without secrets, for people.
        var shownValue: String {
            guard !setting.isSecret else { return "set (not shown)" }
            let value = texts.map(DatabaseURL.withoutSecrets).joined(separator: ", ")
            return value.isEmpty ? "on" : value
        }
    }

    private let arguments: Arguments
    private let environment: [String: String]
    private let settings: [Setting]
    private var problems: [Problem] = []
    /// The reason why the file cannot be read.
    private var fileFailure: CommandFailure?
    private var origins: [Origin] = []

    /// Reads the settings that a command takes.
    ///
    /// - Throws: one failure that names every wrong setting.
    package static func read(
        _ invocation: Invocation,
        readFile: (String) throws -> String = TextFile.read
    ) throws -> Configuration {
        var reader = ConfigurationReader(invocation)
        return try reader.configuration(readFile: readFile)
    }

    /// Reads the settings that a command takes, with the source of each value.
    ///
    /// - Parameters:
    ///   - invocation: the command line.
    ///   - readFiles: reads the files that the settings name; called only if a setting is wrong, so that the failure
    ///     names the unreadable files too.
    /// - Returns: the configuration, and the sources.
    /// - Throws: one failure that names every wrong setting.
    package static func examine(
        _ invocation: Invocation,
        orAlso readFiles: (Configuration) throws -> Void = { _ in }
    ) throws -> (Configuration, [Origin]) {
        var reader = ConfigurationReader(invocation)
        let configuration = try reader.configuration(readFile: TextFile.read, orAlso: readFiles)
        return (configuration, reader.origins)
    }

    private init(_ invocation: Invocation) {
        arguments = invocation.arguments
        environment = invocation.environment
        settings = invocation.command.settingsTaken
    }

    private mutating func configuration(
        readFile: (String) throws -> String,
        orAlso readFiles: (Configuration) throws -> Void = { _ in }
    ) throws -> Configuration {
        let file = fileValues(readFile: readFile)
        var configuration = Configuration()
        for setting in settings {
            guard let found = lookUp(setting, in: file) else { continue }
            origins.append(Origin(setting: setting, place: found.place, texts: found.texts))
            if found.place == setting.flag, setting.name == "database", let text = found.texts.last,
                DatabaseURL.hasPassword(text)
            {
                problems.append(
                    Problem(place: found.place, value: nil, sentence: DatabaseURL.visiblePassword)
                )
            }
            for refusal in setting.read(found.texts, &configuration) {
                let sentence = refusal.sentence ?? "must be \(setting.allowed)"
                let value = setting.isSecret ? nil : refusal.text
                problems.append(Problem(place: found.place, value: value, sentence: sentence))
            }
        }
        for conflict in configuration.conflicts {
            guard let setting = settings.first(where: { $0.name == conflict.setting }) else { continue }
            let place = lookUp(setting, in: file)?.place ?? setting.flag ?? setting.environmentVariable
            problems.append(Problem(place: place, value: conflict.value, sentence: conflict.sentence))
        }
        var failures = [fileFailure, problemFailure].compactMap(\.self)
        if !failures.isEmpty {
            do { try readFiles(configuration) } catch { failures.append(CommandFailure(describing: error)) }
        }
        if let failure = CommandFailure(joining: failures) { throw failure }
        return configuration
    }

    private func lookUp(_ setting: Setting, in file: ConfigurationFile?) -> (place: String, texts: [String])?
    {
        if let flag = setting.flag, let texts = arguments.values(setting.name) { return (flag, texts) }
        // Compose files and systemd units pass an unset variable on as an empty one.
        if let text = environment[setting.environmentVariable], !text.isEmpty {
            let parts = text.split(separator: ",").map { String($0).trimmed }
            return (setting.environmentVariable, setting.isRepeatable ? parts : [text])
        }
        if let file, let texts = file.values[setting.fileKey] {
            return (file.place(of: setting.fileKey), texts)
        }
        return nil
    }

    private mutating func fileValues(readFile: (String) throws -> String) -> ConfigurationFile? {
        let named = arguments.value("config")
        if named == "" {
            problems.append(Problem(place: "--config", value: "", sentence: "must be the path of a file"))
        }
        guard let path = named ?? environment["AFTERLINK_CONFIG"], !path.isEmpty else { return nil }
        do {
            let file = try ConfigurationFile(path: path, text: try readFile(path))
            problems += file.problems
            return file
        } catch {
            fileFailure = CommandFailure(describing: error)
            return nil
        }
    }

    /// One failure for all wrong names and values; nil if none is wrong.
    private var problemFailure: CommandFailure? {
        guard !problems.isEmpty else { return nil }
        let count = problems.count == 1 ? "One setting is" : "\(problems.count) settings are"
        let lines = problems.map(\.text).joined(separator: "\n")
        let advice = "`afterlink help settings` lists every setting with its names and its values."
        return CommandFailure.configuration("\(count) wrong, so nothing was done:\n\(lines)").advising(advice)
    }
}

/// The JSON file of `--config`: one object, in which each name is the ``Setting/fileKey`` of a setting.
struct ConfigurationFile {
    let path: String
    /// The texts of each setting's value, by its name in the file.
    private(set) var values: [String: [String]] = [:]
    /// Names that are not settings, and values that no setting can have.
    private(set) var problems: [ConfigurationReader.Problem] = []

    /// - Throws: if the text is not a JSON object.
    init(path: String, text: String) throws {
        self.path = path
        for member in try Self.object(text, path: path).members {
            guard let setting = Setting.all.first(where: { $0.fileKey == member.name }) else {
                addUnknown(member.name)
                continue
            }
            guard let texts = Self.texts(of: member.value) else {
                addProblem(setting.fileKey, "must be a text, a number, true, false, or an array of these")
                continue
            }
            guard texts.count == 1 || setting.isRepeatable else {
                addProblem(setting.fileKey, "must be one value, not an array")
                continue
            }
            values[setting.fileKey] = texts
        }
    }

    /// Returns a setting's name in the file and the file's path, for messages.
    func place(of fileKey: String) -> String { "\(fileKey) in \(path)" }

    private mutating func addUnknown(_ name: String) {
        let near = Suggestion.nearest(to: name, among: Setting.all.map(\.fileKey))
        addProblem(name, "is not a setting" + (near.map { "; did you mean \($0)?" } ?? ""))
    }

    private mutating func addProblem(_ name: String, _ sentence: String) {
        problems.append(.init(place: place(of: name), value: nil, sentence: sentence))
    }

    private static func object(_ text: String, path: String) throws -> JSONObject {
        let reason: String
        do throws(JSONError) {
            let value = try JSONValue(parsing: Array(text.utf8))
            if let object = value.object { return object }
            reason = "it is \(value.kind)"
        } catch { reason = "\(place(of: error.byteOffset, in: text)): \(error.sentence)" }
        throw CommandFailure.configuration("\(path) is not a JSON object: \(reason).")
            .advising("Write it as {\"listen\":\"127.0.0.1:8080\",\"retention\":604800}.")
    }

    /// Returns the texts of a value; nil for a value that no setting can have.
    private static func texts(of value: JSONValue) -> [String]? {
        if let values = value.array {
            let texts = values.compactMap(text)
            return texts.count == values.count ? texts : nil
        }
        return text(of: value).map { [$0] }
    }

    private static func text(of value: JSONValue) -> String? {
        value.string ?? value.bool.map { $0 ? "true" : "false" } ?? value.int64.map(String.init)
            ?? value.number?.text
    }

    /// Returns the line and the column, counted from 1 as in editors.
    private static func place(of byteOffset: Int, in text: String) -> String {
        let before = text.utf8.prefix(byteOffset)
        let line = before.count { $0 == UInt8(ascii: "\n") } + 1
        let start =
            before.lastIndex(of: UInt8(ascii: "\n")).map { before.index(after: $0) } ?? before.startIndex
        return "line \(line), column \(String(decoding: before[start...], as: UTF8.self).count + 1)"
    }
}
