internal import Attribution
internal import HTTPServer

/// What is stored now, by table, and a form that erases what is stored about one person.
enum HeldPage {
    private static let maximumErasures = 50

    static func make(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError) -> Reply {
        let privacy = exchange.stores.privacy
        var holdings: [TableHolding]?
        // A session of one app gets no counts, because the tables have the rows of all apps.
        if exchange.onlyApp == nil { holdings = try await exchange.store(await privacy.holdings()) }
        let all = try await exchange.store(await privacy.erasures(atMost: maximumErasures))
        let erasures = all.filter { exchange.maySee($0.app) }
        return .page(title: DashboardText.held) { [holdings] html in
            if let holdings {
                let exports = PanelExports.rows.running(["held"])
                html.table(DashboardText.heldNow, holdings, exports: exports) { html, holding in
                    html.rowName(holding.table)
                    html.number(DashboardText.count(holding.count) + (holding.isComplete ? "" : "+"))
                    html.time(holding.oldest)
                }
            } else {
                html.note(DashboardText.figuresOfAllApps)
            }
            if html.mayChange { writeForm(to: &html) }
            guard !erasures.isEmpty else { return html.paragraph(DashboardText.noErasures) }
            let exports = PanelExports.rows
                .calling("/admin/api/audit", command: ["audit"], [("action", AuditAction.erase.rawValue)])
            html.table(DashboardText.erasures, erasures, exports: exports) { html, erasure in
                html.rowName(erasure.id.text)
                html.time(erasure.at)
                html.cells(DashboardText.name(of: erasure.app, in: html.directory))
                html.cells(DashboardText.words(erasure.kind), erasure.actor.text)
                html.counts(erasure.counts.clicks, erasure.counts.checks)
            }
        }
    }

    /// `POST /settings/held/erase`: shows what would be erased, and erases it when the form comes again with `confirmed`.
    ///
    /// The response is the page itself and not a redirect, because the value must not be in an address.
    static func erase(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError) -> Reply {
        let app = try exchange.app(of: visit.form)
        let (word, text) = (visit.form["kind"] ?? "", visit.form["value"] ?? "")
        guard let kind = SubjectKind(rawValue: word) else {
            let words = SubjectKind.allCases.map(\.rawValue).joined(separator: ", ")
            throw .invalidField("kind", "must be one of \(words)")
        }
        exchange.app = app.id
        let subject = try PrivacyEndpoints.subject(kind, text, of: app.id, exchange)
        let hidden = [("app", app.id.text), ("kind", word), ("value", text), ("confirmed", "1")]
        guard visit.form["confirmed"] == "1" else {
            let held = try await exchange.store(await exchange.stores.privacy.held(subject))
            return .page(title: DashboardText.eraseTitle) { html in
                write(held.counts, to: &html)
                guard !held.counts.isEmpty else { return html.paragraph(DashboardText.nothingHeld) }
                html.action("/settings/held/erase") { html in
                    for (name, value) in hidden { html.hidden(name, value) }
                    html.paragraph(DashboardText.cannotUndo)
                    html.element("button", DashboardText.erase)
                }
                html.link(DashboardAddress("/settings/held"), DashboardText.keep)
            }
        }
        let erasure = try await PrivacyEndpoints.erase(subject, exchange)
        return .page(title: DashboardText.erased) { html in
            html.paragraph(DashboardText.recordedAs(erasure))
            write(erasure.counts, to: &html)
            if !erasure.isLogCleared { html.element("p", ["class": "bad"], DashboardText.logNotCleared) }
            html.link(DashboardAddress("/settings/held"), DashboardText.back)
        }
    }

    private static func write(_ counts: PrivacyCounts, to html: inout HTML) {
        html.table(DashboardText.rows, PrivacyCounts.tables) { html, table in
            html.rowName(table.name)
            html.counts(counts[keyPath: table.count])
        }
    }

    private static func writeForm(to html: inout HTML) {
        html.element("h2", DashboardText.erase)
        html.paragraph(DashboardText.eraseExplained)
        html.action("/settings/held/erase", class: "filters") { html in
            html.requiredApp()
            let kinds = SubjectKind.allCases.map { (value: $0.rawValue, text: DashboardText.name(of: $0)) }
            html.select("kind", DashboardText.foundBy, kinds, chosen: SubjectKind.click.rawValue)
            html.labelled(DashboardText.value) { html in
                html.open("input", ["name": "value", "required": "", "autocomplete": "off"])
            }
            html.element("button", DashboardText.showWhat)
        }
    }
}
