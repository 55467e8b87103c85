public import Attribution
internal import HTTPServer
public import JSON

/// The admin API's calls on apps; ``AppBody`` writes the apps of each response.
enum AppEndpoints {
    /// `GET /admin/api/apps`: lists the apps, oldest first.
    static func list(_ exchange: inout Exchange) async throws(APIError) -> Response {
        Response(.ok) { $0.objects("apps", exchange.directory.apps) { AppBody.write($1, to: &$0) } }
    }

    /// `GET /admin/api/apps/{id}`: returns one app.
    static func show(_ exchange: inout Exchange) async throws(APIError) -> Response {
        response(try app(&exchange))
    }

    /// The members of the response that are not settings; ignored if a client sends them back.
    private static let others: Set<String> = ["id", "created_at"]

    /// `PATCH /admin/api/apps/{id}`: changes the settings that the body names; `null` removes a field.
    ///
    /// If another process has just changed the app, this process may not know that yet. So a refused change is made once
    /// more over the settings that are stored now.
    static func change(_ exchange: inout Exchange) async throws(APIError) -> Response {
        do throws(APIError) {
            return response(try await changed(&exchange))
        } catch {
            guard error.code == .conflict, error.field == nil else { throw error }
            try await exchange.readDirectory()
            return response(try await changed(&exchange))
        }
    }

    private static func changed(_ exchange: inout Exchange) async throws(APIError) -> App {
        let app = try app(&exchange)
        let (object, fields) = (try JSONBody(ofAdmin: exchange.request).members, app.settings.links.fields)
        let names = windows.map(\.name) + [clickIDs, ConversionSchemas.name]
        let body = FieldBody<AppLinkField>(object, over: fields, besides: names, ignoring: others)
        var settings = app.settings
        var problems = change(&settings.policy.windows, object)
        if let value = object[clickIDs] {
            settings.clickIDs = value.string.flatMap { ClickIDPolicy(rawValue: $0) } ?? .keep
            if !value.isNull, value.string != settings.clickIDs.rawValue {
                problems.append(
                    FieldProblem(clickIDs, "\(clickIDs) must be off, keep or answer, or null for keep.")
                )
            }
        }
        if let value = object[ConversionSchemas.name] {
            do throws(FieldProblem) {
                settings.conversionSchemas = try ConversionSchemas.texts(value)
            } catch {
                problems.append(error)
            }
        }
        settings.links = try body.validated(problems) { fields throws(FieldProblems) in
            try AppLinks(fields, replacing: app.settings.links)
        }
        return try await change(app, to: settings, exchange)
    }

    /// Changes an app's settings, and returns the changed app.
    ///
    /// - Throws: 409 for a host that the app cannot have, and if another request has changed the app meanwhile.
    static func change(_ before: App, to appSettings: App.Settings, _ exchange: Exchange)
        async throws(APIError) -> App
    {
        var app = before
        app.settings = appSettings
        let (directory, settings, links) = (exchange.directory, app.settings, exchange.stores.links)
        if let host = exchange.service.settings.dashboardHost,
            let problem = LinkHostChange.problem(of: settings, withDashboardAt: host)
        {
            throw .conflict(problem.message, field: problem.field)
        }
        let conflict = try await exchange.store(
            await LinkHostChange.problem(of: before, to: settings, in: directory, links)
        )
        if let conflict { throw .conflict(conflict.message, field: conflict.field) }
        let (apps, actor) = (exchange.stores.apps, exchange.actor)
        do throws(StoreError) {
            try await apps.update(before.id, from: before.settings, to: settings, by: actor)
        } catch {
            guard error.code != .conflict else {
                throw .conflict(
                    "Another request has changed the app meanwhile. Read it again, and repeat the change"
                )
            }
            throw APIError(error, requestID: exchange.requestID)
        }
        return app
    }

    /// The member with the policy for the click ids of ad networks.
    private static let clickIDs = "click_ids"

    private static let windows:
        [(name: String, window: any WritableKeyPath<MethodWindows, AttributionWindow?> & Sendable)] = [
            ("fingerprint_window", \.fingerprint), ("deterministic_window", \.deterministic),
        ]

