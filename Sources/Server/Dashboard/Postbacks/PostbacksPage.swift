internal import Attribution
internal import HTTPServer

/// The endpoints that receive postbacks, and a form for a new one.
enum PostbacksPage {
    static func make(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError) -> Reply {
        let app = try exchange.appItem()?.id
        let all = try await exchange.store(await exchange.stores.postbacks.endpoints())
        let shown = all.filter { (app == nil || $0.endpoint.app == app) && exchange.maySee($0.endpoint.app) }
        let (directory, now) = (exchange.directory, exchange.now)
        return .page(title: DashboardText.postbacks) { html in
            if shown.isEmpty {
                html.empty(DashboardText.noEndpoints)
            } else {
                html.table(DashboardText.endpoints, DashboardText.endpointHeadings, shown) {
                    html,
                    status in
                    write(status, directory, visit, at: now, to: &html)
                }
                let exports = PanelExports(table: DashboardText.endpoints, of: visit.address)
                    .calling("/admin/api/postbacks", [("app", app?.text)])
                // The command lists the endpoints of all apps.
                html.exports(app == nil ? exports.running(["postbacks", "list"]) : exports)
            }
            if visit.mayChange, !directory.apps.isEmpty { writeForm(visit, directory, to: &html) }
        }
    }

    private static func write(
        _ status: EndpointStatus,
        _ directory: Directory,
        _ visit: DashboardVisit,
        at now: Timestamp,
        to html: inout HTML
    ) {
        let endpoint = status.endpoint
        html.rowName(endpoint.url, visit.address.page("/postbacks/\(endpoint.id.text)"))
        html.element("td", DashboardText.name(of: endpoint.app, in: directory))
        let (text, style) = DashboardText.state(endpoint)
        html.element("td", ["class": style], text)
        html.number(DashboardText.count(Int64(status.pending)))
        html.element("td", DashboardText.age(status.oldest, at: now))
        html.element("td", endpoint.typesText)
    }

    private static func writeForm(_ visit: DashboardVisit, _ directory: Directory, to html: inout HTML) {
        html.element("h2", DashboardText.newEndpoint)
        html.note(DashboardText.aboutEndpoints)
        html.action("/postbacks", visit, class: "edit") { html in
            html.requiredApp(directory.apps)
            html.field("url", DashboardText.endpointURL, nil)
            html.field("types", DashboardText.endpointTypes, "match.created match.campaign_only")
            html.area("body", DashboardText.endpointBody, "")
            html.area("headers", DashboardText.endpointHeaders, "")
            html.element("details", ["class": "note"]) { html in
                html.element("summary", DashboardText.macros)
                html.element("p", DashboardText.macrosExplained)
            }
            html.field("since", DashboardText.endpointSince, type: "date", nil)
            html.select("test", DashboardText.endpointTraffic, DashboardText.endpointTraffics, chosen: "")
            html.element("button", ["type": "submit"], DashboardText.createEndpoint)
        }
    }

