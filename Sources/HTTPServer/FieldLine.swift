/// One field line of a header section: a name and a value (RFC 9110 §5).
public struct FieldLine: Sendable, Hashable {
    public var name: String
    public var value: String

    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}
