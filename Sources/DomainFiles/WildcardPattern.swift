internal import Attribution

/// A pattern for one part of a URL.
///
/// In a pattern, `*` fits any number of characters, including slashes, or none; `?` fits exactly one character; and
/// `$(name)` fits any value of a substitution variable. Sources: Apple, "applinks.Details.Components" and
/// "applinks.SubstitutionVariables".
public struct WildcardPattern: Hashable, Sendable {
    public let text: String
    /// The names in `$(…)` that no variable has; the characters of such a `$(…)` have their usual meaning.
    public let unknownVariables: [String]
    /// The number of steps that a comparison takes for each character of a text.
    ///
    /// Each character, wildcard and predefined variable of the pattern counts 1. A file's own variable counts 1, and in
    /// addition the length plus 1 of each of its values.
    let weight: Int
    private let tokens: [Token]

    fileprivate enum Token: Hashable, Sendable {
        case scalar(Unicode.Scalar)
        case one
        case many
        case kind(PredefinedVariable)
        case choice(Choice)

        var weight: Int {
            guard case .choice(let choice) = self else { return 1 }
            return choice.weight
        }
    }

    /// The values of a variable; the variable fits a text if one of its values does.
    fileprivate struct Choice: Hashable, Sendable {
        let values: [[Token]]
        let weight: Int

        init(_ values: [[Token]]) {
            self.values = values
            weight = values.reduce(1) { $0 + $1.count + 1 }
        }
    }

    public init(_ text: String, variables: [SubstitutionVariable] = []) {
        self.init(text, VariableValues(variables))
    }

    init(_ text: String, _ variables: VariableValues) {
        self.text = text
        var compiler = Compiler(variables: variables)
        tokens = compiler.tokens(of: text)
        unknownVariables = compiler.unknown
        weight = tokens.reduce(0) { $0 + $1.weight }
    }

    /// Creates a pattern of Google's file, which has no variables.
    init(android text: String) {
        self.text = text
        unknownVariables = []
        tokens = Compiler.normalized(text.unicodeScalars.map(Compiler.token))
        weight = tokens.count
    }

    /// Whether the pattern fits every text.
    public var isUniversal: Bool { tokens == [.many] }

    /// The maximum number of steps of a comparison; a pattern that a person wrote does not reach it.
    private static let maximumSteps = 2_000_000

    /// Returns whether a comparison takes more than two million steps; ``matches(_:ignoringCase:)`` then returns false.
    public func isTooComplex(for text: String) -> Bool {
        weight * (text.unicodeScalars.count + 1) > Self.maximumSteps
    }

    /// Returns whether the pattern fits a text; false if the comparison is too complex, see ``isTooComplex(for:)``.
    public func matches(_ text: String, ignoringCase: Bool = false) -> Bool {
        guard !isTooComplex(for: text) else { return false }
        let scalars = text.unicodeScalars.map { ignoringCase ? $0.folded : $0 }
        var reached = [Bool](repeating: false, count: scalars.count + 1)
        reached[0] = true
        Self.advance(&reached, over: tokens, in: scalars, ignoringCase)
        return reached[scalars.count]
    }

    /// Returns whether a pattern without variables fits a text on Android.
    ///
    /// On Android, a `*` ends at the first occurrence of the pattern's next character, even if the rest of the pattern
    /// fits only after a later occurrence. Source: Android, "Configure website associations and dynamic rules".
    func matchesOnAndroid(_ text: String) -> Bool {
        var rest = Array(text.unicodeScalars)[...]
        for (index, token) in tokens.enumerated() {
            switch token {
            case .many:
                guard index + 1 < tokens.count else { return true }
                rest = rest.drop { tokens[index + 1] != .scalar($0) }
            case .one:
                guard rest.popFirst() != nil else { return false }
            case .scalar, .kind, .choice:
                guard let scalar = rest.popFirst(), token == .scalar(scalar) else { return false }
            }
        }
        return rest.isEmpty
    }

    /// Whether the pattern fits the same texts on Android: it has no `*` before other characters.
    var isSameOnAndroid: Bool { !tokens.dropLast().contains(.many) }

    /// Replaces the positions that a match has reached by the positions that it can reach after `tokens`.
    ///
    /// The number of steps is at most the weight of the tokens times the number of positions.
    private static func advance(
        _ reached: inout [Bool],
        over tokens: [Token],
        in scalars: [Unicode.Scalar],
        _ ignoringCase: Bool
    ) {
        for token in tokens {
            guard let first = reached.firstIndex(of: true) else { return }
            var next = [Bool](repeating: false, count: reached.count)
            switch token {
            case .many: for index in first..<reached.count { next[index] = true }
            case .one: for index in scalars.indices where reached[index] { next[index + 1] = true }
            case .scalar(let scalar):
                let wanted = ignoringCase ? scalar.folded : scalar
                for index in scalars.indices where reached[index] && scalars[index] == wanted {
                    next[index + 1] = true
                }
            case .kind(let kind):
                for index in scalars.indices where reached[index] {
                    for length in kind.lengths(at: index, in: scalars, ignoringCase) {
                        next[index + length] = true
                    }
                }
            case .choice(let choice):
                for value in choice.values {
                    var after = reached
                    advance(&after, over: value, in: scalars, ignoringCase)
                    for index in after.indices where after[index] { next[index] = true }
                }
            }
            reached = next
        }
    }

