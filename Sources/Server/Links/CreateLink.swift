internal import Attribution
internal import HTTPServer
internal import JSON

/// `POST /admin/api/links`: creates a link.
enum CreateLink {
    static func respond(_ exchange: inout Exchange, _ context: LoopContext) async throws(APIError) -> Response
    {
        let object = try exchange.adminBody()
        let body = FieldBody<LinkField>(object, over: LinkFields(), besides: ["app", "slug"])
        let app = try app(object, exchange.directory)
        exchange.app = app.id
        var problems = body.problems
        if object["slug"].map({ !$0.isNull && $0.string == nil }) ?? false {
            problems.append(FieldProblem("slug", "slug must be a text, or null."))
        }
        let new: NewLink
        do throws(FieldProblems) {
            new = try LinkDraft.link(
                object["slug"]?.string,
                body.fields,
                of: app,
                in: exchange.directory,
                at: exchange.now,
                random: context.service.random
            )
        } catch {
            throw .unprocessable(problems + error.all)
        }
        guard problems.isEmpty else { throw .unprocessable(problems) }
        do throws(LinkStoreError) {
            try await context.stores.links.create([new])
        } catch {
            throw APIError(error, requestID: exchange.requestID)
        }
        return context.answer(LinkListing(link: new.link), .created, exchange)
    }

    /// The app that the body names by its id; the only app, where it names none.
    ///
    /// - Throws: 422 for a text that is not an id, 404 where there is no such app.
    private static func app(_ object: JSONObject, _ directory: Directory) throws(APIError) -> App {
        guard let value = object["app"], !value.isNull else {
            guard directory.apps.count == 1, let only = directory.apps.first else {
                throw .unprocessable([
                    FieldProblem(
                        "app",
                        "There are several apps: say whose link it is, by an id such as app_…."
                    )
                ])
            }
            return only
        }
        guard let id = value.string.flatMap({ AppID($0) }) else {
            throw .unprocessable([FieldProblem("app", "app must be the id of an app, as app_….")])
        }
        guard let app = directory.app(id) else { throw .noApp(field: "app") }
        return app
    }
}
