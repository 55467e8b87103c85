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
            writeApps(directory.apps, visit, to: &html)
            writeKeys(keys, directory, visit, at: now, to: &html)
            writeSessions(sessions, directory, visit, to: &html)
            writeSettings(settings, visit, to: &html)
        }
    }

    private static func writeApps(_ apps: [App], _ visit: DashboardVisit, to html: inout HTML) {
        html.element("h2", DashboardText.apps)
        guard !apps.isEmpty else { return html.empty(DashboardText.noApp) }
        for app in apps {
            html.element("details") { html in
                html.element("summary", app.settings.name)
                html.facts([("ID", app.id.text)] + app.settings.auditFields.shown)
                guard visit.mayChange else { return }
                html.paragraph(DashboardText.appExplained)
                html.action("/settings/apps", visit, class: "filters", of: FormRecord(app)) { html in
                    html.hidden("app", app.id.text)
                    for field in AppLinkField.allCases {
                        let text = app.settings.links.fields[field].joined(separator: "\n")
                        let label = DashboardText.label(field.rawValue)
                        if field.isList {
                            html.area(field.rawValue, label, text)
                        } else {
                            html.field(field.rawValue, label, text)
                        }
                    }
                    html.select(
                        "click_ids",
                        DashboardText.clickIDs,
                        ClickIDPolicy.allCases.map { ($0.rawValue, DashboardText.meaning(of: $0)) },
                        chosen: app.settings.clickIDs.rawValue
                    )
                    html.element("button", DashboardText.save)
                }
            }
        }
    }

    private static func writeKeys(
        _ keys: [APIKey],
        _ directory: Directory,
        _ visit: DashboardVisit,
        at now: Timestamp,
        to html: inout HTML
    ) {
        html.element("h2", DashboardText.apiKeys)
        html.table(DashboardText.keyCaption, DashboardText.keyHeadings, keys) { html, key in
            html.rowName(key.label.isEmpty ? key.id.text : "\(key.label) (\(key.id.text))")
            html.element("td", key.kind.rawValue)
            html.element("td", DashboardText.owner(of: key, in: directory))
            html.time(key.createdAt)
            html.time(key.lastUsedAt)
            html.element("td") { html in
                html.text(DashboardText.state(of: key, at: now))
                guard visit.mayChange, key.revokedAt == nil else { return }
                html.action("/settings/keys/revoke", visit) { html in
                    html.hidden("key", key.id.text)
                    html.element("button", ["class": "quiet"], DashboardText.revoke)
                }
            }
        }
        html.exports(
            PanelExports(table: DashboardText.keyCaption, of: visit.address).running(["keys", "list"])
        )
        guard visit.mayChange else { return }
        html.action("/settings/keys", visit, class: "filters") { html in
            let kinds = KeyKind.allCases.map { ($0.rawValue, $0.rawValue) }
            html.select("kind", DashboardText.kind, kinds, chosen: KeyKind.app.rawValue)
            html.requiredApp(directory.apps, further: [("", DashboardText.allApps)])
            html.field("label", DashboardText.label, nil)
            html.field("expires", DashboardText.expiry, type: "date", nil)
            html.element("button", DashboardText.createKey)
        }
    }

    private static func writeSessions(
        _ sessions: [DashboardSession],
        _ directory: Directory,
        _ visit: DashboardVisit,
        to html: inout HTML
    ) {
        html.element("h2", DashboardText.sessions)
        html.table(DashboardText.sessionCaption, DashboardText.sessionHeadings, sessions) { html, session in
            let isOwn = session.digest == visit.session.digest
            let name = DashboardText.actor(.session(session.key), in: directory)
            html.rowName(isOwn ? "\(name), \(DashboardText.thisSession)" : name)
            html.time(session.createdAt)
            html.time(session.usedAt)
            html.element("td") { html in
                guard visit.mayChange, !isOwn else { return }
                html.action("/settings/sessions/end", visit) { html in
                    html.hidden("session", session.id)
                    html.element("button", ["class": "quiet"], DashboardText.end)
                }
            }
        }
        html.exports(
            PanelExports(table: DashboardText.sessionCaption, of: visit.address).running(["sessions", "list"])
        )
        guard visit.mayChange, sessions.count > 1 else { return }
        html.action("/settings/sessions/end-others", visit) { html in
            html.element("button", DashboardText.endOthers)
        }
    }

    private static func writeSettings(
        _ settings: [ShownSetting],
        _ visit: DashboardVisit,
        to html: inout HTML
    ) {
        guard !settings.isEmpty else { return }
        html.element("h2", DashboardText.processSettings)
        html.table(DashboardText.settingCaption, DashboardText.settingHeadings, settings) { html, setting in
            html.rowName(setting.name)
            html.element("td", setting.value)
            html.element("td", setting.origin)
        }
        html.exports(
            PanelExports(table: DashboardText.settingCaption, of: visit.address)
                .running(["settings", "list"], as: DashboardText.settingsAsCommand)
        )
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
