internal import Attribution

/// A setting of the process, as the dashboard shows it.
public struct ShownSetting: Equatable, Sendable {
    public let name: String
    /// The value; for a secret, only whether it is set.
    public let value: String
    /// Where the value comes from: a flag, a variable of the environment, a file, or the default.
    public let origin: String

    public init(name: String, value: String, origin: String) {
        (self.name, self.value, self.origin) = (name, value, origin)
    }
}

/// Apps, keys, sessions, and the settings of the process.
enum SettingsPage {
    static func make(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError) -> Reply {
        let now = exchange.now
        let directory = exchange.directory
        let keys = directory.keys.filter { $0.app != nil || exchange.onlyApp == nil }
        let sessions = try await exchange.store(await exchange.stores.sessions.sessions()).filter { session in
            session.isOpen(in: directory, at: now)
                && (visit.mayChange || session.digest == visit.session.digest)
        }
        let settings = exchange.onlyApp == nil ? exchange.service.settings.shown : []
        return .page(title: DashboardText.settings) { html in
            html.element("p") { html in
                html.link(DashboardAddress("/settings/audit"), DashboardText.auditLog)
                html.text(" ")
                html.link(DashboardAddress("/settings/held"), DashboardText.held)
            }
            html.element("h2", DashboardText.apps)
            if directory.apps.isEmpty { html.empty(DashboardText.noApp) }
            for app in directory.apps { write(app, to: &html) }
            write(keys, at: now, to: &html)
            write(sessions, own: visit.session.digest, to: &html)
            write(settings, to: &html)
        }
    }

    private static func write(_ app: App, to html: inout HTML) {
        html.element("details") { html in
            html.element("summary", app.settings.name)
            html.facts([("ID", app.id.text)] + app.settings.auditFields.shown)
            guard html.mayChange else { return }
            html.paragraph(DashboardText.appExplained)
            let record = FormRecord(app)
            html.action("/settings/apps", class: "filters", of: record) { html in
                html.hidden("app", app.id.text)
                for (field, (name, label, text)) in zip(AppLinkField.allCases, record.fields) {
                    if field.isList { html.area(name, label, text) } else { html.field(name, label, text) }
                }
                let policies = ClickIDPolicy.allCases.map { ($0.rawValue, DashboardText.meaning(of: $0)) }
                let chosen = app.settings.clickIDs.rawValue
                html.select("click_ids", DashboardText.clickIDs, policies, chosen: chosen)
                html.element("button", DashboardText.save)
            }
        }
    }

    private static func write(_ keys: [APIKey], at now: Timestamp, to html: inout HTML) {
        html.element("h2", DashboardText.apiKeys)
        let exports = PanelExports.rows.running(["keys", "list"])
        html.table(DashboardText.keyTable, keys, exports: exports) { html, key in
            html.rowName(key.label.isEmpty ? key.id.text : "\(key.label) (\(key.id.text))")
            html.cells(key.kind.rawValue, DashboardText.owner(of: key, in: html.directory))
            html.time(key.createdAt)
            html.time(key.lastUsedAt)
            html.element("td") { html in
                html.text(DashboardText.state(of: key, at: now))
                guard html.mayChange, key.revokedAt == nil else { return }
                html.button("/settings/keys/revoke", DashboardText.revoke, sending: ["key": key.id.text])
            }
        }
        guard html.mayChange else { return }
        html.action("/settings/keys", class: "filters") { html in
            let kinds = KeyKind.allCases.map { ($0.rawValue, $0.rawValue) }
            html.select("kind", DashboardText.kind, kinds, chosen: KeyKind.app.rawValue)
            html.requiredApp(further: [("", DashboardText.allApps)])
            html.field("label", DashboardText.label, nil)
            html.field("expires", DashboardText.expiry, type: "date", nil)
            html.element("button", DashboardText.createKey)
        }
    }

    private static func write(_ sessions: [DashboardSession], own: KeyDigest, to html: inout HTML) {
        html.element("h2", DashboardText.sessions)
        let exports = PanelExports.rows.running(["sessions", "list"])
        html.table(DashboardText.sessionTable, sessions, exports: exports) { html, session in
            let isOwn = session.digest == own
            let name = DashboardText.actor(.session(session.key), in: html.directory)
            html.rowName(isOwn ? "\(name), \(DashboardText.thisSession)" : name)
            html.time(session.createdAt)
            html.time(session.usedAt)
            html.element("td") { html in
                guard html.mayChange, !isOwn else { return }
                html.button("/settings/sessions/end", DashboardText.end, sending: ["session": session.id])
            }
        }
        guard html.mayChange, sessions.count > 1 else { return }
        html.button("/settings/sessions/end-others", DashboardText.endOthers, class: nil)
    }

    private static func write(_ settings: [ShownSetting], to html: inout HTML) {
        guard !settings.isEmpty else { return }
        html.element("h2", DashboardText.processSettings)
        let exports = PanelExports.rows.running(["settings", "list"], as: DashboardText.settingsAsCommand)
        html.table(DashboardText.settingTable, settings, exports: exports) { html, setting in
            html.rowName(setting.name)
            html.cells(setting.value, setting.origin)
        }
    }
}

extension AuditFields {
    /// The fields in the order of their names, for a page.
    fileprivate var shown: [(String, String)] {
        texts.sorted { $0.key < $1.key }.map { name, texts in
            (DashboardText.label(name), texts.joined(separator: ", "))
        }
    }
}
