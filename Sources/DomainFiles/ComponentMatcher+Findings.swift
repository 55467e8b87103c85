internal import Attribution

extension ComponentMatcher {
    /// What is wrong with the patterns of one rule.
    var findings: [AssociationFinding] {
        var findings = component.path.map(pathFindings) ?? []
        for (key, pattern) in patterns {
            findings += wordFindings(pattern, at: "\(component.place)[\"\(key)\"]")
        }
        if let fragment = component.fragment, fragment.utf8.first == UInt8(ascii: "#") {
            findings.append(
                AssociationFinding(
                    .partsMixedUp,
                    at: "\(component.place)[\"#\"]",
                    "The fragment's pattern begins with #, which is no part of the fragment",
                    "Remove the #"
                )
            )
        }
        return findings
    }

    private func pathFindings(_ path: String) -> [AssociationFinding] {
        let place = "\(component.place)[\"/\"]"
        if path.range(ofASCII: "://") != nil {
            return [
                AssociationFinding(
                    .pathForm,
                    at: place,
                    "\"\(path)\" is a whole URL, and fits no path",
                    "Write what stands behind the host, beginning with /"
                )
            ]
        }
        if let mark = path.utf8.firstIndex(of: UInt8(ascii: "?")),
            path[mark...].utf8.contains(UInt8(ascii: "="))
        {
            return [
                AssociationFinding(
                    .partsMixedUp,
                    at: place,
                    "\"\(path)\" seems to hold a query, which is no part of the path: here ? is any one character",
                    "Write the query under the key ?, as in \"?\": {\"id\": \"?*\"}"
                )
            ]
        }
        if path.utf8.contains(UInt8(ascii: "#")) {
            return [
                AssociationFinding(
                    .partsMixedUp,
                    at: place,
                    "\"\(path)\" holds a fragment, which is no part of the path",
                    "Write the fragment under the key #"
                )
            ]
        }
        guard let first = path.utf8.first, "/*?$".utf8.contains(first) else {
            return [
                AssociationFinding(
                    .pathForm,
                    at: place,
                    "\"\(path)\" begins with neither / nor *, so that it fits no path",
                    "Begin it with /"
                )
            ]
        }
        return []
    }

    private func wordFindings(_ pattern: WildcardPattern, at place: String) -> [AssociationFinding] {
        let text = pattern.text
        var findings = pattern.unknownVariables.map { name in
            AssociationFinding(
                .unknownVariable,
                at: place,
                "There is no variable $(\(name))",
                "Define it under applinks.substitutionVariables, or write one of Apple's own: alpha, upper, lower,"
                    + " alnum, digit, xdigit, region, lang"
            )
        }
        if text.range(ofASCII: "**") != nil {
            findings.append(
                AssociationFinding(
                    .redundantWildcard,
                    at: place,
                    "\"\(text)\" has two * beside each other, where one says the same",
                    "Write *, which goes over slashes, too"
                )
            )
        }
        return findings + escapeFindings(text, at: place)
    }

    private func escapeFindings(_ text: String, at place: String) -> [AssociationFinding] {
        if settings.readsEscapes {
            guard text.utf8.count != AssociationURL.decoded(text).utf8.count else { return [] }
            return [
                AssociationFinding(
                    .escapeNeverFits,
                    at: place,
                    "\"\(text)\" holds an escape, and percentEncoded false compares with what escapes stand for",
                    "Write the characters themselves"
                )
            ]
        }
        if !text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) {
            return [
                AssociationFinding(
                    .notPercentEncoded,
                    at: place,
                    "\"\(text)\" holds characters that stand in no URL as they are",
                    "Percent-encode them, or set percentEncoded to false"
                )
            ]
        }
        let bytes = Array(text.utf8)
        let isBroken = bytes.indices.contains { index in
            bytes[index] == UInt8(ascii: "%") && PercentEncoding.escapedByte(in: bytes.span, at: index) == nil
        }
        guard isBroken else { return [] }
        return [
            AssociationFinding(
                .malformedEscape,
                at: place,
                "\"\(text)\" has a % without two hexadecimal digits behind it",
                "Write %25 for a percent sign"
            )
        ]
    }
}

extension [ComponentMatcher] {
    /// Rules that are compared with each other, each with each, and how long their patterns may be together; of longer
    /// lists, the first ones.
    private static var mostCompared: (count: Int, weight: Int) { (500, 20_000) }

    private var compared: Range<Int> {
        var weight = 0
        let first = prefix(Self.mostCompared.count).prefix { matcher in
            weight += matcher.weight
            return weight <= Self.mostCompared.weight
        }
        return first.indices
    }

    /// Rules that are never come to, since an earlier one fits all that they fit.
    var orderFindings: [AssociationFinding] {
        compared.compactMap { index in
            let rule = self[index]
            guard let earlier = self[..<index].first(where: { $0.covers(rule) }) else { return nil }
            let isExclude = rule.component.excludes && !earlier.component.excludes
            return AssociationFinding(
                isExclude ? .excludeTooLate : .unreachableRule,
                at: rule.component.place,
                isExclude
                    ? "The exclusion is never come to: \(earlier.component.place) opens all that it fits"
                    : "The rule is never come to: \(earlier.component.place) fits all that it fits",
                isExclude
                    ? "Put it before that one: the first rule that fits decides"
                    : "Remove it, or put it before that one"
            )
        }
    }
}