    /// `POST /postbacks`: creates an endpoint; only this response shows its secret.
    static func create(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError)
        -> Response
    {
        let app = try exchange.app(of: visit.form)
        var draft = PostbackDraft()
        draft.url = visit.form["url"] ?? ""
        draft.types = (visit.form["types"] ?? "").split { ", \n\r".contains($0) }.map(String.init)
        draft.body = visit.form["body"].flatMap { $0.trimmed.isEmpty ? nil : $0 }
        draft.headers = (visit.form["headers"] ?? "").split(whereSeparator: \.isNewline).map(String.init)
        draft.isTest = visit.form["test"] == "true"
        let since = try visit.form.day("since", DashboardText.wrongDay)
        let (endpoint, secret) = try await PostbackEndpoints.create(draft, of: app, since: since, exchange)
        return PostbackPage.show(secret, of: endpoint, visit)
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
                (DashboardText.signing, endpoint.isTemplate ? DashboardText.unsigned : DashboardText.signed),
                (DashboardText.pending, DashboardText.count(Int64(status.pending))),
                (DashboardText.oldest, DashboardText.age(status.oldest, at: now)),
            ])
            if visit.mayChange { writeActions(endpoint, visit, to: &html) }
            writeFilter(visit, query, to: &html)
            if !page.deliveries.isEmpty {
                html.table(DashboardText.deliveries, DashboardText.deliveryHeadings, page.deliveries) {
                    html,
                    delivery in
                    let call = delivery.call(to: endpoint, keys, at: now)
                    write(delivery, to: endpoint, call, visit, &html)
                }
                let (id, items) = (endpoint.id.text, ["state", "type"].map { ($0, visit.address[$0]) })
                html.exports(
                    PanelExports("deliveries", of: visit.address.with("endpoint", id))
                        .calling("/admin/api/postbacks/\(id)/deliveries", items)
                        .running(["postbacks", "deliveries", id], items)
                )
            } else if page.next == nil {
                html.empty(DashboardText.noDeliveries)
            }
            html.searched(backTo: page.next?.time, isFull: page.deliveries.count == query.limit)
            if let next = page.next {
                html.next(visit.address.with("before", next.text), DashboardText.olderDeliveries)
            }
        }
    }

    private static func writeActions(
        _ endpoint: PostbackEndpoint,
        _ visit: DashboardVisit,
        to html: inout HTML
    ) {
        let switching = endpoint.state == .enabled ? "disable" : "enable"
        html.element("div", ["class": "actions"]) { html in
            for action in [switching, "test", "replay", "rotate"]
            where action != "rotate" || !endpoint.isTemplate {
                let path = "/postbacks/\(endpoint.id.text)/\(action)"
                html.action(path, visit) { html in
                    html.element("button", ["class": "quiet"], DashboardText.endpointAction(action))
                }
            }
            html.action("/postbacks/\(endpoint.id.text)/replay", visit) { html in
                html.field("since", DashboardText.replaySince, type: "date", nil)
                html.element("button", ["class": "quiet"], DashboardText.sendAgain)
            }
        }
    }

    private static func writeFilter(_ visit: DashboardVisit, _ query: DeliveryQuery, to html: inout HTML) {
        html.filters(visit.address.path) { html in
            html.keepChoices(of: visit.address)
            let states = [("", DashboardText.any)] + DeliveryState.allCases.map { ($0.word, $0.word) }
            html.select("state", DashboardText.deliveryState, states, chosen: query.state?.word ?? "")
            let types = [("", DashboardText.any)] + PostbackType.allCases.map { ($0.rawValue, $0.rawValue) }
            html.select("type", DashboardText.kind, types, chosen: query.type?.rawValue ?? "")
        }
    }

    private static func write(
        _ delivery: PostbackDelivery,
        to endpoint: PostbackEndpoint,
        _ call: PostbackCall?,
        _ visit: DashboardVisit,
        _ html: inout HTML
    ) {
        html.rowName(DashboardText.time(delivery.event.at))
        html.element("td", delivery.event.type)
        let style = delivery.state == .failed ? "bad" : delivery.state == .delivered ? "good" : nil
        html.element("td", ["class": style], delivery.state.word)
        html.number(String(delivery.attempts))
        html.time(delivery.nextAttempt)
        html.element("td", delivery.answer.map { $0.problem ?? String($0.status ?? 0) } ?? "–")
        html.element("td") { html in
            html.element("details") { html in
                html.element("summary", delivery.event.id.text)
                if let call {
                    let fields = call.fields.map {
                        "\($0.name): \($0.isSecret ? DashboardText.hidden : $0.value)"
                    }
                    let head = ["\(call.isPost ? "POST" : "GET") \(call.url)"] + fields
                    let body = String(decoding: call.body, as: UTF8.self)
                    html.element("h3", DashboardText.request)
                    html.element("pre", (head + ["", body]).joined(separator: "\n"))
                    if let base = call.baseString {
                        html.element("h3", DashboardText.baseString)
                        html.element("pre", String(decoding: base, as: UTF8.self))
                    }
                }
                if let answer = delivery.answer {
                    html.element("h3", DashboardText.answered(answer.milliseconds))
                    html.element("pre", answer.body.isEmpty ? answer.problem ?? "–" : answer.body)
                }
                guard visit.mayChange, delivery.state != .pending else { return }
                let path = "/postbacks/\(endpoint.id.text)/replay"
                html.action(path, visit) { html in
                    html.hidden("event", delivery.event.id.text)
                    html.element("button", ["class": "quiet"], DashboardText.sendAgain)
                }
            }
        }
    }

    /// Shows a new secret, which no other page can show.
    static func show(_ secret: PostbackSecret, of endpoint: PostbackEndpoint, _ visit: DashboardVisit)
        -> Response
    {
        guard !endpoint.isTemplate else { return back(to: endpoint.id) }
        let page = DashboardPage(title: DashboardText.endpointSecret) { html in
            html.paragraph(DashboardText.secretShownOnce)
            html.facts([(DashboardText.endpointSecret, secret.text), ("URL", endpoint.url)])
            html.element("p") {
                $0.link(DashboardAddress("/postbacks/\(endpoint.id.text)"), DashboardText.endpoint)
            }
        }
        return page.response(visit: visit)
    }

    private static func back(to id: EndpointID) -> Response {
        DashboardPage.redirect(to: "/postbacks/\(id.text)")
    }

    /// `POST /postbacks/{id}/enable` and `…/disable`.
    static func set(_ state: PostbackEndpoint.State) -> Routes.Action {
        { exchange, _ throws(APIError) in
            let id = try await PostbackEndpoints.status(&exchange).endpoint.id
            _ = try await PostbackEndpoints.set(state, &exchange)
            return back(to: id)
        }
    }

    /// `POST /postbacks/{id}/test`: sends an invented event.
    static func test(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError) -> Response {
        let endpoint = try await PostbackEndpoints.status(&exchange).endpoint
        let (store, actor) = (exchange.stores.postbacks, exchange.actor)
        _ = try await exchange.store(await store.sendSample(endpoint.sampleType, to: endpoint.id, by: actor))
        return back(to: endpoint.id)
    }

    /// `POST /postbacks/{id}/replay`: sends one event again, all events since a day, or all whose delivery was given up.
    static func replay(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError)
        -> Response
    {
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
    static func rotate(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError)
        -> Response
    {
        let (endpoint, rotation) = try await PostbackEndpoints.rotateSecret(&exchange)
        return show(rotation.secret, of: endpoint, visit)
    }
}
