internal import Attribution
internal import HTTPServer

/// The endpoints that receive postbacks, and a form for a new one.
enum PostbacksPage {
    static func make(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError) -> Reply {
        let app = try exchange.appItem()?.id
        let shown = try await exchange.endpoints(of: app)
        let now = exchange.now
        return .page(title: DashboardText.postbacks) { html in
            if shown.isEmpty {
                html.empty(DashboardText.noEndpoints)
            } else {
                let exports = PanelExports.rows.calling("/admin/api/postbacks", [("app", app?.text)])
                // For a single app, show no command, because the command lists the endpoints of all apps.
                let both = app == nil ? exports.running(["postbacks", "list"]) : exports
                html.table(DashboardText.endpoints, shown, exports: both) { html, status in
                    let endpoint = status.endpoint
                    html.rowName(endpoint.url, html.address.page("/postbacks/\(endpoint.id.text)"))
                    html.cells(DashboardText.name(of: endpoint.app, in: html.directory))
                    let (text, style) = DashboardText.state(endpoint)
                    html.cell(text, class: style)
                    html.counts(status.pending)
                    html.cells(DashboardText.age(status.oldest, at: now), endpoint.typesText)
                }
            }
            if html.mayChange, !html.directory.apps.isEmpty { writeForm(to: &html) }
        }
    }

    private static func writeForm(to html: inout HTML) {
        html.element("h2", DashboardText.newEndpoint)
        html.note(DashboardText.aboutEndpoints)
        html.action("/postbacks", class: "edit") { html in
            html.requiredApp()
            html.field("url", DashboardText.endpointURL, nil)
            html.field("types", DashboardText.endpointTypes, "match.created match.campaign_only")
            html.area("body", DashboardText.endpointBody, "")
            html.area("headers", DashboardText.endpointHeaders, "")
            html.element("details", ["class": "note"]) { html in
                html.element("summary", DashboardText.macros)
                html.element("p", DashboardText.macrosExplained)
            }
            html.field("since", DashboardText.endpointSince, type: "date", nil)
            html.select("test", DashboardText.traffic, DashboardText.endpointTraffics, chosen: "")
            html.element("button", ["type": "submit"], DashboardText.createEndpoint)
        }
    }

    /// `POST /postbacks`: creates an endpoint; only this response shows its secret.
    static func create(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError) -> Reply {
        let app = try exchange.app(of: visit.form)
        var draft = PostbackDraft()
        draft.url = visit.form["url"] ?? ""
        draft.types = (visit.form["types"] ?? "").split { ", \n\r".contains($0) }.map(String.init)
        draft.body = visit.form["body"].flatMap { $0.trimmed.isEmpty ? nil : $0 }
        draft.headers = (visit.form["headers"] ?? "").split(whereSeparator: \.isNewline).map(String.init)
        draft.isTest = visit.form["test"] == "true"
        let since = try visit.form.day("since", DashboardText.wrongDay)
        let (endpoint, secret) = try await PostbackEndpoints.create(draft, of: app, since: since, exchange)
        return PostbackPage.show(secret, of: endpoint)
    }
}

/// One endpoint: its state, its actions, and its deliveries with requests and responses.
enum PostbackPage {
    static func make(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError) -> Reply {
        let status = try await PostbackEndpoints.status(&exchange)
        var query = try PostbackEndpoints.query(status.endpoint.id, exchange)
        query.limit = 25
        let page = try await exchange.store(await exchange.stores.postbacks.deliveries(query))
        let (keys, now) = (exchange.keys.server, exchange.now)
        return .page(title: DashboardText.endpoint) { html in
            let endpoint = status.endpoint
            let (text, style) = DashboardText.state(endpoint)
            html.element("p", ["class": style], text)
            html.facts([
                ("URL", endpoint.url), (DashboardText.endpointTypes, endpoint.typesText),
                ("ID", endpoint.id.text),
                (DashboardText.signatures.caption, DashboardText.signing(endpoint)),
                (DashboardText.pending, DashboardText.count(status.pending)),
                (DashboardText.oldest, DashboardText.age(status.oldest, at: now)),
            ])
            if html.mayChange { writeActions(endpoint, to: &html) }
            writeFilter(query, to: &html)
            let (id, items) = (endpoint.id.text, ["state", "type"].map { ($0, visit.address[$0]) })
            let exports = PanelExports.file("deliveries", [("endpoint", id)])
                .calling("/admin/api/postbacks/\(id)/deliveries", items)
                .running(["postbacks", "deliveries", id], items)
            let texts = (DashboardText.noDeliveries, DashboardText.olderDeliveries)
            html.list(page.deliveries, limit: query.limit, next: page.next, texts: texts) { html in
                html.table(DashboardText.deliveries, page.deliveries, exports: exports) { html, delivery in
                    write(delivery, to: endpoint, delivery.call(to: endpoint, keys, at: now), &html)
                }
            }
        }
    }

