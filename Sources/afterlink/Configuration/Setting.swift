internal import Attribution

/// A setting that an operator can change: its names, its help, its default and its rule.
///
/// The name determines the flag, environment variable and file key. Help, documentation and error messages share the
/// texts, so they cannot disagree.
package struct Setting: Sendable {
    /// The heading in the help.
    package enum Section: String, CaseIterable, Sendable {
        case network = "Network"
        case database = "Database"
        case matching = "Matching"
        case links = "Links"
        case domains = "Domain files"
        case postbacks = "Postbacks"
        case firstStart = "First start"
        case limits = "Limits"
        case timeLimits = "Time limits"
        case log = "Log"
        case tests = "Tests"
    }

    /// Reads the texts of a value into the configuration, and returns the texts that are not allowed.
    typealias Reader = @Sendable ([String], inout Configuration) -> [InvalidValue]

    /// The name: words joined with `-`.
    package let name: String
    package private(set) var section = Section.network
    /// The placeholder of the value in the help; nil for a switch.
    package private(set) var placeholder: String?
    package let isRepeatable: Bool
    /// Whether the setting is never printed and has no flag, because every process can read the command line.
    package let isSecret: Bool
    /// The default in words, for the help.
    package let defaultText: String
    /// The end of the sentence "must be …".
    package let allowed: String
    package private(set) var help = ""
    let read: Reader

    /// The flag, as in `--listen`; nil for secrets.
    package var flag: String? { isSecret ? nil : "--\(name)" }

    /// The name in the environment, as in `AFTERLINK_LISTEN`.
    package var environmentVariable: String {
        Self.environmentPrefix + name.uppercased().map { $0 == "-" ? "_" : String($0) }.joined()
    }

    /// The name in the JSON file, as in `metrics_listen`.
    package var fileKey: String { name.map { $0 == "-" ? "_" : String($0) }.joined() }

    /// The option on the command line; nil for secrets.
    var option: CommandOption? {
        guard !isSecret else { return nil }
        return CommandOption(name, placeholder, isRepeatable: isRepeatable, help: help)
    }

    package static let environmentPrefix = "AFTERLINK_"

    package static func named(_ name: String) -> Setting? { all.first { $0.name == name } }
}

/// The error for a text that a setting does not allow.
struct InvalidValue: Error {
    /// The wrong text, which may be one of several.
    let text: String
    /// The sentence that replaces the setting's "must be …".
    var sentence: String?
}

/// A kind of value: its placeholder in the help, the words for its rule, its text, and its parser.
struct ValueKind<Value>: Sendable {
    let placeholder: String
    /// The end of the sentence "must be …".
    let allowed: String
    /// Returns the text of a value, for the documentation of a default.
    let format: @Sendable (Value) -> String
    /// Returns nil for a text that is not allowed.
    let parse: @Sendable (String) throws(InvalidValue) -> Value?

    init(
        _ placeholder: String,
        _ allowed: String,
        format: @escaping @Sendable (Value) -> String = { "\($0)" },
        _ parse: @escaping @Sendable (String) throws(InvalidValue) -> Value?
    ) {
        (self.placeholder, self.allowed, self.format, self.parse) = (placeholder, allowed, format, parse)
    }
}

/// Creates rows of ``Setting/all``, without section and help.
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
            // A flag without a text means true.
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
        setting.help = isRepeatable ? help + " May be repeated." : help
        return setting
    }

    func under(_ section: Section) -> Setting {
        var setting = self
        setting.section = section
        return setting
    }

    /// Passes the values to `take` if there is a text and every text is allowed; returns the texts that are not
    /// allowed.
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
            } catch { refusals.append(error) }
        }
        if refusals.isEmpty, !values.isEmpty { take(values) }
        return refusals
    }
}

extension Setting {
    /// Returns a hint for each environment variable with the settings' prefix that is not a setting.
    ///
    /// An unknown variable is no error. There is no hint for `AFTERLINK_PORT=tcp://…` or `AFTERLINK_SERVICE_HOST`:
    /// Kubernetes sets such variables in every container if a service has the name `afterlink`.
    package static func unknownVariables(in environment: [String: String]) -> [String] {
        let known = all.map(\.environmentVariable) + ["AFTERLINK_CONFIG"]
        let unknown = environment.keys.filter { name in
            name.hasPrefix(environmentPrefix) && !known.contains(name)
                && !name.hasPrefix("AFTERLINK_SERVICE_") && !name.hasPrefix("AFTERLINK_PORT")
        }
        return unknown.sorted().map { name in
            let near = Suggestion.nearest(to: name, among: known.map { $0.lowercased() })
            return "\(name) is not a setting and has no effect"
                + (near.map { "; did you mean \($0.uppercased())?" } ?? "")
        }
    }
}
