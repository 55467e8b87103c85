internal import JSON

/// Reads domain files (Apple's and Google's lists of a host's apps); records each defect as a finding and continues.
struct DomainFileReader {
    var findings: [AssociationFinding] = []

    private static let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]

    mutating func add(_ kind: AssociationFinding.Kind, at place: String = "", _ details: String...) {
        findings.append(AssociationFinding(kind, at: place, details: details))
    }

    /// Records a finding, and returns nil as the result of reading.
    mutating func fail<Value>(_ kind: AssociationFinding.Kind, at place: String = "") -> Value? {
        add(kind, at: place)
        return nil
    }

    /// Reads the whole document; nil, with a finding, if it is empty, signed or not JSON.
    mutating func document(_ bytes: [UInt8]) -> JSONValue? {
        guard !bytes.isEmpty else { return fail(.empty) }
        if bytes.count > AppleAssociation.maximumByteCount { add(.size, "\(bytes.count)") }
        // A signed file is encoded in DER, so it begins with a sequence whose length takes several bytes.
        if bytes[0] == 0x30, bytes.count > 1, bytes[1] & 0xf0 == 0x80 { return fail(.signed) }
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

    // Each function returns nil for a missing value, and nil with a finding for a value of another type.

    mutating func object(_ value: JSONValue?, at place: String) -> JSONObject? {
        converted(value, \.object, at: place, "an object")
    }

    mutating func array(_ value: JSONValue?, at place: String) -> [JSONValue]? {
        converted(value, \.array, at: place, "an array")
    }

    mutating func text(_ value: JSONValue?, at place: String) -> String? {
        converted(value, \.string, at: place, "a string")
    }

    mutating func flag(_ value: JSONValue?, at place: String) -> Bool? {
        converted(value, \.bool, at: place, "true or false, without quotation marks")
    }

    mutating func texts(_ value: JSONValue?, at place: String) -> [String]? {
        array(value, at: place)?.enumerated().compactMap { text($1, at: "\(place)[\($0)]") }
    }

    private mutating func converted<Value>(
        _ value: JSONValue?,
        _ conversion: (JSONValue) -> Value?,
        at place: String,
        _ wanted: String
    ) -> Value? {
        guard let value else { return nil }
        if let converted = conversion(value) { return converted }
        add(.wrongType, at: place, value.kind, wanted)
        return nil
    }

    /// Records each unknown member, because a misspelt member has no effect.
    mutating func addUnknown(in object: JSONObject, at place: String, known: [String]) {
        for member in object.members where !known.contains(member.name) {
            let path = place.isEmpty ? member.name : "\(place).\(member.name)"
            add(.unknownKey, at: path, member.name, known.joined(separator: ", "))
        }
    }
}
