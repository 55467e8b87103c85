internal import Attribution

/// Why one launch got its result, or what happened to a click that no launch got.
enum LaunchPage {
    static func make(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError) -> Reply {
        guard let found = try await ExplainCheck.find(exchange) else {
            throw .notFound(DashboardText.noLaunch)
        }
        let directory = exchange.directory
        switch found {
        case .check(let explanation): return .page(page(explanation, directory, visit))
        case .click(let explanation): return .page(page(explanation, visit))
        }
    }

    private static func page(_ explanation: Explanation, _ directory: Directory, _ visit: DashboardVisit)
        -> DashboardPage
    {
        let record = explanation.record
        return DashboardPage(title: DashboardText.launchTitle(record)) { html in
            html.element("p", ["class": "answer"], explanation.summary)
            write(explanation.advice, to: &html)
            let app = DashboardText.name(of: record.app, in: directory)
            let answer = explanation.clicks.first { $0.state == .answered }
            html.facts(
                [(DashboardText.app, app)] + facts(of: record) + DashboardText.play(record.facts)
                    + clickIDs(of: answer?.click)
            )
            let exports = exports(of: visit.address, explaining: record.id.text)
            writeComponents(explanation, exports, to: &html)
            writeClicks(explanation, exports, to: &html)
        }
    }

    /// Returns a function that makes a table's exports by its caption, with the call that explains the check or click.
    private static func exports(of page: DashboardAddress, explaining id: String) -> (String) -> PanelExports
    {
        { caption in
            PanelExports(table: caption, of: page)
                .calling("/admin/api/checks/\(id)/explain", command: ["explain", id])
        }
    }

    private static func page(_ explanation: ClickExplanation, _ visit: DashboardVisit) -> DashboardPage {
        DashboardPage(title: DashboardText.clickTitle(explanation.click)) { html in
            html.element("p", ["class": "answer"], explanation.summary)
            write(explanation.advice, to: &html)
            html.facts(clickIDs(of: explanation.click))
            let near = explanation.material.near
            guard !near.isEmpty else { return }
            html.table(DashboardText.nearLaunches, DashboardText.nearHeadings, near) { html, near in
                let address = visit.address.page("/launches/\(near.record.id.text)")
                html.rowName(DashboardText.time(near.record.facts.at), address)
                html.element("td", DashboardText.words(near.relation.rawValue))
                html.element("td", DashboardText.answer(near.record.facts))
            }
            let id = explanation.click.id.text
            html.exports(exports(of: visit.address, explaining: id)(DashboardText.nearLaunches))
        }
    }

    private static func write(_ advice: [String], to html: inout HTML) {
        guard !advice.isEmpty else { return }
        html.element("h2", DashboardText.advice)
        html.element("ul") { html in for sentence in advice { html.element("li") { $0.prose(sentence) } } }
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
            (DashboardText.candidates, DashboardText.count(Int64(facts.candidates))),
            (DashboardText.device, DashboardText.device(facts)), ("SDK", facts.sdkVersion ?? "–"),
            (DashboardText.checkID, record.id.text), (DashboardText.requestID, facts.requestID ?? "–"),
        ]
    }

    private static func clickIDs(of click: KnownClick?) -> [(String, String)] {
        ClickIDsBody.words(click?.clickIDs).map { [(DashboardText.clickIDs, $0)] } ?? []
    }

    /// Writes the components of the launch's fingerprint beside the nearest click's components.
    private static func writeComponents(
        _ explanation: Explanation,
        _ exports: (String) -> PanelExports,
        to html: inout HTML
    ) {
        guard let launch = explanation.launch else { return }
        let near = explanation.clicks.first { !$0.differences.isEmpty }
        let isSame = explanation.clicks.first?.hasSameFingerprint == true
        let rows = Array(zip(launch.form.components, launch.values))
        html.table(DashboardText.components, DashboardText.componentHeadings, rows) { html, row in
            let difference = near?.differences.first { $0.component == row.0 }
            html.rowName(row.0.rawValue)
            html.element("td", difference?.click ?? (near != nil || isSame ? row.1 : "–"))
            html.element("td", difference?.launch ?? row.1)
            let verdict = difference != nil ? "bad" : near != nil || isSame ? "good" : nil
            html.element("td", ["class": verdict], DashboardText.verdict(verdict))
        }
        html.exports(exports(DashboardText.components))
    }

    /// Writes the clicks that concern the launch, with the probability of each.
    private static func writeClicks(
        _ explanation: Explanation,
        _ exports: (String) -> PanelExports,
        to html: inout HTML
    ) {
        guard !explanation.clicks.isEmpty else { return }
        html.table(DashboardText.concerned, DashboardText.clickHeadings, explanation.clicks) { html, click in
            html.rowName(click.click.id.text)
            html.time(click.click.clickedAt)
            html.element("td", DashboardText.words(click.state.rawValue))
            html.element("td", click.click.campaign?.text ?? "–")
            html.element("td", DashboardText.sameOrOther(click.hasSameFingerprint))
            html.element("td", DashboardText.words(click.click.agreement.word))
            let bar = click.share.map { (value: Int64($0 * 1000), most: Int64(1000)) }
            html.number(DashboardText.percent(click.share), bar: bar)
        }
        html.exports(exports(DashboardText.concerned))
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
