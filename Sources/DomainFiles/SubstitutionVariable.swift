internal import Attribution

/// A name in a domain file that stands for one of several texts, as `$(name)` in patterns.
public struct SubstitutionVariable: Hashable, Sendable {
    /// Any characters but `$`, `(` and `)`.
    public let name: String
    /// May hold `*` and `?`, and no variables.
    public let values: [String]

    public init(name: String, values: [String]) {
        self.name = name
        self.values = values
    }
}

extension PredefinedVariable {
    var isOneCharacter: Bool { self != .region && self != .lang }

    /// How many characters at a place it may stand for.
    func lengths(at index: Int, in scalars: [Unicode.Scalar], _ ignoringCase: Bool) -> [Int] {
        switch self {
        case .region: run(of: 2, .upper, index, scalars, ignoringCase)
        case .lang:
            run(of: 2, .lower, index, scalars, ignoringCase)
                + run(of: 3, .lower, index, scalars, ignoringCase)
        default: contains(scalars[index], ignoringCase) ? [1] : []
        }
    }

    private func run(
        of length: Int,
        _ kind: PredefinedVariable,
        _ index: Int,
        _ scalars: [Unicode.Scalar],
        _ ignoringCase: Bool
    ) -> [Int] {
        guard index + length <= scalars.count,
            scalars[index..<index + length].allSatisfy({ kind.contains($0, ignoringCase) })
        else { return [] }
        return [length]
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
