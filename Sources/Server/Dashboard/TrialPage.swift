internal import Attribution
internal import HTTPServer
internal import QRCodes

/// A simulated tap and launch of an app, step by step, and a code for the camera of a real phone.
enum TrialPage {
    static func make(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError) -> Reply {
        let app = try exchange.appItem() ?? exchange.directory.apps.first
        let profile = BrowserProfile.all.first
        let url = try await address(ofLinkOf: app, exchange)
        return .page(title: DashboardText.trial) { html in
            guard let app else { return html.empty(DashboardText.noApp) }
            html.paragraph(DashboardText.trialExplained)
            writeForm((app, profile?.name ?? ""), to: &html)
            writeCode(for: app, url, to: &html)
        }
    }

    /// `POST /try`: sends the click and the launch to the endpoints of this process, with a test key.
    static func run(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError) -> Reply {
        let app = try exchange.app(of: visit.form)
        guard let profile = BrowserProfile.all.first(where: { $0.name == visit.form["profile"] }) else {
            throw .invalidField("profile", DashboardText.wrongProfile)
        }
        let now = exchange.now
        let keys = exchange.directory.keys.filter { $0.kind == .test && $0.app == app.id }
        guard let key = keys.first(where: { $0.isValid(at: now) }),
            let trial = makeTrial(of: profile, app, exchange.service.random)
        else {
            throw .conflict(DashboardText.noTestKey(app.id.text))
        }
        let host = exchange.request.field("host") ?? ""
        let click = trial.click(host: host, key: DashboardText.testKey, at: nil)
        let clickAnswer = await send(click, to: RecordClick.respond, with: key, exchange)
        var steps = [(DashboardText.tap, click, clickAnswer)]
        var launchAnswer: ClientResponse?
        if clickAnswer.isRecorded {
            let launch = trial.launch(host: host, key: DashboardText.testKey, token: nil, at: nil)
            let answer = await send(launch, to: FindDeferredDeepLink.respond, with: key, exchange)
            steps.append((DashboardText.launch, launch, answer))
            launchAnswer = answer
        }
        let result = TrialResult(trial, click: clickAnswer, launch: launchAnswer)
        let requestID = exchange.requestID
        return .page(title: DashboardText.trial) { [steps] html in
            writeForm((app, profile.name), to: &html)
            let style = result.isMatched ? "answer good" : "answer bad"
            html.element("p", ["class": style], result.explanation[0])
            for sentence in result.explanation.dropFirst() { html.paragraph(sentence) }
            if result.launch != nil {
                let address = DashboardAddress("/launches/\(requestID)")
                html.paragraph(linkingTo: address, DashboardText.explainTrial)
            }
            for (number, step) in steps.enumerated() { write(step, number: number + 1, to: &html) }
        }
    }

    /// Returns a trial of a browser on its own device, with the newest SDK; its click leads to a destination that the
    /// app allows.
    private static func makeTrial(of profile: BrowserProfile, _ app: App, _ random: RandomSource) -> Trial? {
        guard var device = TrialDevice.all.first(where: { $0.name == profile.device }),
            let release = SDKRelease.all.last(where: { $0.platform == device.platform })
        else { return nil }
        device.osVersion = profile.osVersion
        let languages = DeviceData.embedded.languages
        let localization = app.settings.localization(languages)
        var person = profile.person
        if device.platform == .ios {
            person.deviceLanguage = localization.negotiated(person.languages.compactMap(languages.canonical))
        }
        let number = random.exactly(8).reduce(0) { $0 << 8 | UInt64($1) }
        return Trial(
            profile: profile,
            device: device,
            release: release,
            person: person,
            poster: .test,
            destination: .url(Trial.prefix(of: app) + Trial.journey(number)),
            number: number,
            localization: localization
        )
    }

