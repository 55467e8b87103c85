internal import Attribution
internal import HTTPServer

/// The part of the page Matching that compares other windows and minimum confidences.
struct PolicyGridPanel {
    private let app: App
    private let grid: PolicyGrid?
    private let isRequested: Bool
    private let now: Timestamp
    /// The attribution window of the app's clicks, except clicks that state another one or whose links have one.
    private let ownWindow: AttributionWindow

    init(_ app: App, _ exchange: Exchange) async throws(APIError) {
        let statistics = exchange.stores.statistics
        (self.app, now) = (app, exchange.now)
        // Read the request before the grid. If the comparison ends between the two reads, the page shows the new grid
        // and says that a comparison was requested; in the other order, the page would show neither.
        isRequested = statistics.isPolicyGridRequested(of: app.id)
        grid = try await exchange.store(await statistics.policyGrid(of: app.id))
        ownWindow = app.settings.window ?? exchange.service.settings.attributionWindow
    }

    /// `POST /matching/compare`: requests a comparison.
    static func request(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError) -> Reply {
        let app = try exchange.app(of: visit.form)
        exchange.stores.statistics.requestPolicyGrid(of: app.id)
        return .redirect(DashboardAddress("/matching").with("app", app.id.text))
    }

    func write(to html: inout HTML) {
        if let grid, grid.launches > 0 {
            html.paragraph(DashboardText.gridExplained)
            writeTable(grid, to: &html)
            html.note(DashboardText.compared(grid, at: now))
            if grid.isLimited { html.note(DashboardText.gridLimited) }
            if grid.current.minimumConfidence != app.settings.followedPolicy.minimumConfidence {
                html.note(DashboardText.gridOutdated)
            }
            writeChoice(grid, to: &html)
        } else {
            let isEmpty = grid.map { !$0.isUnfinished } ?? false
            html.note(isEmpty ? DashboardText.emptyGrid : DashboardText.noGrid)
        }
        if grid?.isUnfinished == true { html.note(DashboardText.gridUnfinished) }
        guard !isRequested else { return html.note(DashboardText.gridRequested) }
        guard html.mayChange else { return }
        html.button("/matching/compare", DashboardText.compareNow, sending: ["app": app.id.text])
    }

    private func writeTable(_ grid: PolicyGrid, to html: inout HTML) {
        let headings = [DashboardText.window] + grid.minimums.map { DashboardText.atLeast($0) }
        let table: TableText = [DashboardText.gridCaption(app.settings.name): headings]
        let exports = PanelExports.rows.running(["backtest"], [("app", app.settings.name)])
        html.table(table, grid.windows, exports: exports) { html, window in
            html.rowName(text(of: window))
            for minimum in grid.minimums {
                let setting = PolicyGrid.Setting(window: window, minimumConfidence: minimum)
                html.element("td", ["class": "n"]) { html in
                    guard let result = grid.results[setting] else { return html.text("–") }
                    let isCurrent = setting == grid.current
                    let text = isCurrent ? DashboardText.currentCell(result) : DashboardText.cell(result)
                    let address = html.address.with("window", "\(window?.seconds ?? 0)")
                        .with("confidence", "\(minimum)")
                    html.element("a", ["href": address.text + "#choice"], text)
                }
            }
        }
    }

    private func text(of window: AttributionWindow?) -> String {
        window.map { DashboardText.duration(Double($0.seconds * 1000)) } ?? DashboardText.asNow
    }

    /// Writes the figures of the cell that the address names, and the command for its setting.
    private func writeChoice(_ grid: PolicyGrid, to html: inout HTML) {
        guard let window = html.address["window"].flatMap({ Int64($0) }),
            let minimum = html.address["confidence"].flatMap({ Double($0) })
        else { return }
        let chosen = AttributionWindow(seconds: window)
        let setting = PolicyGrid.Setting(window: chosen, minimumConfidence: minimum)
        guard let result = grid.results[setting] else { return }
        html.element("h3", ["id": "choice"], DashboardText.choice(text(of: chosen), minimum))
        html.facts([
            (DashboardText.matches, DashboardText.count(result.matches)),
            (DashboardText.gained, DashboardText.count(result.gained)),
            (DashboardText.lost, DashboardText.count(result.lost)),
            (DashboardText.redirected, DashboardText.count(result.redirected)),
            (DashboardText.expectedWrong, DashboardText.decimal(result.expectedWrong)),
        ])
        guard let command = command(setting, grid.current) else { return html.note(DashboardText.isCurrent) }
        html.paragraph(DashboardText.gridCommand)
        html.commands(command)
        if let chosen, chosen.seconds > ownWindow.seconds { html.note(DashboardText.longerWindow) }
    }

    /// Returns the command that gives the app a setting; nil for the current one.
    private func command(_ setting: PolicyGrid.Setting, _ current: PolicyGrid.Setting) -> String? {
        var options: [String] = []
        if let window = setting.window {
            let isLonger = window.seconds > ownWindow.seconds
            if isLonger { options += ["--attribution-window", "\(window.seconds)"] }
            if !isLonger || app.settings.policy.windows.fingerprint != nil {
                options += ["--fingerprint-window", "\(window.seconds)"]
            }
        }
        if setting.minimumConfidence != current.minimumConfidence {
            options += ["--minimum-confidence", "\(setting.minimumConfidence)"]
        }
        guard !options.isEmpty else { return nil }
        return PanelExports.line(["afterlink", "apps", "set", "--app", app.settings.name] + options)
    }
}
