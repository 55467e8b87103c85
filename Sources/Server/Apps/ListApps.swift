internal import Attribution
internal import HTTPServer
internal import JSON

/// `GET /admin/api/apps`: lists the apps, oldest first.
enum ListApps {
    static func respond(_ exchange: inout Exchange, _ context: LoopContext) async throws(APIError) -> Response
    {
        let apps = exchange.directory.apps
        var json = JSONWriter()
        json.object { json in
            json.member("apps") { json in
                json.array { json in for app in apps { AppBody.write(app, to: &json) } }
            }
        }
        return Response(.ok, json: json)
    }
}

/// `GET /admin/api/apps/{id}`: returns one app.
enum ShowApp {
    static func respond(_ exchange: inout Exchange, _ context: LoopContext) async throws(APIError) -> Response
    {
        let app = try exchange.appOfPath()
        exchange.app = app.id
        return response(app)
    }

    static func response(_ app: App) -> Response {
        var json = JSONWriter()
        AppBody.write(app, to: &json)
        return Response(.ok, json: json)
    }
}

extension Exchange {
    /// The app whose id is in the path.
    func appOfPath() throws(APIError) -> App {
        guard let app = parameter.flatMap({ AppID($0) }).flatMap(directory.app) else {
            throw .noApp()
        }
        return app
    }
}

extension APIError {
    /// The error for an unknown app; `field` names the parameter or member, nil for a path.
    static func noApp(field: String? = nil) -> APIError {
        .notFound("There is no such app; GET /admin/api/apps lists them", field: field)
    }
}
