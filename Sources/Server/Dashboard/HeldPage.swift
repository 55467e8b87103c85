internal import Attribution
internal import HTTPServer

/// What is stored now, by table, and a form that erases what is stored about one person.
enum HeldPage {
    private static let maximumErasures = 50

    static func make(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError) -> Reply {
        let privacy = exchange.stores.privacy
        var holdings: [TableHolding]?
        // The tables have the rows of all apps.
        if exchange.onlyApp == nil { holdings = try await exchange.store(await privacy.holdings()) }
        let all = try await exchange.store(await privacy.erasures(atMost: maximumErasures))
        let (erasures, directory) = (all.filter { exchange.maySee($0.app) }, exchange.directory)
        let page = DashboardPage(title: DashboardText.held) { [holdings] html in
            if let holdings {
                html.table(DashboardText.heldNow, DashboardText.heldHeadings, holdings) { html, holding in
                    html.rowName(holding.table)
                    html.number(DashboardText.count(holding.count) + (holding.isComplete ? "" : "+"))
                    html.time(holding.oldest)
                }
                html.exports(PanelExports(table: DashboardText.heldNow, of: visit.address).running(["held"]))
            } else {
                html.note(DashboardText.figuresOfAllApps)
            }
            if visit.mayChange {
                html.element("h2", DashboardText.erase)
                html.paragraph(DashboardText.eraseExplained)
                writeForm(directory, visit, to: &html)
            }
            guard !erasures.isEmpty else { return html.paragraph(DashboardText.noErasures) }
            html.table(DashboardText.erasures, DashboardText.erasureHeadings, erasures) { html, erasure in
                html.rowName(erasure.id.text)
                html.time(erasure.at)
                html.element("td", DashboardText.name(of: erasure.app, in: directory))
                html.element("td", DashboardText.words(erasure.kind.rawValue))
                html.element("td", erasure.actor.text)
                html.number(DashboardText.count(erasure.counts.clicks))
                html.number(DashboardText.count(erasure.counts.checks))
            }
            html.exports(
                PanelExports(table: DashboardText.erasures, of: visit.address)
                    .calling("/admin/api/audit", command: ["audit"], [("action", AuditAction.erase.rawValue)])
            )
        }
        return .page(page)
    }

    /// `POST /settings/held/erase`: shows what would be erased, and erases it when the form comes again with `confirmed`.
    ///
    /// The response is the page itself and not a redirect, because the value must not be in an address.
    static func erase(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError)
        -> Response
    {
        let app = try exchange.app(of: visit.form)
        let (word, text) = (visit.form["kind"] ?? "", visit.form["value"] ?? "")
        guard let kind = SubjectKind(rawValue: word) else {
            throw .invalidField(
                "kind",
                "must be one of \(SubjectKind.allCases.map(\.rawValue).joined(separator: ", "))"
            )
        }
        exchange.app = app.id
        let subject = try PrivacyEndpoints.subject(kind, text, of: app.id, exchange)
        let hidden = [("app", app.id.text), ("kind", word), ("value", text), ("confirmed", "1")]
        guard visit.form["confirmed"] == "1" else {
            let held = try await exchange.store(await exchange.stores.privacy.held(subject))
            let page = DashboardPage(title: DashboardText.eraseTitle) { html in
                write(held.counts, to: &html)
                guard !held.counts.isEmpty else { return html.paragraph(DashboardText.nothingHeld) }
                html.action("/settings/held/erase", visit) { html in
                    for (name, value) in hidden { html.hidden(name, value) }
                    html.paragraph(DashboardText.cannotUndo)
                    html.element("button", DashboardText.erase)
                }
                html.link(DashboardAddress("/settings/held"), DashboardText.keep)
            }
            return page.response(visit: visit)
        }
        let erasure = try await PrivacyEndpoints.erase(subject, exchange)
        let page = DashboardPage(title: DashboardText.erased) { html in
            html.paragraph(DashboardText.recordedAs(erasure))
            write(erasure.counts, to: &html)
            if !erasure.isLogCleared { html.element("p", ["class": "bad"], DashboardText.logNotCleared) }
            html.link(DashboardAddress("/settings/held"), DashboardText.back)
        }
        return page.response(visit: visit)
    }

    private static func write(_ counts: PrivacyCounts, to html: inout HTML) {
        html.table(DashboardText.rows, DashboardText.countHeadings, PrivacyCounts.tables) { html, table in
            html.rowName(table.name)
            html.number(DashboardText.count(counts[keyPath: table.count]))
        }
    }

    private static func writeForm(_ directory: Directory, _ visit: DashboardVisit, to html: inout HTML) {
        html.action("/settings/held/erase", visit, class: "filters") { html in
            html.requiredApp(directory.apps)
            let kinds = SubjectKind.allCases.map { (value: $0.rawValue, text: DashboardText.name(of: $0)) }
            html.select("kind", DashboardText.foundBy, kinds, chosen: SubjectKind.click.rawValue)
            html.element("label") { html in
                html.element("span", DashboardText.value)
                html.open("input", ["name": "value", "required": "", "autocomplete": "off"])
            }
            html.element("button", DashboardText.showWhat)
        }
    }
}
