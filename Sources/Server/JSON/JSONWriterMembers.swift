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

    /// Writes a member that is null where there is no number.
    public mutating func member(_ name: String, orNull value: Double?) {
        self.name(name)
        if let value { self.value(value) } else { null() }
    }

    /// Writes a member that is null where there is no text.
    public mutating func member(_ name: String, orNull value: String?) {
        self.name(name)
        if let value { self.value(value) } else { null() }
    }

    /// Writes a member that is a list of texts.
    public mutating func member(_ name: String, _ texts: [String]) {
        self.name(name)
        array { json in for text in texts { json.value(text) } }
    }

    /// Writes a member that is an object.
    public mutating func object(_ name: String, _ writeMembers: (inout JSONWriter) -> Void) {
        self.name(name)
        object(writeMembers)
    }

    /// Writes a member that is a list with an object for each element.
    public mutating func objects<Element>(
        _ name: String,
        _ elements: some Sequence<Element>,
        _ writeMembers: (inout JSONWriter, Element) -> Void
    ) {
        self.name(name)
        array { json in
            for element in elements { json.object { writeMembers(&$0, element) } }
        }
    }

    /// A member whose value is an object, an array, raw JSON or null: what `write` writes, exactly one value.
    public mutating func member(_ name: String, _ write: (inout JSONWriter) -> Void) {
        self.name(name)
        write(&self)
    }
}
