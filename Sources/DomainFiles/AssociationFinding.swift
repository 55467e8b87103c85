/// A defect of a domain file, or something worth knowing about it.
///
/// `Data/findings.tsv` has the rule, the severity, the source and the words of each kind.
public struct AssociationFinding: Equatable, Sendable {
    public enum Severity: String, Sendable {
        /// Apple or Google do not take the file, or this part of it.
        case error = "error"
        /// They take it, and it hardly means what was meant.
        case warning = "warning"
        /// Worth knowing.
        case note = "note"
    }

    /// What was found; each case is the first column of a row of the table.
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
    ///   - kind: what was found.
    ///   - place: the position in the file.
    ///   - details: what replaces `{1}` and `{2}` in the table's words.
    public init(_ kind: Kind, at place: String = "", _ details: String...) {
        self.kind = kind
        self.place = place
        self.details = details
    }

    /// The name of the broken rule, for programs; several kinds may share one.
    public var rule: String { kind.row.rule }
    public var severity: Severity { kind.row.severity }
    /// What is wrong: a sentence without its full stop.
    public var problem: String { filled(kind.row.problem) }
    /// What to do: another such sentence.
    public var advice: String { filled(kind.row.advice) }

    private func filled(_ words: String) -> String {
        let parts = words.split(separator: "{", omittingEmptySubsequences: false)
        return parts.dropFirst().reduce(into: String(parts[0])) { text, part in
            // Examples of JSON contain braces, too.
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
    fileprivate struct Row: Sendable {
        let rule: String
        let severity: AssociationFinding.Severity
        let problem: String
        let advice: String
    }

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
            rows[kind] = Row(rule: columns[1], severity: severity, problem: columns[4], advice: columns[5])
        }
        return rows
    }()
}
