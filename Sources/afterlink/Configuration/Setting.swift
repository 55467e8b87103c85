internal import Attribution

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
    package private(set) var section = Section.network
    /// The placeholder of the value in the help; nil for a switch.
    package private(set) var placeholder: String?
    package let isRepeatable: Bool
    /// Never taken from the command line, which every process can read, and never printed.
    package let isSecret: Bool
    /// The default, in words.
    package let defaultText: String
    /// Ends the sentence "must be …".
    package let allowed: String
    package private(set) var help = ""
    let read: Reader

    /// As in `--listen`; nil for secrets.
    package var flag: String? { isSecret ? nil : "--\(name)" }

    /// As in `AFTERLINK_LISTEN`.
    package var environmentVariable: String {
        Self.environmentPrefix + name.uppercased().map { $0 == "-" ? "_" : String($0) }.joined()
    }

    /// As in `metrics_listen`.
    package var fileKey: String { name.map { $0 == "-" ? "_" : String($0) }.joined() }

    /// How it stands on the command line; nil for secrets.
    var option: CommandOption? {
        guard !isSecret else { return nil }
        return CommandOption(name, placeholder, isRepeatable: isRepeatable, help: help)
    }

    package static let environmentPrefix = "AFTERLINK_"

    package static func named(_ name: String) -> Setting? { all.first { $0.name == name } }
}

/// Why the text of a setting's value was refused.
struct InvalidValue: Error {
    /// The text that is wrong, one of several where the setting is repeatable.
    let text: String
    /// The sentence that replaces the setting's "must be …".
    var sentence: String?
}

/// The texts that a value may have: the placeholder in the help, the words for them, and how they are written and read.
struct ValueKind<Value>: Sendable {
    let placeholder: String
    /// Ends the sentence "must be …".
    let allowed: String
    /// Returns the text of a value, for the documentation of a default.
    let format: @Sendable (Value) -> String
    /// Returns nil for a text that is not allowed.
    let parse: @Sendable (String) throws(InvalidValue) -> Value?

    init(
        _ placeholder: String,
        _ allowed: String,
        _ parse: @escaping @Sendable (String) throws(InvalidValue) -> Value?,
        format: @escaping @Sendable (Value) -> String = { "\($0)" }
    ) {
        self.placeholder = placeholder
        self.allowed = allowed
        self.format = format
        self.parse = parse
    }
}

/// The rows of the table, without their section and their help.
extension Setting {
    /// A setting with a value.
    ///
    /// The documentation shows `defaultText` as the default; without it, the value in a new ``Configuration``.
    static func value<Value>(
        _ name: String,
        _ kind: ValueKind<Value>,
        default defaultText: String? = nil,
        into path: any WritableKeyPath<Configuration, Value> & Sendable
    ) -> Setting {
        let standard = defaultText ?? kind.format(Configuration()[keyPath: path])
        return Setting(name, kind, standard) { texts, configuration in
            read(texts.suffix(1), kind.parse) { configuration[keyPath: path] = $0[0] }
        }
    }

    /// A setting with a value that may be absent.
    static func optional<Value>(
        _ name: String,
        _ kind: ValueKind<Value>,
        default defaultText: String,
        isSecret: Bool = false,
        into path: any WritableKeyPath<Configuration, Value?> & Sendable
    ) -> Setting {
        Setting(name, kind, defaultText, isSecret: isSecret) { texts, configuration in
            read(texts.suffix(1), kind.parse) { configuration[keyPath: path] = $0[0] }
        }
    }

    /// A setting that may be given several times; commas separate its values in the environment.
    static func repeated<Value>(
        _ name: String,
        _ kind: ValueKind<Value>,
        default defaultText: String,
        into path: any WritableKeyPath<Configuration, [Value]> & Sendable
    ) -> Setting {
        Setting(name, kind, defaultText, isRepeatable: true) { texts, configuration in
            read(texts, kind.parse) { configuration[keyPath: path] = $0 }
        }
    }

    /// A setting that is on or off.
    static func flag(
        _ name: String,
        into path: any WritableKeyPath<Configuration, Bool> & Sendable
    ) -> Setting {
        let kind = ValueKind<Bool>("", "true or false") { ["true": true, "false": false][$0] }
        var setting = Setting(name, kind, "off") { texts, configuration in
            // A bare flag has no text and means on.
            read([texts.last ?? "true"], kind.parse) { configuration[keyPath: path] = $0[0] }
        }
        setting.placeholder = nil
        return setting
    }

    private init<Value>(
        _ name: String,
        _ kind: ValueKind<Value>,
        _ defaultText: String,
        isRepeatable: Bool = false,
        isSecret: Bool = false,
        _ read: @escaping Reader
    ) {
        self.name = name
        placeholder = kind.placeholder
        self.isRepeatable = isRepeatable
        self.isSecret = isSecret
        self.defaultText = defaultText
        allowed = kind.allowed
        self.read = read
    }

    func saying(_ help: String) -> Setting {
        var setting = self
        setting.help = help
        return setting
    }

    func under(_ section: Section) -> Setting {
        var setting = self
        setting.section = section
        return setting
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

extension Setting {
    /// Environment variables that look like settings and are none, each with what was probably meant.
    ///
    /// A hint and no error: Kubernetes gives every container variables named after the services beside it, so
    /// that a service called `afterlink` brings `AFTERLINK_PORT=tcp://…` and `AFTERLINK_SERVICE_HOST`.
    package static func unknownVariables(in environment: [String: String]) -> [String] {
        let known = all.map(\.environmentVariable) + ["AFTERLINK_CONFIG"]
        let strange = environment.keys.filter { name in
            name.hasPrefix(environmentPrefix) && !known.contains(name)
                && !name.hasPrefix("AFTERLINK_SERVICE_") && !name.hasPrefix("AFTERLINK_PORT")
        }
        return strange.sorted().map { name in
            let near = Suggestion.nearest(to: name, among: known.map { $0.lowercased() })
            return "\(name) is no setting and has no effect"
                + (near.map { "; did you mean \($0.uppercased())?" } ?? "")
        }
    }
}