    /// Returns whether this pattern fits every text that `other` fits.
    ///
    /// The comparison is approximate: true is certain, but false may be wrong.
    public func covers(_ other: WildcardPattern, ignoringCase: Bool) -> Bool {
        let symbols = other.tokens
        guard tokens.count * (symbols.count + 1) <= Self.maximumSteps else { return false }
        var reached = [Bool](repeating: false, count: symbols.count + 1)
        reached[0] = true
        for token in tokens {
            var next = [Bool](repeating: false, count: reached.count)
            if token == .many {
                guard let first = reached.firstIndex(of: true) else { return false }
                for index in first..<reached.count { next[index] = true }
            } else {
                for index in symbols.indices
                where reached[index] && token.covers(symbols[index], ignoringCase: ignoringCase) {
                    next[index + 1] = true
                }
            }
            reached = next
        }
        return reached[symbols.count]
    }
}

extension WildcardPattern.Token {
    fileprivate func covers(_ other: Self, ignoringCase: Bool) -> Bool {
        switch (self, other) {
        case (.one, .scalar), (.one, .one): true
        case (.one, .kind(let kind)): kind.isOneCharacter
        case (.scalar(let left), .scalar(let right)):
            left == right || ignoringCase && left.folded == right.folded
        default: self == other
        }
    }
}

/// The variables of a file, compiled once for all its patterns.
///
/// Compiling the variables for each pattern would be slow: a file may have thousands of patterns and thousands of
/// values.
struct VariableValues {
    fileprivate let choices: [String: WildcardPattern.Choice]

    init(_ variables: [SubstitutionVariable]) {
        let compiled = variables.map { variable in
            // Values may contain wildcards, but no variables.
            let values = variable.values.map { Compiler.normalized($0.unicodeScalars.map(Compiler.token)) }
            return (variable.name, WildcardPattern.Choice(values))
        }
        // If two variables have the same name, the first one applies.
        choices = Dictionary(compiled) { first, _ in first }
    }
}

/// Compiles a pattern's text to tokens.
private struct Compiler {
    let variables: VariableValues
    var unknown: [String] = []

    mutating func tokens(of text: String) -> [WildcardPattern.Token] {
        var tokens: [WildcardPattern.Token] = []
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            if scalar == "$", rest.first == "(" {
                // No name contains these characters. If the search ended only at `)`, it would read the rest of the
                // pattern again for each `$(`.
                let name = rest.dropFirst().prefix { !"$()".unicodeScalars.contains($0) }
                if rest[name.endIndex...].first == ")" {
                    if let token = token(named: String(name)) {
                        tokens.append(token)
                        rest = rest[name.endIndex...].dropFirst()
                        continue
                    }
                    unknown.append(String(name))
                }
            }
            tokens.append(Self.token(scalar))
        }
        return Self.normalized(tokens)
    }

    private func token(named name: String) -> WildcardPattern.Token? {
        if let choice = variables.choices[name] { return .choice(choice) }
        return PredefinedVariable(rawValue: name).map { .kind($0) }
    }

    static func token(_ scalar: Unicode.Scalar) -> WildcardPattern.Token {
        switch scalar {
        case "*": .many
        case "?": .one
        default: .scalar(scalar)
        }
    }

    /// Moves each `?` among adjacent wildcards to the front, and replaces several `*` by one: `*?*` becomes `?*`.
    static func normalized(_ tokens: [WildcardPattern.Token]) -> [WildcardPattern.Token] {
        var result: [WildcardPattern.Token] = []
        var hasMany = false
        for token in tokens {
            switch token {
            case .many: hasMany = true
            case .one: result.append(.one)
            default:
                if hasMany { result.append(.many) }
                hasMany = false
                result.append(token)
            }
        }
        return hasMany ? result + [.many] : result
    }
}

extension Unicode.Scalar {
    /// The small letter for a capital letter; any other character is unchanged.
    fileprivate var folded: Unicode.Scalar {
        let lowercase = properties.lowercaseMapping.unicodeScalars
        return lowercase.count == 1 ? lowercase.first ?? self : self
    }
}

// MARK: - Variables

/// A variable that a domain file defines; in a pattern, `$(name)` fits any of its values.
public struct SubstitutionVariable: Hashable, Sendable {
    /// The name, which must not contain `$`, `(` or `)`.
    public let name: String
    /// The values, which may contain `*` and `?`, but no variables.
    public let values: [String]

    public init(name: String, values: [String]) {
        self.name = name
        self.values = values
    }
}

extension PredefinedVariable {
    var isOneCharacter: Bool { self != .region && self != .lang }

    /// Returns the lengths of the texts at `index` that the variable fits.
    func lengths(at index: Int, in scalars: [Unicode.Scalar], _ ignoringCase: Bool) -> [Int] {
        switch self {
        case .region: Self.upper.runs([2], in: scalars[index...], ignoringCase)
        case .lang: Self.lower.runs([2, 3], in: scalars[index...], ignoringCase)
        default: contains(scalars[index], ignoringCase) ? [1] : []
        }
    }

    /// Returns each length n for which the first n characters of `rest` are of this kind.
    private func runs(_ lengths: [Int], in rest: ArraySlice<Unicode.Scalar>, _ ignoringCase: Bool) -> [Int] {
        lengths.filter { length in
            length <= rest.count && rest.prefix(length).allSatisfy { contains($0, ignoringCase) }
        }
    }

    private func contains(_ scalar: Unicode.Scalar, _ ignoringCase: Bool) -> Bool {
        guard scalar.isASCII else { return false }
        let byte = UInt8(truncatingIfNeeded: scalar.value)
        return switch self {
        case .alpha, .region, .lang: byte.isASCIILetter
        case .upper: byte.isASCIILetter && (ignoringCase || byte.asciiLowercased != byte)
        case .lower: byte.isASCIILetter && (ignoringCase || byte.asciiLowercased == byte)
        case .alnum: byte.isASCIIAlphanumeric
        case .digit: byte.isASCIIDigit
        case .xdigit: Hexadecimal.value(of: byte) != nil
        }
    }
}
