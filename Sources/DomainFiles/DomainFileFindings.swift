internal import Attribution

extension AppleAssociation {
    /// The defects of the file's content; `DomainFileReader` finds the defects of the structure.
    public var findings: [AssociationFinding] {
        var findings: [AssociationFinding] = []
        let values = VariableValues(variables)
        for detail in details {
            findings += Self.findings(ofAppIDs: detail.appIDs, at: "\(detail.place).appIDs")
            findings += ruleFindings(of: detail, values)
        }
        for variable in variables {
            let place = "applinks.substitutionVariables.\(variable.name)"
            if variable.name.isEmpty || variable.name.contains(where: { "$()".contains($0) }) {
                findings.append(AssociationFinding(.variableName, at: place))
            }
            if variable.values.contains(where: { $0.range(ofASCII: "$(") != nil }) {
                findings.append(AssociationFinding(.variableInVariable, at: place))
            }
        }
        findings += Self.findings(ofAppIDs: appClips, at: "appclips.apps")
        findings += Self.findings(ofAppIDs: webCredentials, at: "webcredentials.apps")
        if details.isEmpty, appClips.isEmpty, webCredentials.isEmpty {
            findings.append(AssociationFinding(.nothingShared))
        }
        return findings
    }

    private func ruleFindings(of detail: Detail, _ values: VariableValues) -> [AssociationFinding] {
        if let components = detail.components {
            guard !components.isEmpty else {
                return [AssociationFinding(.emptyComponents, at: "\(detail.place).components")]
            }
            return components.map { ComponentMatcher($0, detail.defaults.over(defaults), values) }.findings
        }
        guard let paths = detail.paths else { return [AssociationFinding(.noComponents, at: detail.place)] }
        let place = "\(detail.place).paths"
        return [AssociationFinding(.legacyPaths, at: place)]
            + paths.enumerated().compactMap { index, path in
                if let start = LegacyPath(path).pattern.text.utf8.first, "/*?".utf8.contains(start) {
                    return nil
                }
                return AssociationFinding(.legacyPathForm, at: "\(place)[\(index)]", path)
            }
    }

    private static func findings(ofAppIDs appIDs: [String], at place: String) -> [AssociationFinding] {
        var known: Set<String> = []
        return appIDs.enumerated().flatMap { index, appID in
            let place = "\(place)[\(index)]"
            return (AppIdentifiers.isAppID(appID) ? [] : [AssociationFinding(.appIDForm, at: place, appID)])
                + (known.insert(appID).inserted
                    ? [] : [AssociationFinding(.duplicateAppID, at: place, appID)])
        }
    }
}

extension AssetLinks {
    /// The defects of the file's content; `DomainFileReader` finds the defects of the structure.
    public var findings: [AssociationFinding] {
        var findings: [AssociationFinding] = []
        var known: [Target: Set<String>] = [:]
        for statement in statements {
            findings += statement.findings
            if !known[statement.target, default: []].isDisjoint(with: statement.relations) {
                findings.append(AssociationFinding(.duplicateStatement, at: statement.place))
            }
            known[statement.target, default: []].formUnion(statement.relations)
        }
        if includes.count > Self.maximumIncludes {
            findings.append(AssociationFinding(.tooManyIncludes, "\(includes.count)"))
        }
        if statements.isEmpty && includes.isEmpty {
            findings.append(AssociationFinding(.noStatements))
        } else if includes.isEmpty && !statements.contains(where: \.letsAppOpenLinks) {
            findings.append(AssociationFinding(.noLinkHandling))
        }
        return findings
    }
}

extension AssetLinks.Statement {
    /// The relations in the documentation of Google and Android.
    private static let knownRelations: Set<String> = [
        AssetLinks.handlesURLs, AssetLinks.sharesCredentials, "delegate_permission/common.use_as_origin",
        "delegate_permission/common.query_webapk", "delegate_permission/common.share_location",
        "delegate_permission/common.get_passkeys",
    ]

    fileprivate var letsAppOpenLinks: Bool {
        guard case .app = target else { return false }
        return relations.contains(AssetLinks.handlesURLs)
    }

    fileprivate var findings: [AssociationFinding] {
        relationFindings + targetFindings
            + (components ?? []).map { ComponentMatcher(android: $0) }.findings
    }

    private var relationFindings: [AssociationFinding] {
        relations.enumerated().compactMap { index, relation in
            let place = "\(place).relation[\(index)]"
            guard Self.isRelation(relation) else {
                return AssociationFinding(.relationForm, at: place, relation)
            }
            guard !Self.knownRelations.contains(relation) else { return nil }
            return AssociationFinding(.unknownRelation, at: place, relation)
        }
    }

    private static func isRelation(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return parts.count == 2
            && parts.allSatisfy { part in
                !part.isEmpty && part.allSatisfy { $0.isASCIIAlphanumeric || "_.".utf8.contains($0) }
            }
    }

