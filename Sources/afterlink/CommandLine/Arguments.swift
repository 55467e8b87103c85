internal import Attribution

/// The words of the command line after the command's name.
package struct Arguments: Equatable, Sendable {
    /// The values of each option, by its name, in their order; a switch has an empty list.
    package private(set) var options: [String: [String]] = [:]
    /// The arguments that belong to no option.
    package private(set) var operands: [String] = []

    /// Reads `--name value`, `--name=value`, switches, `-h` and operands; after `--`, all words are operands.
    ///
    /// - Throws: a failure of usage, with the nearest known option for a mistyped one.
    package init(_ words: [String], of command: CommandDescription) throws {
        let known = command.allOptions
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == "--" {
                operands += rest
                break
            }
            guard word.hasPrefix("-"), word != "-" else {
                operands.append(word)
                continue
            }
            let (name, attached) = Self.split(word)
            guard let option = known.first(where: { $0.name == name }) else {
                throw Self.unknown(word, of: command)
            }
            try add(option, value: attached, rest: &rest, command: command)
        }
        if options["help"] == nil { try checkOperands(of: command) }
    }

    /// Returns the value of an option that may be given once; nil without the option.
    package func value(_ option: String) -> String? { options[option]?.last }

    /// Returns the values of an option that may be given several times; nil without the option.
    package func values(_ option: String) -> [String]? { options[option] }

    package func has(_ option: String) -> Bool { options[option] != nil }

    /// Returns the value of an option as `parse` reads it; nil without the option.
    ///
    /// - Parameters:
    ///   - option: the option's name, without `--`.
    ///   - sentence: the rule for the value; begins with "must".
    ///   - parse: returns nil for a text that is not allowed.
    /// - Returns: the value that `parse` returned; nil without the option.
    /// - Throws: a failure of usage with the sentence, if `parse` returns nil.
    func read<Value>(
        _ option: String,
        _ sentence: @autoclosure () -> String,
        _ parse: (String) throws -> Value?
    ) throws -> Value? {
        guard let text = value(option) else { return nil }
        guard let value = try parse(text) else { throw CommandFailure.wrongValue(option, text, sentence()) }
        return value
    }

    /// Returns whether the value of an option is `on`; nil without the option.
    func isOn(_ option: String) throws -> Bool? {
        try read(option, "must be on or off") { ["on": true, "off": false][$0] }
    }

    private static func split(_ word: String) -> (name: String, value: String?) {
        if word == "-h" { return ("help", nil) }
        guard word.hasPrefix("--") else { return (word, nil) }
        let body = word.dropFirst(2)
        guard let equals = body.firstIndex(of: "=") else { return (String(body), nil) }
        return (String(body[..<equals]), String(body[body.index(after: equals)...]))
    }

    private mutating func add(
        _ option: CommandOption,
        value attached: String?,
        rest: inout ArraySlice<String>,
        command: CommandDescription
    ) throws {
        let advice = "`afterlink help \(command.name)` explains the command."
        if options[option.name] != nil, !option.isRepeatable, option.name != "help" {
            throw CommandFailure.usage("--\(option.name) is given twice.").advising(advice)
        }
        guard let placeholder = option.placeholder else {
            guard attached == nil else {
                throw CommandFailure.usage("--\(option.name) takes no value.").advising(advice)
            }
            options[option.name] = []
            return
        }
        guard let value = attached ?? rest.popFirst() else {
            throw CommandFailure.usage("--\(option.name) needs a value: --\(option.name) \(placeholder).")
                .advising(advice)
        }
        options[option.name, default: []].append(value)
    }

    private func checkOperands(of command: CommandDescription) throws {
        let name = "`afterlink \(command.name)`"
        let advice = "`afterlink help \(command.name)` explains the command."
        if operands.count > command.operands.count, let extra = operands.last {
            throw CommandFailure.usage("\(name) does not know what to do with \"\(extra)\".").advising(advice)
        }
        if let missing = command.operands.dropFirst(operands.count).first(where: \.isRequired) {
            throw CommandFailure.usage("\(name) needs \(missing.placeholder): \(missing.help)").advising(
                advice
            )
        }
    }

    private static func unknown(_ word: String, of command: CommandDescription) -> CommandFailure {
        // The text after `=` may be a secret: the failure does not repeat it.
        let name = split(word).name
        let typed = word.hasPrefix("--") ? "--\(name)" : name
        let known = command.allOptions.map(\.name)
        let near = Suggestion.nearest(to: String(name.drop { $0 == "-" }), among: known)
        return CommandFailure.usage("`afterlink \(command.name)` has no option \(typed).")
            .advising(
                near.map { "Did you mean --\($0)?" } ?? "`afterlink help \(command.name)` lists its options."
            )
    }
}
