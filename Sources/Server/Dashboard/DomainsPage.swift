internal import Attribution
internal import DomainFiles
internal import HTTPServer

/// The domain files of a link host, the polled copies of all hosts' files, and the rule that decides about a URL.
enum DomainsPage {
    static func make(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError) -> Reply {
        let app = try exchange.appItem()
        let directory = exchange.directory
        let apps = app.map { [$0] } ?? directory.apps
        let hosts = Set(apps.flatMap(\.settings.links.hosts)).sorted { $0.text < $1.text }
        let sent = exchange.sentQueryItem("host")
        let host = sent == nil ? hosts.first : hosts.first { $0.text == sent }
        guard sent == nil || host != nil else { throw .notFound(DashboardText.noHost, field: "host") }
        let text = exchange.sentQueryItem("url")
        let url = text.flatMap { AssociationURL($0) }
        guard text == nil || url != nil else { throw .invalidField("url", DashboardText.wrongURL) }
        let watch = exchange.service.settings.domainWatch
        return .page(title: DashboardText.domains) { html in
            guard let host else {
                html.empty(DashboardText.noHosts)
                return writeReceivers(apps, to: &html)
            }
            html.filters("/domains", label: DashboardText.testURL, button: DashboardText.test) { html in
                html.hidden("app", html.address["app"])
                let choices = hosts.map { ($0.text, $0.text) }
                html.select("host", DashboardText.host, choices, chosen: host.text)
                html.field("url", DashboardText.testURL, text)
            }
            let served = DomainFileValidation.generated(for: host, of: directory.apps(listing: host))
            if let url {
                let exports = PanelExports.rows.running(["check-domain", host.text], [("url", text)])
                write(served, deciding: url, exports, to: &html)
            }
            writeCopies(watch?.all, of: hosts, to: &html)
            for (file, body) in served { write(file, body, of: host, to: &html) }
            writeReceivers(apps, to: &html)
        }
    }

    private static func write(
        _ files: [(file: DomainFileValidation, body: [UInt8])],
        deciding url: AssociationURL,
        _ exports: PanelExports,
        to html: inout HTML
    ) {
        let decisions = files.flatMap { file, _ in file.decisions(for: url).map { (file.kind, $0) } }
        guard !decisions.isEmpty else { return html.paragraph(DashboardText.noDecision) }
        html.table(DashboardText.decisions, decisions, exports: exports) { html, row in
            let (file, decision) = row
            html.rowName(decision.app)
            html.cells(file.rawValue)
            let isOpened = decision.outcome == .opensApp
            html.cell(DashboardText.outcome(decision.outcome), class: isOpened ? "good" : nil)
            html.cells(decision.rule, decision.place)
        }
    }

    /// Writes the files that the hosts, Apple and Google served when they were last polled.
    private static func writeCopies(_ copies: [DomainCopy]?, of hosts: [LinkHost], to html: inout HTML) {
        guard let copies else { return html.note(DashboardText.noDomainWatch) }
        let shown = copies.filter { hosts.contains($0.host) }
        guard !shown.isEmpty else { return html.note(DashboardText.notPolled) }
        let checks = Set(shown.map(\.host.text)).sorted().map {
            PanelExports.line(["afterlink", "check-domain", $0])
        }
        let exports = PanelExports.rows.adding(DashboardText.asCommand, checks.joined(separator: "\n"))
        html.table(DashboardText.copies, shown, exports: exports) { html, copy in
            html.rowName(copy.host.text, html.address.with("host", copy.host.text).with("url", nil))
            html.cells(copy.file.rawValue, DashboardText.holder(copy.holder))
            let (text, style) = DashboardText.state(copy.state)
            html.cell(text, class: style)
            html.time(copy.since)
        }
    }

    private static func write(
        _ file: DomainFileValidation,
        _ body: [UInt8],
        of host: LinkHost,
        to html: inout HTML
    ) {
        html.element("h2", "\(host.text)\(file.kind.path)")
        html.note(DashboardText.served(bytes: Int64(body.count)))
        if !file.findings.isEmpty {
            let findings = file.findings.map { "\($0.place) \($0.problem). \($0.advice).".trimmed }
            html.items(findings, ["class": file.hasErrors ? "warnings" : nil])
        }
        let text = String(decoding: body.prefix(maximumShownBytes), as: UTF8.self)
        html.details(DashboardText.showFile, body.count > maximumShownBytes ? text + " …" : text)
    }

    /// A longer file is cut, so that the page stays small.
    private static let maximumShownBytes = 16_000
}

/// The receivers of Apple's postbacks, which the shop's domain must lead to.
extension DomainsPage {
    fileprivate static func writeReceivers(_ apps: [App], to html: inout HTML) {
        let apps = apps.filter { $0.settings.links.apple.postbackHost != nil }
        guard !apps.isEmpty else { return }
        html.element("h2", DashboardText.receivers)
        html.note(DashboardText.receiversExplained)
        for app in apps {
            let host = app.settings.links.apple.postbackHost?.text ?? ""
            html.element("h3", host)
            if html.mayChange {
                html.action("/domains/probe", class: "filters") { html in
                    html.hidden("app", app.id.text)
                    html.element("button", DashboardText.test)
                }
            }
            let target = app.settings.links.hosts.first?.text ?? "links.example.com"
            for (name, text) in ProxySnippet.all(target: target) {
                html.details(DashboardText.snippet(name), text)
            }
        }
    }

    /// `POST /domains/probe`: sends probes to an app's domain, and shows whether they arrived unchanged.
    static func probe(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError) -> Reply {
        guard let host = try exchange.app(of: visit.form).settings.links.apple.postbackHost else {
            throw .notFound(DashboardText.noPostbackHost)
        }
        let (service, store, now) = (exchange.service, exchange.stores.applePostbacks, exchange.now)
        let findings = try await exchange.store(
            await ApplePostbackProbe.run(host, store, at: now, random: service.random) { request in
                await service.settings.outgoing.perform { client in
                    Result { () throws(HTTPSFailure) in try client.send(request) }
                }
            }
        )
        return .page(title: "\(DashboardText.receivers): \(host.text)") { html in
            html.table(DashboardText.probeTable, findings) { html, finding in
                html.rowName(finding.path)
                html.cell(finding.text, class: finding.isReached ? "good" : "bad")
            }
            html.paragraph(linkingTo: DashboardAddress("/domains"), DashboardText.domains)
        }
    }
}