    /// Calls an endpoint as if the app's test key had sent the request, without a socket.
    private static func send(
        _ request: ClientRequest,
        to endpoint: Route.Endpoint,
        with key: APIKey,
        _ exchange: Exchange
    ) async -> ClientResponse {
        let words = request.line.split(separator: " ", maxSplits: 1)
        let target = words.last?.split(separator: "?", maxSplits: 1) ?? []
        var inner = Exchange(
            request: Request(
                words.first == "POST" ? .post : .get,
                path: target.first.map(String.init) ?? "",
                query: target.count > 1 ? String(target[1]) : nil,
                fields: request.fields.map { FieldLine(name: $0.name, value: $0.value) },
                body: Array(request.body.utf8),
                peer: exchange.request.peer
            ),
            loop: exchange.loop,
            requestID: exchange.requestID,
            now: exchange.now,
            parameter: nil,
            address: exchange.address,
            directory: exchange.directory,
            key: key,
            app: key.app
        )
        var response: Response
        do throws(APIError) { response = try await endpoint(&inner) } catch { response = Response(error) }
        response.onDelivery?(.delivered)
        let body = String(decoding: response.body, as: UTF8.self)
        return ClientResponse(status: response.status.code, body: body)
    }
}

/// The form, the steps and the code.
extension TrialPage {
    private static func writeForm(_ chosen: (app: App, profile: String), to html: inout HTML) {
        // The trial stores a click and a launch of the app, so a read key must not run it.
        guard html.mayChange else { return html.paragraph(DashboardText.mayNotChange) }
        html.action("/try", class: "filters") { html in
            html.requiredApp(chosen: chosen.app.id)
            let profiles = BrowserProfile.all.map { ($0.name, $0.title) }
            html.select("profile", DashboardText.browser, profiles, chosen: chosen.profile)
            html.element("button", ["type": "submit"], DashboardText.simulate)
        }
    }

    private static func write(
        _ step: (title: String, request: ClientRequest, answer: ClientResponse),
        number: Int,
        to html: inout HTML
    ) {
        html.element("h2", "\(number). \(step.title)")
        html.element("details", ["open": ""]) { html in
            html.element("summary", step.request.line)
            html.element("pre", step.request.fields.map { "\($0.name): \($0.value)" }.joined(separator: "\n"))
            if !step.request.body.isEmpty { html.element("pre", step.request.body) }
        }
        html.element("p", DashboardText.answered(step.answer.statusText))
        html.element("pre", step.answer.body)
    }

    /// Returns the address of the newest link of an app on its first link host; nil without one.
    private static func address(ofLinkOf app: App?, _ exchange: Exchange) async throws(APIError) -> String? {
        guard let app, let host = app.settings.links.hosts.first else { return nil }
        var query = LinkQuery(limit: 1)
        query.app = app.id
        let page = try await exchange.store(await exchange.stores.links.links(query))
        return page.links.first.map { "https://\(host.text)/\($0.link.slug.text)" }
    }

    private static func writeCode(for app: App, _ url: String?, to html: inout HTML) {
        html.element("h2", DashboardText.realPhone)
        guard let url, let code = try? QRCode(encoding: Link.scannedURL(url)) else {
            let hasHost = !app.settings.links.hosts.isEmpty
            let reason = hasHost ? DashboardText.noLinkToScan : DashboardText.noLinkHost(app.id.text)
            return html.paragraph(reason)
        }
        html.paragraph(DashboardText.scan(url))
        html.code(code, title: DashboardText.codeOf(url))
    }
}

extension HTML {
    /// Draws a QR code with its quiet zone, dark on light in every theme.
    mutating func code(_ code: QRCode, title: String) {
        let (side, zone) = (code.modulesPerSide, 4)
        var path = ""
        for row in 0..<side {
            for column in 0..<side where code.isDark(column: column, row: row) {
                path += "M\(column + zone) \(row + zone)h1v1h-1z"
            }
        }
        let size = "\(side + 2 * zone)"
        let attributes: Attributes = [
            "class": "qr", "viewBox": "0 0 \(size) \(size)", "role": "img", "shape-rendering": "crispEdges",
        ]
        element("svg", attributes) { html in
            html.element("title", title)
            html.element("path", ["d": path], "")
        }
    }
}
