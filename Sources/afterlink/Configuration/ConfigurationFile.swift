internal import Attribution
internal import Server

/// The JSON file of `--config`: one object whose names are those of the table of settings.
struct ConfigurationFile {
    let path: String
    /// The texts of each setting's value, by its name in the file.
    private(set) var values: [String: [String]] = [:]
    /// Names that are no settings, and values that no setting can have.
    private(set) var problems: [ConfigurationReader.Problem] = []

    /// - Throws: when the text is no JSON object.
    init(path: String, text: String) throws {
        self.path = path
        for member in try Self.object(text, path: path).members {
            guard let setting = Setting.all.first(where: { $0.fileKey == member.name }) else {
                addUnknown(member.name)
                continue
            }
            guard let texts = Self.texts(of: member.value) else {
                let expected = "must be a text, a number, true, false, or an array of these"
                problems.append(.init(place: place(of: setting.fileKey), value: nil, sentence: expected))
                continue
            }
            guard texts.count == 1 || setting.isRepeatable else {
                problems.append(
                    .init(
                        place: place(of: setting.fileKey),
                        value: nil,
                        sentence: "must be one value, not an array"
                    )
                )
                continue
            }
            values[setting.fileKey] = texts
        }
    }

    /// Returns the position of a value, for messages.
    func place(of fileKey: String) -> String {
        "\(fileKey) in \(path)"
    }

    private mutating func addUnknown(_ name: String) {
        let near = Suggestion.nearest(to: name, among: Setting.all.map(\.fileKey))
        let sentence = "is no setting" + (near.map { "; did you mean \($0)?" } ?? "")
        problems.append(.init(place: place(of: name), value: nil, sentence: sentence))
    }

    private static func object(_ text: String, path: String) throws -> JSONObject {
        let reason: String
        do throws(JSONError) {
            let value = try JSONValue(parsing: Array(text.utf8))
            if let object = value.object { return object }
            reason = "it is \(value.kind)"
        } catch {
            reason = "\(place(of: error.byteOffset, in: text)): \(error.sentence)"
        }
        throw CommandFailure(
            .configuration,
            "\(path) is not a JSON object: \(reason).",
            advice: "Write it as {\"listen\":\"127.0.0.1:8080\",\"retention\":604800}."
        )
    }

    /// The texts that stand for a value; nil for what no setting can have.
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

    /// As editors show it: lines and characters are counted from 1.
    private static func place(of byteOffset: Int, in text: String) -> String {
        let before = text.utf8.prefix(byteOffset)
        let line = before.count { $0 == UInt8(ascii: "\n") } + 1
        let start =
            before.lastIndex(of: UInt8(ascii: "\n")).map { before.index(after: $0) } ?? before.startIndex
        return "line \(line), column \(String(decoding: before[start...], as: UTF8.self).count + 1)"
    }
}
