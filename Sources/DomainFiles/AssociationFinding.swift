/// Something about a domain file that keeps it from working, or may.
public struct AssociationFinding: Equatable, Sendable {
    public enum Severity: String, Sendable {
        /// Apple or Google do not take the file, or this part of it.
        case error
        /// It is taken, and hardly means what was meant.
        case warning
        /// Worth knowing.
        case note
    }

    public let rule: AssociationRule
    /// Where in the file, as `applinks.details[0].appIDs[1]`; empty for the file as a whole.
    public let place: String
    /// What is wrong: a sentence without its full stop.
    public let problem: String
    /// What to do: another one.
    public let advice: String

    public init(_ rule: AssociationRule, at place: String = "", _ problem: String, _ advice: String) {
        self.rule = rule
        self.place = place
        self.problem = problem
        self.advice = advice
    }

    public var severity: Severity { rule.severity }
}

/// Every rule that a domain file is held against, by its name for programs.
public enum AssociationRule: String, CaseIterable, Sendable {
    // How it is delivered.
    case unreachable
    case certificate
    case status
    case redirect
    case contentType = "content_type"
    case contentEncoding = "content_encoding"
    case fileName = "file_name"
    /// Found at the root alone, where Apple looks second.
    case location
    case size
    // What it is written in.
    case empty
    case signed
    case byteOrderMark = "byte_order_mark"
    case utf8
    case json
    case duplicateName = "duplicate_name"
    case wrongType = "wrong_type"
    case unknownKey = "unknown_key"
    // Apple's file.
    case nothingShared = "nothing_shared"
    /// `apps`, which iOS before 13 wants empty.
    case legacyApps = "legacy_apps"
    case legacyDetails = "legacy_details"
    case legacyPaths = "legacy_paths"
    case legacyPathForm = "legacy_path_form"
    case missingAppID = "missing_app_id"
    case appIDForm = "app_id_form"
    case duplicateAppID = "duplicate_app_id"
    case noRules = "no_rules"
    case pathForm = "path_form"
    case partsMixedUp = "parts_mixed_up"
    case notPercentEncoded = "not_percent_encoded"
    case malformedEscape = "malformed_escape"
    case escapeNeverFits = "escape_never_fits"
    case unknownVariable = "unknown_variable"
    case variableForm = "variable_form"
    case redundantWildcard = "redundant_wildcard"
    case unreachableRule = "unreachable_rule"
    case excludeTooLate = "exclude_too_late"
    // Google's file.
    case noStatements = "no_statements"
    case relationForm = "relation_form"
    case unknownRelation = "unknown_relation"
    case namespace
    case packageForm = "package_form"
    case noFingerprints = "no_fingerprints"
    case fingerprintForm = "fingerprint_form"
    case siteForm = "site_form"
    case linksToSite = "links_to_site"
    case includeForm = "include_form"
    case tooManyIncludes = "too_many_includes"
    case duplicateStatement = "duplicate_statement"
    case noLinkHandling = "no_link_handling"
    case extensionForm = "extension_form"

    public var severity: AssociationFinding.Severity {
        switch self {
        case .redundantWildcard, .legacyPaths: .note
        case .location, .unknownKey, .nothingShared, .legacyApps, .duplicateAppID, .noRules, .pathForm,
            .partsMixedUp, .notPercentEncoded, .malformedEscape, .escapeNeverFits, .unknownVariable,
            .unreachableRule, .unknownRelation, .linksToSite, .duplicateStatement, .noLinkHandling, .signed:
            .warning
        default: .error
        }
    }
}
