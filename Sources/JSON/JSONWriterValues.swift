/// Values made of others.
extension JSONWriter {
    /// An array of strings.
    public mutating func texts(_ texts: [String]) {
        array { json in for text in texts { json.value(text) } }
    }

    /// A value as it was read: members in their order, numbers digit by digit.
    public mutating func value(_ value: JSONValue) {
        switch value {
        case .null: null()
        case .bool(let flag): self.value(flag)
        case .number(let number): raw(number.text.utf8)
        case .string(let text): self.value(text)
        case .array(let values):
            array { json in for value in values { json.value(value) } }
        case .object(let object):
            self.object { json in
                for member in object.members {
                    json.name(member.name)
                    json.value(member.value)
                }
            }
        }
    }
}
