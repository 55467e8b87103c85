internal import Attribution
internal import HTTPServer

/// `PATCH /admin/api/apps/{id}`: changes what the body names of an app's link settings; `null` takes a field away.
enum ChangeApp {
    /// Members of the answer that no field is set by: what a client sends back with them is not looked at.
    private static let others: Set<String> = ["id", "created_at"]

    static func respond(_ exchange: inout Exchange, _ context: LoopContext) async throws(APIError) -> Response
    {
        var app = try exchange.appOfPath()
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
        do throws(StoreError) {
            try await context.stores.apps.update(app.id, to: app.settings)
        } catch {
            throw APIError(error, requestID: exchange.requestID)
        }
        return ShowApp.response(app)
    }
}