    private var targetFindings: [AssociationFinding] {
        let place = "\(place).target"
        switch target {
        case .app(let package, let fingerprints):
            let isPackage = PlayStoreLink.isPackage(package)
            return (isPackage ? [] : [AssociationFinding(.packageForm, at: "\(place).package_name", package)])
                + fingerprints.enumerated().compactMap { index, text in
                    Self.finding(ofFingerprint: text, at: "\(place).sha256_cert_fingerprints[\(index)]")
                }
        case .site(let site):
            let parts = try? URLParts(Array(site.utf8))
            let isRoot = parts.map { $0.path.isEmpty || $0.path.elementsEqual("/".utf8) } ?? false
            let isSite = parts?.isWeb == true && (try? parts?.host()) != nil && isRoot && parts?.query == nil
            return (isSite ? [] : [AssociationFinding(.siteForm, at: "\(place).site", site)])
                + (relations.contains(AssetLinks.handlesURLs)
                    ? [AssociationFinding(.linksToSite, at: "\(self.place).relation")] : [])
        }
    }

    /// Returns the defect of a certificate's SHA-256; nil for 32 bytes in capital hexadecimal digits with colons.
    private static func finding(ofFingerprint text: String, at place: String) -> AssociationFinding? {
        let parts = text.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        let isHexadecimal = parts.allSatisfy { part in part.allSatisfy { Hexadecimal.value(of: $0) != nil } }
        guard isHexadecimal, parts.allSatisfy({ $0.count == 2 }) else {
            let lacksColons = parts.count == 1 && text.utf8.count == 64 && isHexadecimal
            let kind: AssociationFinding.Kind = lacksColons ? .fingerprintWithoutColons : .fingerprintForm
            return AssociationFinding(kind, at: place, text)
        }
        if parts.count == 20 { return AssociationFinding(.fingerprintSHA1, at: place, text) }
        if parts.count != 32 {
            return AssociationFinding(.fingerprintLength, at: place, text, "\(parts.count)")
        }
        let hasSmallLetter = text.utf8.contains { $0.isASCIILetter && $0 == $0.asciiLowercased }
        return hasSmallLetter ? AssociationFinding(.fingerprintCase, at: place, text) : nil
    }
}

extension [ComponentMatcher] {
    /// The defects of each rule's patterns, and then the rules that never apply.
    fileprivate var findings: [AssociationFinding] { flatMap(\.findings) + orderFindings }

    /// The maximum number of rules that are compared with each other, and the maximum sum of their weights.
    ///
    /// If a rule exceeds a maximum, this rule and all later ones are not compared.
    private static var maximumCompared: (count: Int, weight: Int) { (500, 20_000) }

    /// The rules that never apply, because an earlier rule fits all their URLs.
    private var orderFindings: [AssociationFinding] {
        var weight = 0
        let compared = prefix(Self.maximumCompared.count).prefix { matcher in
            weight += matcher.weight
            return weight <= Self.maximumCompared.weight
        }
        return compared.indices.compactMap { index in
            let rule = self[index]
            guard let earlier = self[..<index].first(where: { $0.covers(rule) }) else { return nil }
            let isExclusion = rule.component.excludes && !earlier.component.excludes
            let kind: AssociationFinding.Kind = isExclusion ? .excludeTooLate : .unreachableRule
            return AssociationFinding(kind, at: rule.component.place, earlier.component.place)
        }
    }
}

extension ComponentMatcher {
    /// The defects of one rule's patterns.
    fileprivate var findings: [AssociationFinding] {
        var findings: [AssociationFinding] = []
        if let path = component.path, let kind = Self.kind(ofPath: path) {
            findings.append(AssociationFinding(kind, at: "\(component.place)[\"/\"]", path))
        }
        for (key, pattern) in patterns {
            let place = "\(component.place)[\"\(key)\"]"
            findings += pattern.unknownVariables.map { AssociationFinding(.unknownVariable, at: place, $0) }
            if pattern.text.range(ofASCII: "**") != nil {
                findings.append(AssociationFinding(.redundantWildcard, at: place, pattern.text))
            }
            if let kind = escapeKind(pattern.text) {
                findings.append(AssociationFinding(kind, at: place, pattern.text))
            }
        }
        if component.fragment?.utf8.first == UInt8(ascii: "#") {
            findings.append(AssociationFinding(.fragmentWithSign, at: "\(component.place)[\"#\"]"))
        }
        return findings
    }

    private static func kind(ofPath path: String) -> AssociationFinding.Kind? {
        if path.range(ofASCII: "://") != nil { return .wholeURL }
        if let query = path.utf8.firstIndex(of: UInt8(ascii: "?")),
            path[query...].utf8.contains(UInt8(ascii: "="))
        {
            return .queryInPath
        }
        if path.utf8.contains(UInt8(ascii: "#")) { return .fragmentInPath }
        guard let first = path.utf8.first, "/*?$".utf8.contains(first) else { return .pathWithoutSlash }
        return nil
    }

    private func escapeKind(_ text: String) -> AssociationFinding.Kind? {
        if settings.readsEscapes {
            return text.utf8.count == AssociationURL.decoded(text).utf8.count ? nil : .escapeNeverFits
        }
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else { return .notPercentEncoded }
        let bytes = Array(text.utf8)
        let isBroken = bytes.indices.contains { index in
            bytes[index] == UInt8(ascii: "%") && PercentEncoding.escapedByte(in: bytes.span, at: index) == nil
        }
        return isBroken ? .malformedEscape : nil
    }
}
