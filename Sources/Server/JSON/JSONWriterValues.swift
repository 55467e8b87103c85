/// Values that were read.
extension JSONWriter {
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
