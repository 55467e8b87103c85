// The fields of apps, keys, sessions and links that the audit log compares. None of them is secret: the texts of keys
// and cookies are not stored, and their digests are left out.

extension App.Settings {
    /// The settings by their names in the admin API.
    public var auditFields: AuditFields {
        let own: [(name: String, texts: [String])] = [
            ("name", [name]), ("open_clicks", ["\(openClicks)"]), ("allowed_origins", allowedOrigins),
            ("destinations", destinations), ("attribution_window", window.map { ["\($0.seconds)"] } ?? []),
            ("localizations", localizations),
            ("development_language", developmentLanguage.map { [$0] } ?? []),
            ("matching", [policy.rule.rawValue]), ("minimum_confidence", ["\(policy.minimumConfidence)"]),
            ("on_ambiguity", [policy.onAmbiguity.rawValue]),
            ("fingerprinting", ["\(policy.usesFingerprints)"]),
            ("default_link", defaultLink.map { [$0.text] } ?? []), ("click_ids", [clickIDs.rawValue]),
            ("conversion_schemas", conversionSchemas), ("reporting_offset", ["\(reportingOffset)"]),
            ("fingerprint_window", policy.windows.fingerprint.map { ["\($0.seconds)"] } ?? []),
            ("deterministic_window", policy.windows.deterministic.map { ["\($0.seconds)"] } ?? []),
        ]
        return AuditFields(own + links.fields.all.map { (name: $0.field.rawValue, texts: $0.texts) })
    }
}

extension APIKey {
    public var auditFields: AuditFields {
        AuditFields([
            (name: "kind", texts: [kind.rawValue]), (name: "app", texts: app.map { [$0.text] } ?? []),
            (name: "label", texts: label.isEmpty ? [] : [label]),
            (name: "expires_at", texts: expiresAt.map { [$0.iso8601] } ?? []),
            (name: "revoked_at", texts: revokedAt.map { [$0.iso8601] } ?? []),
        ])
    }
}

extension DashboardSession {
    /// The key and the start of a session; its digest is left out.
    public var auditFields: AuditFields {
        AuditFields([
            (name: "key", texts: key.map { [$0.text] } ?? []),
            (name: "created_at", texts: [createdAt.iso8601]),
        ])
    }
}

extension Link {
    public var auditFields: AuditFields {
        let own: [(name: String, texts: [String])] = [
            ("slug", [slug.text]), ("archived_at", archivedAt.map { [$0.iso8601] } ?? []),
        ]
        return AuditFields(own + settings.fields.all.map { (name: $0.field.rawValue, texts: $0.texts) })
    }

    /// Returns the change from this link to `other`, as the audit log records it.
    public func change(to other: Link) -> AuditedChange {
        let action: AuditAction =
            switch (archivedAt, other.archivedAt) {
            case (nil, _?) where other.settings == settings: .archiveLink
            case (_?, nil) where other.settings == settings: .restoreLink
            default: .changeLink
            }
        return AuditedChange(action, app: app, of: id.text, from: auditFields, to: other.auditFields)
    }
}
