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
        let (directory, settings) = (exchange.directory, app.settings)
        let conflict = try await exchange.store(
            await LinkHostChange.problem(of: before, to: settings, in: directory, context.stores.links)
        )
        if let conflict { throw .conflict(conflict.message, field: conflict.field) }
        try await exchange.store(await context.stores.apps.update(before.id, to: settings))
        return ShowApp.response(app)
    }
}
