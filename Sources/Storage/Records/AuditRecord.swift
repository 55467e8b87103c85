public import Attribution

/// A row of `audit_log`.
public struct AuditRecord: Record, Equatable, Sendable {
    public let entry: AuditEntry

    public init(_ entry: AuditEntry) { self.entry = entry }

    public static let columns: Columns = [
        "id_high", "id_low", "actor_kind", "actor", "action", "app", "subject", "before", "after",
    ]

    public func write(to row: inout some RowWriter) {
        row.put("id_high", entry.id.high)
        row.put("id_low", entry.id.low)
        row.put("actor_kind", entry.actor.kind)
        row.put("actor", entry.actor.name)
        row.put("action", entry.action)
        row.put("app", entry.app?.text)
        row.put("subject", entry.subject)
        row.put("before", entry.before)
        row.put("after", entry.after)
    }

    public init?(_ row: inout some RowReader) {
        let id = AuditID(high: row.get("id_high"), low: row.get("id_low"))
        let actor = AuditActor(kind: row.get("actor_kind"), name: row.get("actor"))
        let action: String = row.get("action")
        let app: String? = row.get("app")
        let subject: String = row.get("subject")
        let (before, after): (String, String) = (row.get("before"), row.get("after"))
        guard let actor else { return nil }
        entry = AuditEntry(
            id: id,
            actor: actor,
            action: action,
            app: app.flatMap { AppID($0) },
            subject: subject,
            before: before,
            after: after
        )
    }
}
