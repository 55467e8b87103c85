internal import JSON

/// Reads domain files, and notes what is wrong with them rather than stop at it.
struct DomainFileReader {
    var findings: [AssociationFinding] = []

    private static let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]

    mutating func note(_ rule: AssociationRule, at place: String = "", _ problem: String, _ advice: String) {
        findings.append(AssociationFinding(rule, at: place, problem, advice))
    }

    /// The whole document; nil where it is no JSON.
    mutating func document(_ bytes: [UInt8]) -> JSONValue? {
        guard !bytes.isEmpty else {
            note(.empty, "The file is empty", "Write the file's JSON into it")
            return nil
        }
        if bytes.count > AppleAssociation.maximumByteCount {
            note(
                .size,
                "The file has \(bytes.count) bytes, and no more than \(AppleAssociation.maximumByteCount) are read",
                "Write fewer rules, with wildcards and substitution variables"
            )
        }
        // DER begins with a sequence of a long length.
        if bytes[0] == 0x30, bytes.count > 1, bytes[1] & 0xf0 == 0x80 {
            note(
                .signed,
                "The file is signed, as iOS 8 wanted it, and is not looked into here",
                "Serve the plain JSON: systems since iOS 9 want no signature, as the connection is safe"
            )
            return nil
        }
        var content = bytes
        if bytes.starts(with: Self.byteOrderMark) {
            note(
                .byteOrderMark,
                "The file begins with a byte order mark, which JSON does not allow",
                "Save it as UTF-8 without a byte order mark"
            )
            content.removeFirst(Self.byteOrderMark.count)
        }
        do throws(JSONError) {
            return try JSONValue(parsing: content)
        } catch {
            noteError(error, in: content)
            return nil
        }
    }

    private mutating func noteError(_ error: JSONError, in bytes: [UInt8]) {
        let before = bytes[..<min(error.byteOffset, bytes.count)]
        let line = before.count { $0 == UInt8(ascii: "\n") } + 1
        let column = before.reversed().prefix { $0 != UInt8(ascii: "\n") }.count + 1
        let place = "line \(line), byte \(column)"
        switch error.reason {
        case .empty: note(.empty, "The file holds nothing but blanks", "Write the file's JSON into it")
        case .invalidUTF8: note(.utf8, at: place, "The file is not UTF-8", "Save it as UTF-8")
        case .duplicateName:
            note(
                .duplicateName,
                at: place,
                "An object has two members of the same name, of which systems take either",
                "Bring them together under one"
            )
        default:
            note(
                .json,
                at: place,
                "The file is no JSON: \(error.sentence)",
                "Mend it there; commas stand between members and not behind the last, and there are no comments"
            )
        }
    }

    // MARK: - Values

    mutating func object(_ value: JSONValue, at place: String) -> JSONObject? {
        guard let object = value.object else {
            noteType(value, at: place, "an object")
            return nil
        }
        return object
    }

    mutating func array(_ value: JSONValue, at place: String) -> [JSONValue]? {
        guard let array = value.array else {
            noteType(value, at: place, "an array")
            return nil
        }
        return array
    }

    mutating func text(_ value: JSONValue?, at place: String) -> String? {
        guard let value else { return nil }
        guard let text = value.string else {
            noteType(value, at: place, "a string")
            return nil
        }
        return text
    }

    mutating func flag(_ value: JSONValue?, at place: String) -> Bool? {
        guard let value else { return nil }
        guard let flag = value.bool else {
            noteType(value, at: place, "true or false, without quotation marks")
            return nil
        }
        return flag
    }

    mutating func texts(_ value: JSONValue?, at place: String) -> [String]? {
        guard let value, let values = array(value, at: place) else { return nil }
        return values.enumerated().compactMap { index, value in text(value, at: "\(place)[\(index)]") }
    }

    mutating func noteType(_ value: JSONValue, at place: String, _ wanted: String) {
        note(.wrongType, at: place, "There stands \(value.kind)", "Write \(wanted)")
    }

    /// Notes members that nobody reads; a misspelt one is worse than one that is not there.
    mutating func noteUnknown(in object: JSONObject, at place: String, known: [String]) {
        for member in object.members where !known.contains(member.name) {
            let path = place.isEmpty ? member.name : "\(place).\(member.name)"
            note(
                .unknownKey,
                at: path,
                "No system knows \"\(member.name)\" here, so that it says nothing",
                "Known are \(known.joined(separator: ", ")): correct its spelling, or remove it"
            )
        }
    }
}
