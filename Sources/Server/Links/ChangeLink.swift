internal import Attribution
internal import HTTPServer
internal import JSON

/// `PATCH /admin/api/links/{id}`: changes the fields that the body names; `null` removes a field.
enum ChangeLink {
    static func respond(_ exchange: inout Exchange, _ context: LoopContext) async throws(APIError) -> Response
    {
        let object = try exchange.adminBody()
        let (directory, now) = (exchange.directory, exchange.now)
        let response = try await context.changeLink(of: exchange) { link throws(APIError) in
            link.settings = try settings(object, of: link, directory, at: now)
        }
        return response
    }

    private static func settings(
        _ object: JSONObject,
        of link: Link,
        _ directory: Directory,
        at now: Timestamp
    ) throws(APIError) -> Link.Settings {
        guard let app = directory.app(link.app) else { throw .noLink }
        let body = FieldBody<LinkField>(object, over: link.settings.fields, besides: LinkBody.ownMembers)
        var problems = body.problems
        for (name, own) in [("slug", link.slug.text), ("app", link.app.text)] {
            guard let value = object[name], value.string != own else { continue }
            problems.append(
                FieldProblem(name, "\(name) of a link cannot be changed; create another link instead.")
            )
        }
        do throws(FieldProblems) {
            let settings = try LinkDraft.settings(body.fields, for: app, at: now, insteadOf: link.settings)
            guard problems.isEmpty else { throw FieldProblems([]) }
            return settings
        } catch {
            throw .unprocessable(problems + error.all)
        }
    }
}
