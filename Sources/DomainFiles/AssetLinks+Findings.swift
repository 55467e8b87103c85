internal import Attribution

extension AssetLinks {
    /// What is wrong with what the file says, in its order; its structure was read before.
    public var findings: [AssociationFinding] {
        var findings: [AssociationFinding] = []
        for (index, statement) in statements.enumerated() {
            findings += statement.findings
            let isRepeated = statements[..<index].contains {
                $0.target == statement.target && !Set($0.relations).isDisjoint(with: statement.relations)
            }
            if isRepeated {
                findings.append(
                    AssociationFinding(
                        .duplicateStatement,
                        at: statement.place,
                        "An earlier statement says the same of the same target",
                        "Remove one of them"
                    )
                )
            }
        }
        return findings + includeFindings + wholeFindings
    }

    private var includeFindings: [AssociationFinding] {
        guard includes.count > Self.maximumIncludes else { return [] }
        return [
            AssociationFinding(
                .tooManyIncludes,
                "\(includes.count) files are included, and no more than \(Self.maximumIncludes) are read",
                "Write the statements into fewer files"
            )
        ]
    }

    private var wholeFindings: [AssociationFinding] {
        guard !statements.isEmpty || !includes.isEmpty else {
            return [
                AssociationFinding(
                    .noStatements,
                    "The file holds no statement",
                    "Add one for the app, with its package and the fingerprints of its certificates"
                )
            ]
        }
        let handlesURLs = statements.contains { statement in
            guard case .app = statement.target else { return false }
            return statement.relations.contains(Self.handlesURLs)
        }
        guard !handlesURLs, includes.isEmpty else { return [] }
        return [
            AssociationFinding(
                .noLinkHandling,
                "No statement lets an app open links",
                "Add the relation \(Self.handlesURLs) to the app's statement"
            )
        ]
    }
}

extension AssetLinks.Statement {
    /// The relations that Google's and Android's documents name.
    private static let knownRelations: Set<String> = [
        AssetLinks.handlesURLs, AssetLinks.sharesCredentials, "delegate_permission/common.use_as_origin",
        "delegate_permission/common.query_webapk", "delegate_permission/common.share_location",
        "delegate_permission/common.get_passkeys",
    ]

    fileprivate var findings: [AssociationFinding] {
        relationFindings + targetFindings + ruleFindings
    }

    private var relationFindings: [AssociationFinding] {
        relations.enumerated().compactMap { index, relation in
            let place = "\(place).relation[\(index)]"
            guard Self.isRelation(relation) else {
                return AssociationFinding(
                    .relationForm,
                    at: place,
                    "\"\(relation)\" is no relation",
                    "Write a kind, a slash and a detail, as in \(AssetLinks.handlesURLs)"
                )
            }
            guard !Self.knownRelations.contains(relation) else { return nil }
            return AssociationFinding(
                .unknownRelation,
                at: place,
                "\"\(relation)\" is none of the relations that Android and Google know",
                "Check its spelling; links are opened by \(AssetLinks.handlesURLs)"
            )
        }
    }

    private static func isRelation(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return parts.count == 2
            && parts.allSatisfy { part in
                !part.isEmpty
                    && part.allSatisfy {
                        $0.isASCIIAlphanumeric || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: ".")
                    }
            }
    }

    private var targetFindings: [AssociationFinding] {
        switch target {
        case .app(let package, let fingerprints):
            packageFindings(package)
                + fingerprints.enumerated().compactMap { index, fingerprint in
                    CertificateFingerprint.problem(of: fingerprint).map { problem, advice in
                        AssociationFinding(
                            .fingerprintForm,
                            at: "\(place).target.sha256_cert_fingerprints[\(index)]",
                            problem,
                            advice
                        )
                    }
                }
        case .site(let site): siteFindings(site)
        }
    }

    private func packageFindings(_ package: String) -> [AssociationFinding] {
        guard !PlayStoreLink.isPackage(package) else { return [] }
        return [
            AssociationFinding(
                .packageForm,
                at: "\(place).target.package_name",
                "\"\(package)\" is no package",
                "Write at least two words with a dot between them, each beginning with a letter, as in com.example.app"
            )
        ]
    }

    private func siteFindings(_ site: String) -> [AssociationFinding] {
        var findings: [AssociationFinding] = []
        let parts = try? URLParts(Array(site.utf8))
        let isRoot = parts.map { $0.path.isEmpty || $0.path.elementsEqual("/".utf8) } ?? false
        if parts?.isWeb != true || (try? parts?.host()) == nil || !isRoot || parts?.query != nil {
            findings.append(
                AssociationFinding(
                    .siteForm,
                    at: "\(place).target.site",
                    "\"\(site)\" is no site",
                    "Write https://, the host, and nothing behind it"
                )
            )
        }
        if relations.contains(AssetLinks.handlesURLs) {
            findings.append(
                AssociationFinding(
                    .linksToSite,
                    at: "\(place).relation",
                    "The statement lets a website open the links, which only apps can",
                    "Name an app with the namespace android_app, or leave the relation out"
                )
            )
        }
        return findings
    }

    private var ruleFindings: [AssociationFinding] {
        let matchers = (components ?? []).map { ComponentMatcher($0, MatchingSettings()) }
        return matchers.flatMap(\.findings) + matchers.orderFindings
    }
}

/// The SHA-256 of the certificate that an Android app is signed with.
enum CertificateFingerprint {
    /// What is wrong with a text that should be 32 bytes in capital hexadecimal digits with colons between them, and
    /// what to do; nil where it is one.
    static func problem(of text: String) -> (problem: String, advice: String)? {
        let parts = text.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        let isHexadecimal = parts.allSatisfy { part in part.allSatisfy { Hexadecimal.value(of: $0) != nil } }
        let advice =
            "Write the SHA-256 as the Play Console shows it (Setup, App signing), as in 14:6D:E9:…, 32 pairs of"
            + " capital hexadecimal digits with colons between them"
        guard isHexadecimal, parts.allSatisfy({ $0.count == 2 }) else {
            let isBare = parts.count == 1 && text.utf8.count == 64 && isHexadecimal
            return (
                isBare ? "\"\(text)\" lacks its colons" : "\"\(text)\" is no fingerprint of a certificate",
                advice
            )
        }
        guard parts.count == 32 else {
            return (
                parts.count == 20
                    ? "\"\(text)\" is a SHA-1, which says nothing here"
                    : "\"\(text)\" has \(parts.count) bytes, and a SHA-256 has 32",
                advice
            )
        }
        guard !text.utf8.contains(where: { $0.isASCIILetter && $0 == $0.asciiLowercased }) else {
            return ("\"\(text)\" is written in small letters", "Write it in capitals")
        }
        return nil
    }
}
