internal import JSON

/// Reads domain files; a defect is recorded as a finding, and reading continues.
struct DomainFileReader {
    var findings: [AssociationFinding] = []

    private static let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]

    mutating func add(_ kind: AssociationFinding.Kind, at place: String = "") {
        findings.append(AssociationFinding(kind, at: place))
    }

    mutating func add(_ kind: AssociationFinding.Kind, at place: String = "", _ detail: String) {
        findings.append(AssociationFinding(kind, at: place, detail))
    }

    /// Reads the whole document; nil if it is not JSON.
    mutating func document(_ bytes: [UInt8]) -> JSONValue? {
        guard !bytes.isEmpty else {
            add(.empty)
            return nil
        }
        if bytes.count > AppleAssociation.maximumByteCount { add(.size, "\(bytes.count)") }
        // A signed file is DER and begins with a sequence of a long length.
        if bytes[0] == 0x30, bytes.count > 1, bytes[1] & 0xf0 == 0x80 {
            add(.signed)
            return nil
        }
        var content = bytes
        if bytes.starts(with: Self.byteOrderMark) {
            add(.byteOrderMark)
            content.removeFirst(Self.byteOrderMark.count)
        }
        do throws(JSONError) {
            return try JSONValue(parsing: content)
        } catch {
            add(error, in: content)
            return nil
        }
    }

    private mutating func add(_ error: JSONError, in bytes: [UInt8]) {
        let before = bytes[..<min(error.byteOffset, bytes.count)]
        let line = before.count { $0 == UInt8(ascii: "\n") } + 1
        let column = before.reversed().prefix { $0 != UInt8(ascii: "\n") }.count + 1
        let place = "line \(line), byte \(column)"
        switch error.reason {
        case .empty: add(.blank)
        case .invalidUTF8: add(.utf8, at: place)
        case .duplicateName: add(.duplicateName, at: place)
        default: add(.json, at: place, error.sentence)
        }
    }

    // MARK: - Values

    // Each returns nil for a value of another type, which is a finding.

    mutating func object(_ value: JSONValue, at place: String) -> JSONObject? {
        guard let object = value.object else {
            addWrongType(value, at: place, "an object")
            return nil
        }
        return object
    }

    mutating func array(_ value: JSONValue, at place: String) -> [JSONValue]? {
        guard let array = value.array else {
            addWrongType(value, at: place, "an array")
            return nil
        }
        return array
    }

    mutating func text(_ value: JSONValue?, at place: String) -> String? {
        guard let value else { return nil }
        guard let text = value.string else {
            addWrongType(value, at: place, "a string")
            return nil
        }
        return text
    }

    mutating func flag(_ value: JSONValue?, at place: String) -> Bool? {
        guard let value else { return nil }
        guard let flag = value.bool else {
            addWrongType(value, at: place, "true or false, without quotation marks")
            return nil
        }
        return flag
    }

    mutating func texts(_ value: JSONValue?, at place: String) -> [String]? {
        guard let value, let values = array(value, at: place) else { return nil }
        return values.enumerated().compactMap { index, value in text(value, at: "\(place)[\(index)]") }
    }

    mutating func addWrongType(_ value: JSONValue, at place: String, _ wanted: String) {
        findings.append(AssociationFinding(.wrongType, at: place, value.kind, wanted))
    }

    /// Records unknown members: a misspelt member is worse than a missing one.
    mutating func addUnknown(in object: JSONObject, at place: String, known: [String]) {
        for member in object.members where !known.contains(member.name) {
            let path = place.isEmpty ? member.name : "\(place).\(member.name)"
            findings.append(
                AssociationFinding(.unknownKey, at: path, member.name, known.joined(separator: ", "))
            )
        }
    }
}
