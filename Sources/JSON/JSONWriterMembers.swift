/// Members in one call. An optional value that is nil writes nothing.
extension JSONWriter {
    public mutating func member(_ name: String, _ value: String?) {
        guard let value else { return }
        self.name(name)
        self.value(value)
    }

    public mutating func member(_ name: String, _ value: Int64?) {
        guard let value else { return }
        self.name(name)
        self.value(value)
    }

    public mutating func member(_ name: String, _ value: Int?) {
        member(name, value.map(Int64.init))
    }

    public mutating func member(_ name: String, _ value: Double?) {
        guard let value else { return }
        self.name(name)
        self.value(value)
    }

    public mutating func member(_ name: String, _ value: Bool?) {
        guard let value else { return }
        self.name(name)
        self.value(value)
    }

    /// A member whose value is an object, an array, raw JSON or null: what `write` writes, exactly one value.
    public mutating func member(_ name: String, _ write: (inout JSONWriter) -> Void) {
        self.name(name)
        write(&self)
    }
}
