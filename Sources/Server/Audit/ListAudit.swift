public import Attribution
internal import HTTPServer
public import JSON

/// `GET /admin/api/audit`: lists the changes that the audit log records, newest first.
enum ListAudit {
    static func respond(_ exchange: inout Exchange) async throws(APIError) -> Response {
        let limit = try exchange.limitItem(AuditQuery.limits, standard: AuditQuery.standardLimit)
        let query = try query(exchange, limit: limit)
        let page = try await exchange.store(await exchange.stores.audit.audit(query))
        return Response(.ok) { json in AuditBody.write(page, to: &json) }
    }

    /// Reads the conditions of the query.
    static func query(_ exchange: Exchange, limit: Int) throws(APIError) -> AuditQuery {
        var query = AuditQuery(limit: limit)
        query.app = try exchange.appItem()?.id
        query.actor = exchange.sentQueryItem("actor")
        query.action = try exchange.word("action")
        query.since = try exchange.timeItem("since")
        query.until = try exchange.timeItem("until")
        query.before = try exchange.pageItem("aud_…") { AuditID($0) }
        return query
    }
}

/// The JSON form of the audit log.
public enum AuditBody {
    public static func write(_ page: AuditPage, to json: inout JSONWriter) {
        json.objects("entries", page.entries) { json, entry in
            json.member("id", entry.id.text)
            json.member("at", entry.at.iso8601)
            json.object("actor") { json in
                json.member("kind", entry.actor.kind)
                json.member("name", entry.actor.name)
            }
            json.member("action", entry.action)
            json.member("app", orNull: entry.app?.text)
            json.object("subject") { json in
                json.member("kind", entry.subjectKind)
                json.member("id", entry.subject)
            }
            json.member("before") { $0.raw(entry.before.utf8) }
            json.member("after") { $0.raw(entry.after.utf8) }
        }
        json.member("next", orNull: page.next?.text)
    }

    /// Returns the changed fields of an entry with their texts before and after.
    public static func fields(of entry: AuditEntry) -> [(name: String, before: String?, after: String?)] {
        let (before, after) = (texts(entry.before), texts(entry.after))
        return Set(before.keys).union(after.keys).sorted().map { ($0, before[$0], after[$0]) }
    }

    private static func texts(_ json: String) -> [String: String] {
        guard let object = (try? JSONValue(parsing: Array(json.utf8)))?.object else { return [:] }
        let texts = object.members.map { member in
            (
                member.name,
                member.value.string ?? member.value.array?.compactMap(\.string).joined(separator: ", ") ?? ""
            )
        }
        return Dictionary(texts) { first, _ in first }
    }
}
