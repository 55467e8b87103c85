internal import Attribution

/// The audit log: who has changed what and when, newest first.
enum AuditLogPage {
    private static let rowCount = 100

    static func make(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError) -> Reply {
        let query = try query(exchange, limit: rowCount)
        let page = try await exchange.store(await exchange.stores.audit.audit(query))
        let directory = exchange.directory
        return .page(title: DashboardText.auditLog) { html in
            writeForm(visit, directory, query, to: &html)
            if page.entries.isEmpty {
                if page.next == nil { html.empty(DashboardText.noChanges) }
            } else {
                write(page.entries, directory, to: &html)
                let names = ["app", "actor", "action", "since"]
                let items = names.map { ($0, visit.address[$0]) } + [("until", query.until?.iso8601)]
                html.exports(
                    PanelExports("audit", of: visit.address)
                        .calling("/admin/api/audit", command: ["audit"], items)
                )
            }
            html.searched(backTo: page.next?.time, isFull: page.entries.count == query.limit)
            if let next = page.next {
                html.next(visit.address.with("before", next.text), DashboardText.olderChanges)
            }
        }
    }

    /// Reads the conditions of the page, whose last day is included, as on every page with a span of days.
    static func query(_ exchange: Exchange, limit: Int) throws(APIError) -> AuditQuery {
        var query = try ListAudit.query(exchange, limit: limit)
        if let text = exchange.sentQueryItem("until"), Timestamp(iso8601: text) == nil {
            query.until = query.until?.advanced(byMilliseconds: DashboardSpan.dayMilliseconds)
        }
        return query
    }

    private static func writeForm(
        _ visit: DashboardVisit,
        _ directory: Directory,
        _ query: AuditQuery,
        to html: inout HTML
    ) {
        html.filters(visit.address.path) { html in
            html.appChoice(directory.apps, chosen: query.app)
            let actions = AuditAction.allCases.map { ($0.rawValue, DashboardText.action($0.rawValue)) }
            let all = [("", DashboardText.any)] + actions
            html.select("action", DashboardText.change, all, chosen: query.action?.rawValue ?? "")
            html.field("actor", DashboardText.actor, query.actor)
            for (name, label) in [("since", DashboardText.from), ("until", DashboardText.to)] {
                html.field(name, label, type: "date", visit.address[name])
            }
        }
    }

    private static func write(_ entries: [AuditEntry], _ directory: Directory, to html: inout HTML) {
        html.table(DashboardText.auditCaption, DashboardText.auditHeadings, entries) { html, entry in
            html.rowName(DashboardText.time(entry.at))
            html.element("td", DashboardText.actor(entry.actor, in: directory))
            html.element("td", DashboardText.action(entry.action))
            let app = entry.app.map { DashboardText.name(of: $0, in: directory) } ?? "–"
            html.element("td", app)
            html.element("td", entry.subject.isEmpty ? "–" : entry.subject)
            html.element("td") { html in
                html.facts(
                    AuditBody.fields(of: entry).map {
                        ($0.name, DashboardText.change(from: $0.before, to: $0.after))
                    }
                )
            }
        }
    }
}
