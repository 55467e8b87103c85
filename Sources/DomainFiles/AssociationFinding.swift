/// A defect of a domain file, or a note about the file.
///
/// `Data/findings.tsv` contains the rule, the severity, the source and the sentences of each kind.
public struct AssociationFinding: Equatable, Sendable {
    public enum Severity: String, Sendable {
        /// Apple or Google does not accept the file, or this part of it.
        case error = "error"
        /// Apple and Google accept the part, but its effect is probably not what the operator wants.
        case warning = "warning"
        /// The part works, but the operator may want to change it.
        case note = "note"
    }

    /// The kinds of findings; each case is the first column of a row in the table.
    public enum Kind: String, CaseIterable, Sendable {
        // How the file is delivered.
        case unreachable, unusableAddress, certificate, status, redirect, noContentType, wrongContentType,
            contentEncoding, fileName, rootLocation, size, sizeUnknown
        // How the file is written.
        case empty, blank, signed, byteOrderMark, utf8, json, duplicateName, wrongType, unknownKey
        // Apple's file.
        case nothingShared, legacyAppsNotEmpty, legacyAppsMissing, legacyDetails, legacyPaths,
            legacyPathForm, noDetails, noApps, noAppIDs, appIDForm, duplicateAppID, emptyComponents,
            noComponents
        // Patterns of both files.
        case wholeURL, pathWithoutSlash, queryInPath, fragmentInPath, fragmentWithSign, notPercentEncoded,
            malformedEscape, escapeNeverFits, unknownVariable, variableName, variableInVariable,
            redundantWildcard, unreachableRule, excludeTooLate
        // Google's file.
        case noStatements, noRelation, relationForm, unknownRelation, noTarget, unknownNamespace,
            noPackage, packageForm, noFingerprints, fingerprintForm, fingerprintWithoutColons,
            fingerprintSHA1, fingerprintLength, fingerprintCase, noSite, siteForm, linksToSite,
            includeForm, tooManyIncludes, duplicateStatement, noLinkHandling, extensionForm
    }

    public let kind: Kind
    /// The position in the file, as `applinks.details[0].appIDs[1]`; empty for the file as a whole.
    public let place: String
    private let details: [String]

    /// - Parameters:
    ///   - kind: the kind of the finding.
    ///   - place: the position in the file.
    ///   - details: the texts that replace `{1}` and `{2}` in the table's sentences.
    public init(_ kind: Kind, at place: String = "", _ details: String...) {
        self.init(kind, at: place, details: details)
    }

    init(_ kind: Kind, at place: String, details: [String]) {
        self.kind = kind
        self.place = place
        self.details = details
    }

    /// The name of the broken rule, for programs; several kinds may have the same rule.
    public var rule: String { kind.row.rule }
    public var severity: Severity { kind.row.severity }
    /// A sentence about the defect, without its full stop.
    public var problem: String { filled(kind.row.problem) }
    /// A sentence about the remedy, without its full stop.
    public var advice: String { filled(kind.row.advice) }

    private func filled(_ sentence: String) -> String {
        let parts = sentence.split(separator: "{", omittingEmptySubsequences: false)
        return parts.dropFirst().reduce(into: String(parts[0])) { text, part in
            // A sentence may also contain braces that belong to an example in JSON.
            if part.dropFirst().first == "}", let number = part.first?.wholeNumberValue,
                number <= details.count
            {
                text += details[number - 1] + part.dropFirst(2)
            } else {
                text += "{" + part
            }
        }
    }
}

extension AssociationFinding.Kind {
    fileprivate typealias Row = (
        rule: String, severity: AssociationFinding.Severity, problem: String, advice: String
    )

    fileprivate var row: Row {
        guard let row = Self.rows[self] else {
            preconditionFailure("the table of findings has no row for \(self)")
        }
        return row
    }

    private static let rows: [Self: Row] = {
        var rows: [Self: Row] = [:]
        for line in (EmbeddedFindings.files.first?.text ?? "").split(separator: "\n")
        where !line.hasPrefix("#") {
            let columns = line.split(separator: "\t").map(String.init)
            guard columns.count == 6, let kind = Self(rawValue: columns[0]), rows[kind] == nil,
                let severity = AssociationFinding.Severity(rawValue: columns[2])
            else { preconditionFailure("the table of findings has a malformed row: \(line)") }
            rows[kind] = (columns[1], severity, columns[4], columns[5])
        }
        return rows
    }()
}