    private static func writeActions(_ endpoint: PostbackEndpoint, to html: inout HTML) {
        let (path, isEnabled) = ("/postbacks/\(endpoint.id.text)", endpoint.state == .enabled)
        let actions = [isEnabled ? "disable" : "enable", "test", "replay"]
        html.element("div", ["class": "actions"]) { html in
            for action in actions + (endpoint.isTemplate ? [] : ["rotate"]) {
                html.button("\(path)/\(action)", DashboardText.endpointAction(action))
            }
            html.action("\(path)/replay") { html in
                html.field("since", DashboardText.replaySince, type: "date", nil)
                html.element("button", ["class": "quiet"], DashboardText.sendAgain)
            }
        }
    }

    private static func writeFilter(_ query: DeliveryQuery, to html: inout HTML) {
        html.filters(html.address.path) { html in
            html.keepChoices()
            let states = [("", DashboardText.any)] + DeliveryState.allCases.map { ($0.word, $0.word) }
            html.select("state", DashboardText.state, states, chosen: query.state?.word ?? "")
            html.choice("type", DashboardText.kind, of: query.type, \.rawValue)
        }
    }

    private static func write(
        _ delivery: PostbackDelivery,
        to endpoint: PostbackEndpoint,
        _ call: PostbackCall?,
        _ html: inout HTML
    ) {
        html.rowName(DashboardText.time(delivery.event.at))
        html.cells(delivery.event.type)
        let style = delivery.state == .failed ? "bad" : delivery.state == .delivered ? "good" : nil
        html.cell(delivery.state.word, class: style)
        html.number(String(delivery.attempts))
        html.time(delivery.nextAttempt)
        html.cells(delivery.answer.map { $0.problem ?? String($0.status ?? 0) })
        func part(_ title: String, _ text: String, to html: inout HTML) {
            html.element("h3", title)
            html.element("pre", text)
        }
        html.element("td") { html in
            html.element("details") { html in
                html.element("summary", delivery.event.id.text)
                if let call {
                    let fields = call.fields.map {
                        "\($0.name): \($0.isSecret ? DashboardText.hidden : $0.value)"
                    }
                    let head = ["\(call.isPost ? "POST" : "GET") \(call.url)"] + fields
                    let lines = head + ["", String(decoding: call.body, as: UTF8.self)]
                    part(DashboardText.requestID, lines.joined(separator: "\n"), to: &html)
                    if let base = call.baseString {
                        part(DashboardText.baseString, String(decoding: base, as: UTF8.self), to: &html)
                    }
                }
                if let answer = delivery.answer {
                    let text = answer.body.isEmpty ? answer.problem ?? "–" : answer.body
                    part(DashboardText.answered(answer.milliseconds), text, to: &html)
                }
                guard html.mayChange, delivery.state != .pending else { return }
                let (path, event) = ("/postbacks/\(endpoint.id.text)/replay", delivery.event.id.text)
                html.button(path, DashboardText.sendAgain, sending: ["event": event])
            }
        }
    }

    /// Shows a new secret, which no other page can show.
    static func show(_ secret: PostbackSecret, of endpoint: PostbackEndpoint) -> Reply {
        guard !endpoint.isTemplate else { return back(to: endpoint.id) }
        return .page(title: DashboardText.endpointSecret) { html in
            html.paragraph(DashboardText.secretShownOnce)
            html.facts([(DashboardText.endpointSecret, secret.text), ("URL", endpoint.url)])
            let address = DashboardAddress("/postbacks/\(endpoint.id.text)")
            html.paragraph(linkingTo: address, DashboardText.endpoint)
        }
    }

    private static func back(to id: EndpointID) -> Reply { .redirect(to: "/postbacks/\(id.text)") }

    /// `POST /postbacks/{id}/enable` and `…/disable`.
    static func set(_ state: PostbackEndpoint.State) -> Routes.Page {
        { exchange, _ throws(APIError) in
            let id = try await PostbackEndpoints.status(&exchange).endpoint.id
            _ = try await PostbackEndpoints.set(state, &exchange)
            return back(to: id)
        }
    }

    /// `POST /postbacks/{id}/test`: sends an invented event.
    static func test(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError) -> Reply {
        let endpoint = try await PostbackEndpoints.status(&exchange).endpoint
        let (store, actor) = (exchange.stores.postbacks, exchange.actor)
        _ = try await exchange.store(await store.sendSample(endpoint.sampleType, to: endpoint.id, by: actor))
        return back(to: endpoint.id)
    }

    /// `POST /postbacks/{id}/replay`: sends one event again, all events since a day, or all whose delivery was given up.
    static func replay(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError) -> Reply {
        let id = try await PostbackEndpoints.status(&exchange).endpoint.id
        var replay = PostbackReplay(visit.form["since"] == nil ? .failed : .all)
        replay.event = visit.form["event"].flatMap { OutboxEventID($0) }
        replay.since = try visit.form.day("since", DashboardText.wrongDay)
        if replay.mode == .all, replay.since == nil { throw .invalidField("since", DashboardText.wrongDay) }
        let store = exchange.stores.postbacks
        _ = try await exchange.store(await store.replay(replay, to: id, by: exchange.actor))
        return back(to: id)
    }

    /// `POST /postbacks/{id}/rotate`: creates a new secret; only this response shows it.
    static func rotate(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError) -> Reply {
        let (endpoint, rotation) = try await PostbackEndpoints.rotateSecret(&exchange)
        return show(rotation.secret, of: endpoint)
    }
}
