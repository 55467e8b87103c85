internal import Attribution

/// The parts of forms.
extension HTML {
    /// Writes the form of a page's choices, with its button.
    mutating func filters(
        _ action: String,
        label: String = DashboardText.filters,
        button: String = DashboardText.show,
        _ content: (inout HTML) -> Void
    ) {
        element("form", ["class": "filters", "action": action, "aria-label": label]) { html in
            content(&html)
            html.element("button", ["type": "submit"], button)
        }
    }

    /// Writes the choice of one app or of all; writes nothing if there is only one app.
    mutating func appChoice(chosen: AppID?) {
        guard directory.apps.count > 1 else { return }
        let choices = [("", DashboardText.allApps)] + directory.apps.map { ($0.id.text, $0.settings.name) }
        select("app", DashboardText.app, choices, chosen: chosen?.text ?? "")
    }

    /// Writes the choice of the app that a form is about, the first one if none is chosen.
    mutating func requiredApp(chosen: AppID? = nil, further: [(String, String)] = []) {
        let choices = directory.apps.map { ($0.id.text, $0.settings.name) } + further
        select("app", DashboardText.app, choices, chosen: (chosen ?? directory.apps.first?.id)?.text ?? "")
    }

    /// Writes the choice of live or test traffic.
    mutating func trafficChoice(isTest: Bool) {
        let traffic = [("false", DashboardText.live), ("true", DashboardText.test)]
        select("test", DashboardText.traffic, traffic, chosen: isTest ? "true" : "false")
    }

    /// Writes a list from which a person chooses one of a type's words, or any word.
    mutating func choice<Word: RawRepresentable & CaseIterable>(
        _ name: String,
        _ label: String,
        of chosen: Word?,
        _ text: (Word) -> String
    ) where Word.RawValue == String {
        let words = Word.allCases.map { ($0.rawValue, text($0)) }
        select(name, label, [("", DashboardText.any)] + words, chosen: chosen?.rawValue ?? "")
    }

    /// Writes a form that is sent by POST, with the session's token and the digest of the record that it writes.
    mutating func action(
        _ path: String,
        class style: String? = nil,
        of record: FormRecord? = nil,
        _ content: (inout HTML) -> Void
    ) {
        element("form", ["method": "post", "action": path, "class": style]) { html in
            html.hidden("token", html.visit?.formToken)
            if let record { html.hidden(FormRecord.digestName, record.digest) }
            content(&html)
        }
    }

    /// Writes a form of one button, with hidden fields.
    mutating func button(
        _ path: String,
        _ text: String,
        class style: String? = "quiet",
        sending hidden: KeyValuePairs<String, String> = [:]
    ) {
        action(path) { html in
            for (name, value) in hidden { html.hidden(name, value) }
            html.element("button", ["class": style], text)
        }
    }

    /// Writes a form with the fields that an error refuses, as they were sent, and with all other sent fields hidden.
    ///
    /// So a person corrects the refused fields, and need not enter the others again. Writes nothing for a 404, and
    /// if the error refuses no field that was sent.
    mutating func correction(of error: APIError) {
        let refused: [String?] = error.problems.isEmpty ? [error.field] : error.problems.map { $0.field }
        let sent = visit?.form.items ?? []
        guard error.code != .notFound, sent.contains(where: { refused.contains($0.name) }) else { return }
        action(address.path, class: "edit") { html in
            let writer = LinkFormWriter(problems: [])
            for item in sent where item.name != "token" {
                if refused.contains(item.name) {
                    let label = DashboardText.label(item.name)
                    writer.write(.text, item.name, item.value, label: label, hint: nil, to: &html)
                } else {
                    html.hidden(item.name, item.value)
                }
            }
            html.element("button", ["type": "submit"], DashboardText.sendAgain)
        }
    }

    mutating func hidden(_ name: String, _ value: String?) {
        open("input", ["type": "hidden", "name": name, "value": value])
    }

    /// Writes hidden fields that keep the choices of other pages, such as the period, in the address; the form has its
    /// own fields for the choices in `own`.
    mutating func keepChoices(except own: Set<String> = []) {
        for item in address.page("").items where !own.contains(item.name) { hidden(item.name, item.value) }
    }

    /// Writes a field for a text, with a label.
    mutating func field(_ name: String, _ label: String, type: String? = nil, _ value: String?) {
        labelled(label) { $0.open("input", ["type": type, "name": name, "value": value]) }
    }

    /// Writes an input with a label before it.
    mutating func labelled(_ label: String, _ writeInput: (inout HTML) -> Void) {
        element("label") { html in
            html.element("span", label)
            writeInput(&html)
        }
    }

    /// Writes a labelled field of several lines.
    mutating func area(_ name: String, _ label: String, _ text: String) {
        labelled(label) { $0.element("textarea", ["name": name, "rows": "2"], text) }
    }

    /// Writes a choice of several words, with a label.
    mutating func select(
        _ name: String,
        _ label: String,
        _ options: [(value: String, text: String)],
        chosen: String
    ) {
        labelled(label) { $0.element("select", ["name": name]) { $0.options(options, chosen: chosen) } }
    }

    /// Writes the options of a choice.
    mutating func options(_ options: [(value: String, text: String)], chosen: String) {
        for (value, text) in options {
            element("option", ["value": value, "selected": value == chosen ? "" : nil], text)
        }
    }
}

extension DashboardForm {
    /// Returns the start of a day in UTC; nil for an empty field.
    func day(_ name: String, _ problem: String) throws(APIError) -> Timestamp? {
        guard let text = self[name], !text.isEmpty else { return nil }
        guard let day = Timestamp(iso8601: text + "T00:00:00Z") else { throw .invalidField(name, problem) }
        return day
    }
}

extension Exchange {
    /// Returns the app that a form names.
    func app(of form: DashboardForm) throws(APIError) -> App {
        guard let app = form["app"].flatMap({ AppID($0) }).flatMap(directory.app) else {
            throw .notFound(DashboardText.noSuchApp, field: "app")
        }
        return app
    }
}
