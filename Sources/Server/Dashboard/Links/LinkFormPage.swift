internal import Attribution
internal import HTTPServer
internal import JSON

/// The form that creates or changes a link.
enum LinkFormPage {
    /// `GET /links/new`: the empty form.
    static func new(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError) -> Reply {
        var form = LinkForm()
        form.app = try exchange.appItem()?.id.text ?? ""
        return .page(page(form, of: nil, exchange.directory.apps))
    }

    /// `GET /links/{id}/edit`: the form with the link's settings.
    static func edit(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError) -> Reply {
        let link = try await LinkDetailPage.find(exchange).link
        return .page(page(LinkForm(link), of: link, exchange.directory.apps))
    }

    /// `POST /links/new`: creates the link as the API does, or shows what is wrong beside each field.
    static func create(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError) -> Reply {
        let form = LinkForm(visit.form)
        let (directory, now) = (exchange.directory, exchange.now)
        let random = exchange.service.random
        do throws(APIError) {
            let app = try LinkEndpoints.app(form.app.isEmpty ? nil : .string(form.app), directory)
            exchange.app = app.id
            let new = try drafted { () throws(FieldProblems) in
                try LinkDraft.link(form.slug, form.fields, of: app, in: directory, at: now, random: random)
            }
            try await LinkEndpoints.store(new, exchange)
            return .redirect(to: "/links/\(new.link.id.text)")
        } catch { return .page(page(form, of: nil, directory.apps, after: error)) }
    }

    static func record(_ exchange: Exchange, _: DashboardForm) async throws(APIError) -> FormRecord {
        let link = try await LinkDetailPage.find(exchange).link
        return LinkForm(link).record(path: "/links/\(link.id.text)")
    }

    /// `POST /links/{id}/edit`: changes the link as the API does, or shows what is wrong beside each field.
    static func change(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError) -> Reply {
        let former = try await LinkDetailPage.find(exchange).link
        let form = LinkForm(visit.form)
        let (directory, now) = (exchange.directory, exchange.now)
        do throws(APIError) {
            try await LinkEndpoints.change(exchange) { link throws(APIError) in
                try LinkForm(link).record(path: "").check(visit.form)
                guard let app = directory.app(link.app) else { throw .notFound(DashboardText.noLink) }
                link.settings = try drafted { () throws(FieldProblems) in
                    try LinkDraft.settings(form.fields, for: app, at: now, insteadOf: link.settings)
                }
            }
            return .redirect(to: "/links/\(former.id.text)")
        } catch {
            guard error.code != .conflict else { throw error }
            return .page(page(form, of: former, directory.apps, after: error))
        }
    }

    private static func drafted<Value>(_ make: () throws(FieldProblems) -> Value) throws(APIError) -> Value {
        do throws(FieldProblems) { return try make() } catch { throw .unprocessable(error.all) }
    }

    private static func page(
        _ form: LinkForm,
        of link: Link?,
        _ apps: [App],
        after error: APIError? = nil
    ) -> DashboardPage {
        let title = link.map { DashboardText.editTitle($0.slug.text) } ?? DashboardText.newLink
        let (status, fields) = (error?.status ?? .ok, error?.responseFields ?? [])
        return DashboardPage(title: title, status: status, statusFields: fields) { html in
            guard !apps.isEmpty, html.mayChange else {
                let reason = apps.isEmpty ? DashboardText.noApp : DashboardText.mayNotChange
                return html.empty(reason)
            }
            let writer = LinkFormWriter(problems: problems(of: error))
            write(writer.problems, to: &html)
            let app = apps.first { $0.id.text == form.app } ?? (apps.count == 1 ? apps.first : nil)
            if let app { html.writeLinkWarnings(of: app) }
            html.action(html.address.path, class: "edit") { html in
                html.hidden(FormRecord.digestName, form.digest)
                if link == nil {
                    html.element("fieldset") { html in
                        html.element("legend", DashboardText.address)
                        let (app, slug, hint) = (form.app, form.slug, DashboardText.slugHint)
                        if apps.count > 1 {
                            let input = LinkFormWriter.Input.choice(
                                apps.map { ($0.id.text, $0.settings.name) }
                            )
                            writer.write(input, "app", app, label: DashboardText.app, hint: nil, to: &html)
                        }
                        writer.write(.line, "slug", slug, label: DashboardText.slug, hint: hint, to: &html)
                    }
                }
                for group in DashboardText.linkGroups {
                    html.element("fieldset") { html in
                        html.element("legend", group.key)
                        for (field, label, hint) in group.value {
                            let (name, value) = (field.rawValue, form[field])
                            writer.write(.init(field), name, value, label: label, hint: hint, to: &html)
                        }
                    }
                }
                html.element("div", ["class": "actions"]) { html in
                    let text = link == nil ? DashboardText.create : DashboardText.save
                    html.element("button", ["type": "submit"], text)
                    let back = link.map { "/links/\($0.id.text)" } ?? "/links"
                    html.link(html.address.page(back), class: "button quiet", DashboardText.cancel)
                }
            }
        }
    }

    private static func problems(of error: APIError?) -> [FieldProblem] {
        guard let error else { return [] }
        guard error.problems.isEmpty else { return error.problems }
        return [FieldProblem(error.field ?? "", error.message)]
    }

    /// Writes which fields are wrong, each with a link to it, and the problems that belong to no field.
    private static func write(_ problems: [FieldProblem], to html: inout HTML) {
        guard !problems.isEmpty else { return }
        html.element("div", ["class": "warnings", "role": "alert"]) { html in
            html.element("strong", DashboardText.notSaved)
            html.element("ul") { html in
                var named: Set<String> = []
                for problem in problems where named.insert(problem.field).inserted {
                    html.element("li") { html in
                        let label = DashboardText.labelOfInput(problem.field)
                        guard let label else { return html.text(problem.message) }
                        html.element("a", ["href": "#f-\(problem.field)"], label)
                    }
                }
            }
        }
    }
}
