internal import Attribution
internal import HTTPServer

/// The forms of the settings page.
enum SettingsForms {
    static func record(_ exchange: Exchange, _ form: DashboardForm) async throws(APIError) -> FormRecord {
        FormRecord(try exchange.app(of: form))
    }

    /// `POST /settings/apps`: changes settings of an app, as `PATCH /admin/api/apps/{id}` does.
    static let changeApp: Routes.Page = { exchange, visit throws(APIError) in
        let app = try exchange.app(of: visit.form)
        var fields = app.settings.links.fields
        for field in AppLinkField.allCases {
            guard let text = visit.form[field.rawValue] else { continue }
            let lines = text.split(whereSeparator: \.isNewline).map { String($0).trimmed }
            fields[field] = field.isList ? lines : [text.trimmed]
        }
        var changed = app.settings
        if let text = visit.form["click_ids"] {
            guard let policy = ClickIDPolicy(rawValue: text) else {
                throw .invalidField("click_ids", DashboardText.unknownPolicy)
            }
            changed.clickIDs = policy
        }
        do throws(FieldProblems) {
            changed.links = try AppLinks(fields, replacing: app.settings.links)
        } catch {
            throw .unprocessable(error.all)
        }
        _ = try await AppEndpoints.change(app, to: changed, exchange)
        return .redirect(to: "/settings")
    }

    /// `POST /settings/keys`: creates a key; only this response shows its text.
    static let createKey: Routes.Page = { exchange, visit throws(APIError) in
        guard let kind = visit.form["kind"].flatMap({ KeyKind(rawValue: $0) }) else {
            throw .invalidField("kind", DashboardText.unknownKind)
        }
        let label = (visit.form["label"] ?? "").trimmed
        guard label.unicodeScalars.count <= 100, !label.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f })
        else { throw .invalidField("label", DashboardText.wrongLabel) }
        let hasNone =
            kind.belongsToApp == false || (kind.belongsToApp == nil && visit.form["app"]?.isEmpty != false)
        guard hasNone || visit.form["app"]?.isEmpty == false else {
            throw .invalidField("app", DashboardText.keyNeedsApp)
        }
        let app = hasNone ? nil : try exchange.app(of: visit.form).id
        let expiresAt = try visit.form.day("expires", DashboardText.wrongExpiry)
        guard expiresAt.map({ $0 > exchange.now }) ?? true else {
            throw .invalidField("expires", DashboardText.wrongExpiry)
        }
        let text = KeyText(kind: kind, random: exchange.service.random)
        let key = APIKey(
            id: KeyID(at: exchange.now, random: exchange.service.random),
            kind: kind,
            app: app,
            label: label,
            digest: text.digest,
            createdAt: exchange.now,
            expiresAt: expiresAt
        )
        try await exchange.store(await exchange.stores.apps.create(key, by: exchange.actor))
        let owner = DashboardText.owner(of: key, in: exchange.directory)
        return .page(title: DashboardText.newKey) { html in
            html.paragraph(DashboardText.shownOnce)
            html.facts([
                (DashboardText.apiKey, text.text), (DashboardText.kind, kind.rawValue),
                (DashboardText.app, owner),
            ])
            html.paragraph(linkingTo: DashboardAddress("/settings"), DashboardText.settings)
        }
    }

    /// `POST /settings/keys/revoke`: revokes a key, and with it the sessions that it has started.
    static let revokeKey: Routes.Page = { exchange, visit throws(APIError) in
        guard let id = visit.form["key"].flatMap({ KeyID($0) }), exchange.directory.key(id) != nil else {
            throw .notFound(DashboardText.noKey)
        }
        try await exchange.store(await exchange.stores.apps.revoke(id, at: exchange.now, by: exchange.actor))
        return .redirect(to: "/settings")
    }

    /// `POST /settings/sessions/end`: ends one session.
    static let endSession: Routes.Page = { exchange, visit throws(APIError) in
        let sessions = try await exchange.store(await exchange.stores.sessions.sessions())
        if let session = sessions.first(where: { $0.id == visit.form["session"] }) {
            try await exchange.store(await exchange.stores.sessions.end(session.digest, by: exchange.actor))
        }
        return .redirect(to: "/settings")
    }

    /// `POST /settings/sessions/end-others`: ends all sessions except the one that sends the request.
    static let endOthers: Routes.Page = { exchange, visit throws(APIError) in
        try await exchange.store(
            await exchange.stores.sessions.endAll(but: visit.session.digest, by: exchange.actor)
        )
        return .redirect(to: "/settings")
    }
}

extension FormRecord {
    /// Creates the record of the settings in the form of an app.
    init(_ app: App) {
        let links = app.settings.links.fields
        let fields = AppLinkField.allCases.map { field in
            let text = links[field].joined(separator: "\n")
            return (field.rawValue, DashboardText.label(field.rawValue), text)
        }
        let clickIDs = ("click_ids", DashboardText.clickIDs, app.settings.clickIDs.rawValue)
        self.init(fields: fields + [clickIDs], path: "/settings")
    }
}
