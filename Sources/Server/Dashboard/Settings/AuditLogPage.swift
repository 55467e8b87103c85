internal import Attribution

/// The audit log: who has changed what and when, newest first.
enum AuditLogPage {
    private static let rowCount = 100

    static func make(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError) -> Reply {
        let query = try query(exchange, limit: rowCount)
        let page = try await exchange.store(await exchange.stores.audit.audit(query))
        let items = ["app", "actor", "action", "since"].map { ($0, visit.address[$0]) }
        let exports = PanelExports.file("audit").calling(
            "/admin/api/audit",
            command: ["audit"],
            items + [("until", query.until?.iso8601)]
        )
        return .page(title: DashboardText.auditLog) { html in
            writeForm(query, to: &html)
            let texts = (DashboardText.noChanges, DashboardText.olderChanges)
            html.list(page.entries, limit: query.limit, next: page.next, texts: texts) { html in
                write(page.entries, exports, to: &html)
            }
        }
    }

    /// Reads the page's conditions; the last day is included, as on every page with a span of days.
    static func query(_ exchange: Exchange, limit: Int) throws(APIError) -> AuditQuery {
        var query = try ListAudit.query(exchange, limit: limit)
        if let text = exchange.sentQueryItem("until"), Timestamp(iso8601: text) == nil {
            query.until = query.until?.advanced(byMilliseconds: DashboardSpan.dayMilliseconds)
        }
        return query
    }

    private static func writeForm(_ query: AuditQuery, to html: inout HTML) {
        html.filters(html.address.path) { html in
            html.appChoice(chosen: query.app)
            let name = { (action: AuditAction) in DashboardText.action(action.rawValue) }
            html.choice("action", DashboardText.change, of: query.action, name)
            html.field("actor", DashboardText.actor, query.actor)
            for (name, label) in [("since", DashboardText.from), ("until", DashboardText.to)] {
                html.field(name, label, type: "date", html.address[name])
            }
        }
    }

    private static func write(_ entries: [AuditEntry], _ exports: PanelExports, to html: inout HTML) {
        html.table(DashboardText.auditTable, entries, exports: exports) { html, entry in
            let (directory, action) = (html.directory, DashboardText.action(entry.action))
            html.rowName(DashboardText.time(entry.at))
            html.cells(DashboardText.actor(entry.actor, in: directory), action)
            html.cells(entry.app.map { DashboardText.name(of: $0, in: directory) })
            html.cells(entry.subject.isEmpty ? nil : entry.subject)
            let changes = AuditBody.fields(of: entry).map {
                ($0.name, DashboardText.change(from: $0.before, to: $0.after))
            }
            html.element("td") { $0.facts(changes) }
        }
    }
}