    /// Changes the windows that the body names, and returns the problems of invalid ones; `null` removes a window.
    private static func change(_ windows: inout MethodWindows, _ object: JSONObject) -> [FieldProblem] {
        var problems: [FieldProblem] = []
        for (name, path) in Self.windows {
            guard let value = object[name] else { continue }
            let window = value.int64.flatMap { AttributionWindow(seconds: $0) }
            windows[keyPath: path] = window
            guard window == nil, !value.isNull else { continue }
            let allowed = AttributionWindow.allowedSeconds
            let rule = "must be whole seconds from \(allowed.lowerBound) to \(allowed.upperBound), or null"
            problems.append(FieldProblem(name, "\(name) \(rule)."))
        }
        return problems
    }

    /// Finds the app whose id is in the path, and stores it for the log line; throws 404 if there is none.
    private static func app(_ exchange: inout Exchange) throws(APIError) -> App {
        guard let app = exchange.parameter.flatMap({ AppID($0) }).flatMap(exchange.directory.app) else {
            throw .noApp()
        }
        exchange.app = app.id
        return app
    }

    private static func response(_ app: App) -> Response { Response(.ok) { AppBody.write(app, to: &$0) } }
}

extension APIError {
    /// Creates the error for an unknown app; `field` names the parameter or member, and is nil if the path
    /// named the app.
    static func noApp(field: String? = nil) -> APIError {
        .notFound("There is no such app; GET /admin/api/apps lists them", field: field)
    }
}

/// The JSON form of an app and its settings.
public enum AppBody {
    public static func write(_ app: App, to json: inout JSONWriter) {
        let settings = app.settings
        json.member("id", app.id.text)
        json.member("name", settings.name)
        json.member("open_clicks", settings.openClicks)
        json.member("allowed_origins", settings.allowedOrigins)
        json.member("destinations", settings.destinations)
        json.member("attribution_window", settings.window?.seconds)
        json.member("fingerprint_window", settings.policy.windows.fingerprint?.seconds)
        json.member("deterministic_window", settings.policy.windows.deterministic?.seconds)
        json.member("localizations", settings.localizations)
        json.member("development_language", settings.developmentLanguage)
        json.member("matching", settings.policy.rule.rawValue)
        json.member("minimum_confidence", settings.policy.minimumConfidence)
        json.member("on_ambiguity", settings.policy.onAmbiguity.rawValue)
        json.member("fingerprinting", settings.policy.usesFingerprints)
        json.member("default_link", settings.defaultLink?.text)
        json.member("reporting_offset", settings.reportingOffset)
        json.member("click_ids", settings.clickIDs.rawValue)
        ConversionSchemas.write(settings.conversionSchemas, to: &json)
        json.members(of: settings.links.fields)
        json.member("created_at", app.createdAt.iso8601)
    }
}

/// Validates a change of an app's link hosts: on one host no slug may lead to two links.
public enum LinkHostChange {
    /// Returns the problem of a change of link hosts; nil if the change is allowed.
    ///
    /// - Parameters:
    ///   - app: the app as it is now.
    ///   - settings: the app's new settings.
    ///   - directory: all apps.
    ///   - links: the store of all apps' links.
    /// - Returns: the refused field, and advice on what to do.
    /// - Throws: a store's failure.
    public static func problem(
        of app: App,
        to settings: App.Settings,
        in directory: Directory,
        _ links: any LinkStore
    ) async throws(StoreError) -> FieldProblem? {
        for other in directory.newNeighbours(of: app, with: settings.links) {
            guard let slug = try await links.sharedSlug(of: app.id, and: other.id) else { continue }
            return FieldProblem(AppLinkField.hosts, message(slug, settings.name, other.settings.name))
        }
        return nil
    }

    /// Returns the problem of settings that name the dashboard's host as a host of the app; nil if there is none.
    public static func problem(of settings: App.Settings, withDashboardAt host: LinkHost) -> FieldProblem? {
        let field: AppLinkField
        if settings.links.hosts.contains(host) {
            field = .hosts
        } else if settings.links.webHosts?.contains(host.text) == true {
            field = .webHosts
        } else {
            return nil
        }
        return FieldProblem(
            field,
            "\(host.text) is the dashboard's host (--dashboard-host), so it cannot be a host of the app"
                + " \(settings.name). Give the app or the dashboard another host."
        )
    }

    private static func message(_ slug: LinkSlug, _ name: String, _ other: String) -> String {
        "The apps \(name) and \(other) both have a link \(slug.text), and on the same link hosts only one of the two"
            + " could be reached. Give the apps different link hosts, or delete one of the two links with"
            + " \"afterlink links delete\" if it has no clicks."
    }
}
