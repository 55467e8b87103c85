public import Attribution

/// A row of `dashboard_sessions`.
public struct SessionRecord: Record, Equatable, Sendable {
    public let session: DashboardSession

    public init(_ session: DashboardSession) { self.session = session }

    public static let columns: Columns = [
        "digest", "key_high", "key_low", "created_at", "used_at", "expires_at",
    ]

    public func write(to row: inout some RowWriter) {
        row.put("digest", session.digest.bytes)
        row.put("key_high", session.key.map(\.high))
        row.put("key_low", session.key.map(\.low))
        row.put("created_at", session.createdAt)
        row.put("used_at", session.usedAt)
        row.put("expires_at", session.expiresAt)
    }

    public init?(_ row: inout some RowReader) {
        let digest = KeyDigest(bytes: row.get("digest"))
        let (high, low): (UInt64?, UInt64?) = (row.get("key_high"), row.get("key_low"))
        let (createdAt, usedAt): (Timestamp, Timestamp) = (row.get("created_at"), row.get("used_at"))
        let expiresAt: Timestamp = row.get("expires_at")
        guard let digest else { return nil }
        let key = high.flatMap { high in low.map { KeyID(high: high, low: $0) } }
        session = DashboardSession(
            digest: digest,
            key: key,
            createdAt: createdAt,
            usedAt: usedAt,
            expiresAt: expiresAt
        )
    }
}
