public import Attribution

/// A row of `keys`.
public struct KeyRecord: Record, Equatable, Sendable {
    public let id: KeyID
    public let kind: KeyKind
    /// The app's number; nil for keys that belong to no app.
    public let app: Int64?
    public let label: String
    public let digest: KeyDigest
    public let createdAt: Timestamp
    public let expiresAt: Timestamp?
    public let revokedAt: Timestamp?
    public let lastUsedAt: Timestamp?

    public init(_ key: APIKey, app: Int64?) {
        id = key.id
        kind = key.kind
        self.app = app
        label = key.label
        digest = key.digest
        createdAt = key.createdAt
        expiresAt = key.expiresAt
        revokedAt = key.revokedAt
        lastUsedAt = key.lastUsedAt
    }

    public func key(of app: AppID?) -> APIKey {
        APIKey(
            id: id,
            kind: kind,
            app: app,
            label: label,
            digest: digest,
            createdAt: createdAt,
            expiresAt: expiresAt,
            revokedAt: revokedAt,
            // The time of use is stored to the minute, which may start before the key was created.
            lastUsedAt: lastUsedAt.map { max(createdAt, $0) }
        )
    }

    public static let columns: Columns = [
        "id_high", "id_low", "kind", "app", "label", "digest", "created_at", "expires_at", "revoked_at",
        "last_used_at",
    ]

    public func write(to row: inout some RowWriter) {
        row.put("id_high", id.high)
        row.put("id_low", id.low)
        row.put("kind", kind)
        row.put("app", app)
        row.put("label", label)
        row.put("digest", digest.bytes)
        row.put("created_at", createdAt)
        row.put("expires_at", expiresAt)
        row.put("revoked_at", revokedAt)
        row.put("last_used_at", lastUsedAt)
    }

    public init?(_ row: inout some RowReader) {
        id = KeyID(high: row.get("id_high"), low: row.get("id_low"))
        let kind: KeyKind? = row.get("kind")
        app = row.get("app")
        label = row.get("label")
        guard let kind, let digest = KeyDigest(bytes: row.get("digest")) else { return nil }
        self.kind = kind
        self.digest = digest
        createdAt = row.get("created_at")
        expiresAt = row.get("expires_at")
        revokedAt = row.get("revoked_at")
        lastUsedAt = row.get("last_used_at")
    }
}
