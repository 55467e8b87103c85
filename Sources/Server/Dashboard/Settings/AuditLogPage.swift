internal import Attribution
internal import HTTPServer

/// The audit log: who has changed what and when, newest first.
enum AuditLogPage {
    private static let rowCount = 100

    static func make(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError)
        -> DashboardResult
    {
        let query = try ListAudit.query(exchange, limit: rowCount)
        let page = try await exchange.store(await exchange.stores.audit.audit(query))
        let directory = exchange.directory
        return .page(
            DashboardPage(title: DashboardText.auditLog) { html in
                writeForm(visit, directory, query, to: &html)
                if page.entries.isEmpty {
                    if page.next == nil { html.element("p", ["class": "empty"], DashboardText.noChanges) }
                } else {
                    write(page.entries, directory, to: &html)
                }
                html.searched(backTo: page.next?.time, isFull: page.entries.count == query.limit)
                if let next = page.next {
                    html.element("p") { html in
                        let address = visit.address.with("before", next.text)
                        html.link(address, class: "next", DashboardText.olderChanges)
                    }
                }
            }
        )
    }

    private static func writeForm(
        _ visit: DashboardVisit,
        _ directory: Directory,
        _ query: AuditQuery,
        to html: inout HTML
    ) {
        html.element(
            "form",
            ["class": "filters", "action": visit.address.path, "aria-label": DashboardText.filters]
        ) { html in
            if directory.apps.count > 1 {
                let apps =
                    [("", DashboardText.allApps)] + directory.apps.map { ($0.id.text, $0.settings.name) }
                html.select("app", DashboardText.app, apps, chosen: query.app?.text ?? "")
            }
            let actions = AuditAction.allCases.map { ($0.rawValue, DashboardText.action($0.rawValue)) }
            let all = [("", DashboardText.any)] + actions
            html.select("action", DashboardText.change, all, chosen: query.action?.rawValue ?? "")
            html.field("actor", DashboardText.actor, value: query.actor)
            for (name, label) in [("since", DashboardText.from), ("until", DashboardText.to)] {
                html.field(name, label, type: "date", value: visit.address[name])
            }
            html.element("button", ["type": "submit"], DashboardText.show)
        }
    }

    private static func write(_ entries: [AuditEntry], _ directory: Directory, to html: inout HTML) {
        html.table(DashboardText.auditCaption, DashboardText.auditHeadings, entries) { html, entry in
            html.element("th", ["scope": "row"], DashboardText.time(entry.at))
            html.element("td", DashboardText.actor(entry.actor, in: directory))
            html.element("td", DashboardText.action(entry.action))
            let app = entry.app.map { directory.app($0)?.settings.name ?? $0.text } ?? "–"
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

extension HTML {
    /// Writes a labelled field of a form.
    mutating func field(_ name: String, _ label: String, type: String = "text", value: String?) {
        element("label") { html in
            html.element("span", label)
            html.open("input", ["type": type, "name": name, "value": value])
        }
    }
}
