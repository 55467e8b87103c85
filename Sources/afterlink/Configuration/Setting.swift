/// One thing that an operator can set, and everything that is said about it anywhere.
///
/// Flag, environment variable and file key follow from the name; help, documentation and error messages are
/// made from the texts; so none of them can disagree.
package struct Setting: Sendable {
    /// The heading in the help.
    package enum Section: String, CaseIterable, Sendable {
        case network = "Network"
        case database = "Database"
        case matching = "Matching"
        case links = "Links"
        case domains = "Domain files"
        case firstStart = "First start"
        case limits = "Limits"
        case timeLimits = "Time limits"
        case log = "Log"
        case tests = "Tests"
    }

    /// Puts the texts of a value into the configuration, and says of each that is wrong why it cannot.
    typealias Reader = @Sendable ([String], inout Configuration) -> [InvalidValue]

    /// Words joined with `-`.
    package let name: String
    package let section: Section
    /// The placeholder of the value in the help; nil for a switch.
    package let placeholder: String?
    package let isRepeatable: Bool
    /// Never taken from the command line, which every process can read, and never printed.
    package let isSecret: Bool
    /// The default, in words.
    package let defaultText: String
    /// Ends the sentence "must be …".
    package let allowed: String
    package let help: String
    let read: Reader

    /// As in `--listen`; nil for secrets.
    package var flag: String? {
        isSecret ? nil : "--\(name)"
    }

    /// As in `AFTERLINK_LISTEN`.
    package var environmentVariable: String {
        Self.environmentPrefix + name.uppercased().map { $0 == "-" ? "_" : String($0) }.joined()
    }

    /// As in `metrics_listen`.
    package var fileKey: String {
        name.map { $0 == "-" ? "_" : String($0) }.joined()
    }

    /// How it stands on the command line; nil for secrets.
    var option: CommandOption? {
        guard !isSecret else { return nil }
        return CommandOption(name, placeholder, isRepeatable: isRepeatable, help: help)
    }

    package static let environmentPrefix = "AFTERLINK_"

    package static func named(_ name: String) -> Setting? {
        all.first { $0.name == name }
    }
}

/// Why the text of a setting's value was refused.
struct InvalidValue: Error {
    /// The text that is wrong, one of several where the setting is repeatable.
    let text: String
    /// The sentence that replaces the setting's "must be …".
    var sentence: String?
}

extension Setting {
    /// A setting with a value.
    init<Value>(
        _ name: String,
        _ section: Section,
        _ placeholder: String,
        isSecret: Bool = false,
        default defaultText: String,
        allowed: String,
        help: String,
        into path: any WritableKeyPath<Configuration, Value> & Sendable,
        _ parse: @escaping @Sendable (String) throws(InvalidValue) -> Value?
    ) {
        self.init(
            name: name,
            section: section,
            placeholder: placeholder,
            isRepeatable: false,
            isSecret: isSecret,
            defaultText: defaultText,
            allowed: allowed,
            help: help
        ) { texts, configuration in
            Self.read(texts.suffix(1), parse) { configuration[keyPath: path] = $0[0] }
        }
    }

    /// A setting with a value that may be absent.
    init<Value>(
        _ name: String,
        _ section: Section,
        _ placeholder: String,
        isSecret: Bool = false,
        default defaultText: String,
        allowed: String,
        help: String,
        intoOptional path: any WritableKeyPath<Configuration, Value?> & Sendable,
        _ parse: @escaping @Sendable (String) throws(InvalidValue) -> Value?
    ) {
        self.init(
            name: name,
            section: section,
            placeholder: placeholder,
            isRepeatable: false,
            isSecret: isSecret,
            defaultText: defaultText,
            allowed: allowed,
            help: help
        ) { texts, configuration in
            Self.read(texts.suffix(1), parse) { configuration[keyPath: path] = $0[0] }
        }
    }

    /// A setting that may be given several times; commas separate its values in the environment.
    init<Value>(
        _ name: String,
        _ section: Section,
        repeated placeholder: String,
        default defaultText: String,
        allowed: String,
        help: String,
        into path: any WritableKeyPath<Configuration, [Value]> & Sendable,
        _ parse: @escaping @Sendable (String) throws(InvalidValue) -> Value?
    ) {
        self.init(
            name: name,
            section: section,
            placeholder: placeholder,
            isRepeatable: true,
            isSecret: false,
            defaultText: defaultText,
            allowed: allowed,
            help: help
        ) { texts, configuration in
            Self.read(texts, parse) { configuration[keyPath: path] = $0 }
        }
    }

    /// A setting that is on or off.
    init(
        _ name: String,
        _ section: Section,
        help: String,
        into path: any WritableKeyPath<Configuration, Bool> & Sendable
    ) {
        self.init(
            name: name,
            section: section,
            placeholder: nil,
            isRepeatable: false,
            isSecret: false,
            defaultText: "off",
            allowed: "true or false",
            help: help
        ) { texts, configuration in
            // A bare flag has no text and means on.
            let text = texts.last ?? "true"
            guard text == "true" || text == "false" else { return [InvalidValue(text: text)] }
            configuration[keyPath: path] = text == "true"
            return []
        }
    }

    /// Reads every text, and takes the values over if all of them are allowed and there are any.
    private static func read<Value>(
        _ texts: some Sequence<String>,
        _ parse: (String) throws(InvalidValue) -> Value?,
        _ take: ([Value]) -> Void
    ) -> [InvalidValue] {
        var values: [Value] = []
        var refusals: [InvalidValue] = []
        for text in texts {
            do throws(InvalidValue) {
                guard let value = try parse(text) else { throw InvalidValue(text: text) }
                values.append(value)
            } catch {
                refusals.append(error)
            }
        }
        if refusals.isEmpty, !values.isEmpty { take(values) }
        return refusals
    }
}
