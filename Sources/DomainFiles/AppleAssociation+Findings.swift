internal import Attribution

extension AppleAssociation {
    /// What is wrong with what the file says, in its order; its structure was read before.
    public var findings: [AssociationFinding] {
        var findings: [AssociationFinding] = []
        let texts = VariableTexts(variables)
        for detail in details {
            findings += Self.appIDFindings(detail.appIDs, at: "\(detail.place).appIDs")
            findings += ruleFindings(of: detail, texts)
        }
        findings += variables.flatMap(\.findings)
        findings += Self.appIDFindings(appClips, at: "appclips.apps")
        findings += Self.appIDFindings(webCredentials, at: "webcredentials.apps")
        if details.isEmpty, appClips.isEmpty, webCredentials.isEmpty {
            findings.append(
                AssociationFinding(
                    .nothingShared,
                    "The file names no app",
                    "Add the app under applinks.details, with its appIDs and components"
                )
            )
        }
        return findings
    }

    private func ruleFindings(of detail: Detail, _ texts: VariableTexts) -> [AssociationFinding] {
        guard let components = detail.components else { return Self.legacyFindings(of: detail) }
        guard !components.isEmpty else {
            return [
                AssociationFinding(
                    .noRules,
                    at: "\(detail.place).components",
                    "There are no rules, so that no URL opens the app",
                    "Write {\"/\": \"*\"} to open all of them"
                )
            ]
        }
        let matchers = components.map { ComponentMatcher($0, detail.defaults.over(defaults), texts) }
        return matchers.flatMap(\.findings) + matchers.orderFindings
    }

    private static func legacyFindings(of detail: Detail) -> [AssociationFinding] {
        guard let paths = detail.paths else {
            return [
                AssociationFinding(
                    .noRules,
                    at: detail.place,
                    "There are neither components nor paths, and systems differ in what they make of that",
                    "Write \"components\": [{\"/\": \"*\"}] to open all URLs"
                )
            ]
        }
        let note = AssociationFinding(
            .legacyPaths,
            at: "\(detail.place).paths",
            "This is the form before iOS 13, which knows no queries, fragments and cases",
            "Write components as well; systems that know them do not look at paths then"
        )
        return [note]
            + paths.enumerated().compactMap { index, path in
                legacyFinding(of: path, at: "\(detail.place).paths[\(index)]")
            }
    }

    private static func legacyFinding(of path: String, at place: String) -> AssociationFinding? {
        let start = LegacyPath(path).pattern.text.utf8.first
        guard start != UInt8(ascii: "/"), start != UInt8(ascii: "*"), start != UInt8(ascii: "?") else {
            return nil
        }
        return AssociationFinding(
            .legacyPathForm,
            at: place,
            "\"\(path)\" begins with neither / nor *, so that it fits no path",
            "Write /path/*, or NOT /path/* with one blank for what stays in the browser"
        )
    }

    private static func appIDFindings(_ appIDs: [String], at place: String) -> [AssociationFinding] {
        var known: Set<String> = []
        return appIDs.enumerated().flatMap { index, appID in
            let place = "\(place)[\(index)]"
            var findings: [AssociationFinding] = []
            if !AppIdentifiers.isAppID(appID) {
                findings.append(
                    AssociationFinding(
                        .appIDForm,
                        at: place,
                        "\"\(appID)\" is no app id",
                        "Write the ten letters and digits of the app id prefix (mostly the team id), a dot, and the"
                            + " bundle id, as in ABCDE12345.com.example.app"
                    )
                )
            }
            if !known.insert(appID).inserted {
                findings.append(
                    AssociationFinding(
                        .duplicateAppID,
                        at: place,
                        "\"\(appID)\" stands there already",
                        "Remove it"
                    )
                )
            }
            return findings
        }
    }
}

extension SubstitutionVariable {
    fileprivate var findings: [AssociationFinding] {
        let place = "applinks.substitutionVariables.\(name)"
        var findings: [AssociationFinding] = []
        if name.isEmpty || name.contains(where: { "$()".contains($0) }) {
            findings.append(
                AssociationFinding(
                    .variableForm,
                    at: place,
                    "The name of a variable holds $, ( or ), or nothing",
                    "Choose another name"
                )
            )
        }
        if values.contains(where: { $0.range(ofASCII: "$(") != nil }) {
            findings.append(
                AssociationFinding(
                    .variableForm,
                    at: place,
                    "A text of a variable holds another variable, which is not looked up",
                    "Write the texts out"
                )
            )
        }
        return findings
    }
}
