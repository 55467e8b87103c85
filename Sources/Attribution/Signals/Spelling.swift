/// One of the values that a device with known signals may hash for a component.
public struct Spelling: Hashable, Sendable {
    public let text: String
    /// How likely the device is to hash this one, 0…1.
    public let weight: Double

    public init(_ text: String, weight: Double) {
        self.text = text
        self.weight = weight
    }

    /// What systems give to apps for a canonical value: other spellings with their shares, and the canonical one
    /// with what is left, most likely first.
    static func all(of canonical: String, others: [Spelling]) -> [Spelling] {
        let rest = others.reduce(1) { $0 - $1.weight }
        let own = rest > 0 ? [Spelling(canonical, weight: rest)] : []
        return (own + others).sorted { ($0.weight, $1.text) > ($1.weight, $0.text) }
    }
}
