internal import Attribution

/// A pattern for one part of a URL: `*` stands for any characters, `?` for exactly one, `$(name)` for any text of a
/// substitution variable.
///
/// `*` also goes over slashes. Source of the rules: Apple, "applinks.Details.Components" and
/// "applinks.SubstitutionVariables".
public struct WildcardPattern: Hashable, Sendable {
    public let text: String
    /// Names that stand in `$(…)` and that nobody has defined; they stand for themselves.
    public let unknownVariables: [String]
    /// Characters, wildcards, and all texts of all variables: how long it takes to compare, by character of the text.
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

    /// The texts of a variable, one of which stands there.
    fileprivate struct Choice: Hashable, Sendable {
        let texts: [[Token]]
        let weight: Int

        init(_ texts: [[Token]]) {
            self.texts = texts
            weight = texts.reduce(1) { $0 + $1.count + 1 }
        }
    }

    public init(_ text: String, variables: [SubstitutionVariable] = []) {
        self.init(text, VariableTexts(variables))
    }

    init(_ text: String, _ variables: VariableTexts) {
        self.text = text
        var compiler = Compiler(variables: variables)
        tokens = compiler.tokens(of: text)
        unknownVariables = compiler.unknown
        weight = tokens.reduce(0) { $0 + $1.weight }
    }

    /// Whether it fits every text.
    public var isUniversal: Bool { tokens == [.many] }

    /// The most steps that a comparison may take: files come from strangers, and no pattern that people write needs more.
    private static let maximumSteps = 2_000_000

    /// Whether comparing it with a text would take more than two million steps; ``matches(_:ignoringCase:)`` is false then.
    public func isTooComplex(for text: String) -> Bool {
        weight * (text.unicodeScalars.count + 1) > Self.maximumSteps
    }

    /// Whether it fits a text; false for one that ``isTooComplex(for:)`` to compare.
    public func matches(_ text: String, ignoringCase: Bool = false) -> Bool {
        guard !isTooComplex(for: text) else { return false }
        let scalars = text.unicodeScalars.map { ignoringCase ? $0.folded : $0 }
        var places = [Bool](repeating: false, count: scalars.count + 1)
        places[0] = true
        Self.advance(&places, over: tokens, in: scalars, ignoringCase)
        return places[scalars.count]
    }

    /// Moves the places that were reached so far over tokens: no text takes longer than its length times theirs.
    private static func advance(
        _ places: inout [Bool],
        over tokens: [Token],
        in scalars: [Unicode.Scalar],
        _ ignoringCase: Bool
    ) {
        for token in tokens {
            // Nothing fits any more.
            guard let first = places.firstIndex(of: true) else { return }
            var next = [Bool](repeating: false, count: places.count)
            switch token {
            case .many:
                for index in first..<places.count { next[index] = true }
            case .one:
                for index in scalars.indices where places[index] { next[index + 1] = true }
            case .scalar(let scalar):
                let wanted = ignoringCase ? scalar.folded : scalar
                for index in scalars.indices where places[index] && scalars[index] == wanted {
                    next[index + 1] = true
                }
            case .kind(let kind):
                for index in scalars.indices where places[index] {
                    for length in kind.lengths(at: index, in: scalars, ignoringCase) {
                        next[index + length] = true
                    }
                }
            case .choice(let choice):
                for text in choice.texts {
                    var reached = places
                    advance(&reached, over: text, in: scalars, ignoringCase)
                    for index in reached.indices where reached[index] { next[index] = true }
                }
            }
            places = next
        }
    }

    /// Whether whatever the other pattern fits, this one fits too.
    ///
    /// Sure where it is true; some patterns that cover each other in an intricate way are not seen to.
    public func covers(_ other: WildcardPattern, ignoringCase: Bool) -> Bool {
        let symbols = other.tokens
        guard tokens.count * (symbols.count + 1) <= Self.maximumSteps else { return false }
        var places = [Bool](repeating: false, count: symbols.count + 1)
        places[0] = true
        for token in tokens {
            var next = [Bool](repeating: false, count: places.count)
            if token == .many {
                guard let first = places.firstIndex(of: true) else { return false }
                for index in first..<places.count { next[index] = true }
            } else {
                for index in symbols.indices
                where places[index] && token.covers(symbols[index], ignoringCase: ignoringCase) {
                    next[index + 1] = true
                }
            }
            places = next
        }
        return places[symbols.count]
    }
}

extension WildcardPattern.Token {
    fileprivate func covers(_ other: Self, ignoringCase: Bool) -> Bool {
        switch (self, other) {
        case (.one, .scalar), (.one, .one): true
        case (.one, .kind(let kind)): kind.isOneCharacter
        case (.scalar(let own), .scalar(let theirs)):
            own == theirs || ignoringCase && own.folded == theirs.folded
        default: self == other
        }
    }
}

/// The variables of a file, taken apart once for all of its patterns, which share them: a file may have thousands of
/// patterns, and variables of as many texts.
struct VariableTexts {
    fileprivate let choices: [String: WildcardPattern.Choice]

    init(_ variables: [SubstitutionVariable]) {
        let own = variables.map { variable in
            // Their texts may hold wildcards, and no variables.
            (
                variable.name,
                WildcardPattern.Choice(
                    variable.values.map { Compiler.normalized($0.unicodeScalars.map(Compiler.token)) }
                )
            )
        }
        // Of two of one name, the first counts.
        choices = Dictionary(own) { first, _ in first }
    }
}

/// Reads a pattern's text.
private struct Compiler {
    let variables: VariableTexts
    var unknown: [String] = []

    mutating func tokens(of text: String) -> [WildcardPattern.Token] {
        var tokens: [WildcardPattern.Token] = []
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            if scalar == "$", rest.first == "(", let end = rest.firstIndex(of: ")") {
                let name = String(rest[..<end].dropFirst())
                if let token = token(named: name) {
                    tokens.append(token)
                    rest = rest[rest.index(after: end)...]
                    continue
                }
                unknown.append(name)
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

    /// `*?*` is `?*`: of neighbouring wildcards, those for one character come first, then one for many.
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
    /// The small letter of a capital one; all else as it is.
    fileprivate var folded: Unicode.Scalar {
        let lowercase = properties.lowercaseMapping.unicodeScalars
        return lowercase.count == 1 ? lowercase.first ?? self : self
    }
}
