internal import Attribution
internal import HTTPServer

/// `PATCH /admin/api/apps/{id}`: changes what the body names of an app's link settings; `null` takes a field away.
enum ChangeApp {
    /// Members of the answer that no field is set by: what a client sends back with them is not looked at.
    private static let others: Set<String> = ["id", "created_at"]

    static func respond(_ exchange: inout Exchange, _ context: LoopContext) async throws(APIError) -> Response
    {
        let before = try exchange.appOfPath()
        var app = before
        exchange.app = app.id
        let body = FieldBody<AppLinkField>(
            try exchange.adminBody(),
            over: app.settings.links.fields,
            besides: others
        )
        do throws(FieldProblems) {
            app.settings.links = try AppLinks(body.fields)
        } catch {
            throw .unprocessable(body.problems + error.all)
        }
        guard body.problems.isEmpty else { throw .unprocessable(body.problems) }
        if let problem = try await update(before, to: app.settings, exchange, context) {
            throw .conflict(problem.message, field: problem.field)
        }
        return ShowApp.response(app)
    }

    /// What stands against it, and then nothing was changed; nil where it was.
    private static func update(
        _ app: App,
        to settings: App.Settings,
        _ exchange: Exchange,
        _ context: LoopContext
    ) async throws(APIError) -> FieldProblem? {
        do throws(StoreError) {
            let links = context.stores.links
            let problem = try await LinkHostChange.problem(
                of: app,
                to: settings,
                in: exchange.directory,
                links
            )
            guard problem == nil else { return problem }
            try await context.stores.apps.update(app.id, to: settings)
            return nil
        } catch {
            throw APIError(error, requestID: exchange.requestID)
        }
    }
}
