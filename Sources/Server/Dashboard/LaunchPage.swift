internal import Attribution

/// Why one launch got its result, or what happened to a click that no launch got.
enum LaunchPage {
    static func make(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError) -> Reply {
        switch try await ExplainCheck.find(exchange) {
        case .check(let explanation)?: return page(explanation)
        case .click(let explanation)?: return page(explanation)
        case nil: throw .notFound(DashboardText.noLaunch)
        }
    }

    private static func page(_ explanation: Explanation) -> Reply {
        let record = explanation.record
        return .page(title: DashboardText.launchTitle(record)) { html in
            write(explanation.summary, explanation.advice, to: &html)
            let app = DashboardText.name(of: record.app, in: html.directory)
            let answer = explanation.clicks.first { $0.state == .answered }
            html.facts(
                [(DashboardText.app, app)] + facts(of: record) + DashboardText.play(record.facts)
                    + clickIDs(of: answer?.click)
            )
            writeComponents(explanation, to: &html)
            writeClicks(explanation, to: &html)
        }
    }

    /// Returns the exports of a table, with the call and the command that explain the check or click.
    private static func exports(explaining id: String) -> PanelExports {
        .rows.calling("/admin/api/checks/\(id)/explain", command: ["explain", id])
    }

    private static func page(_ explanation: ClickExplanation) -> Reply {
        .page(title: DashboardText.clickTitle(explanation.click)) { html in
            write(explanation.summary, explanation.advice, to: &html)
            html.facts(clickIDs(of: explanation.click))
            let near = explanation.material.near
            guard !near.isEmpty else { return }
            let exports = exports(explaining: explanation.click.id.text)
            html.table(DashboardText.nearLaunches, near, exports: exports) { html, near in
                let address = html.address.page("/launches/\(near.record.id.text)")
                html.rowName(DashboardText.time(near.record.facts.at), address)
                html.cells(DashboardText.words(near.relation), DashboardText.answer(near.record.facts))
            }
        }
    }

    private static func write(_ summary: String, _ advice: [String], to html: inout HTML) {
        html.element("p", ["class": "answer"], summary)
        guard !advice.isEmpty else { return }
        html.element("h2", DashboardText.advice)
        html.items(advice)
    }

    private static func facts(of record: RecordedCheck) -> [(String, String)] {
        let facts = record.facts
        return [
            (DashboardText.time, DashboardText.time(facts.at)),
            (DashboardText.outcome, DashboardText.answer(facts)),
            (DashboardText.method, DashboardText.name(of: facts.method)),
            (DashboardText.confidence, DashboardText.percent(facts.confidence)),
            (DashboardText.demanded, DashboardText.percent(facts.minimumConfidence)),
            (DashboardText.organic, DashboardText.percent(facts.organicShare)),
            (DashboardText.candidates, DashboardText.count(facts.candidates)),
            (DashboardText.device, DashboardText.device(facts)), ("SDK", facts.sdkVersion ?? "–"),
            (DashboardText.checkID, record.id.text), (DashboardText.requestID, facts.requestID ?? "–"),
        ]
    }

    private static func clickIDs(of click: KnownClick?) -> [(String, String)] {
        ClickIDsBody.words(click?.clickIDs).map { [(DashboardText.clickIDs, $0)] } ?? []
    }

    /// Writes the components of the launch's fingerprint beside the nearest click's components.
    private static func writeComponents(_ explanation: Explanation, to html: inout HTML) {
        guard let launch = explanation.launch else { return }
        let exports = exports(explaining: explanation.record.id.text)
        let near = explanation.clicks.first { !$0.differences.isEmpty }
        let isKnown = near != nil || explanation.clicks.first?.hasSameFingerprint == true
        let rows = zip(launch.form.components, launch.values)
        html.table(DashboardText.components, rows, exports: exports) { html, row in
            let difference = near?.differences.first { $0.component == row.0 }
            html.rowName(row.0.rawValue)
            html.cells(difference?.click ?? (isKnown ? row.1 : nil), difference?.launch ?? row.1)
            let verdict = difference != nil ? "bad" : isKnown ? "good" : nil
            html.cell(DashboardText.verdict(verdict), class: verdict)
        }
    }

    /// Writes the clicks that concern the launch, with the probability of each.
    private static func writeClicks(_ explanation: Explanation, to html: inout HTML) {
        guard !explanation.clicks.isEmpty else { return }
        let exports = exports(explaining: explanation.record.id.text)
        html.table(DashboardText.concerned, explanation.clicks, exports: exports) { html, explained in
            let click = explained.click
            html.rowName(click.id.text)
            html.time(click.clickedAt)
            html.cells(DashboardText.words(explained.state), click.campaign?.text)
            html.cells(DashboardText.sameOrOther(explained.hasSameFingerprint))
            html.cells(DashboardText.words(click.agreement.word))
            let bar = explained.share.map { (value: Int64($0 * 1000), most: Int64(1000)) }
            html.number(DashboardText.percent(explained.share), bar: bar)
        }
    }
}

extension HTML {
    /// Writes a list of names and values.
    mutating func facts(_ facts: [(String, String)]) {
        guard !facts.isEmpty else { return }
        element("dl", ["class": "facts"]) { html in
            for (name, value) in facts {
                html.element("dt", name)
                html.element("dd", value)
            }
        }
    }
}
