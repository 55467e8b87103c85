internal import Attribution
internal import HTTPServer

/// `PATCH /admin/api/apps/{id}`: changes the link settings that the body names; `null` removes a field.
enum ChangeApp {
    /// Members of the response that set no field: ignored when a client sends them back.
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
