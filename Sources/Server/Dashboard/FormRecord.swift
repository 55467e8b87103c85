internal import Attribution
internal import HTTPServer

/// A stored record that a form shows and writes as a whole.
///
/// The form has the ``digest`` of the texts that it was filled with. A route with a ``Reader`` compares the digest
/// before it calls its action, so that no form replaces a change that its sender has not seen.
struct FormRecord {
    /// Reads the record that a form is about.
    typealias Reader = @Sendable (Exchange, DashboardForm) async throws(APIError) -> FormRecord

    /// The name of the field that has the digest.
    static let digestName = "shown"

    /// The form's fields, with the texts of the record.
    let fields: [(name: String, label: String, text: String)]
    /// The path of the page that shows the record.
    let path: String

    var digest: String {
        let text = fields.map { "\($0.name)\0\($0.text)\0" }.joined()
        return Base64URL.text(of: KeyDigest(of: text).bytes)
    }

    /// - Throws: 409 if the record has changed since the form was filled.
    func check(_ form: DashboardForm) throws(APIError) {
        guard form[Self.digestName] == digest else { throw .conflict(DashboardText.changedMeanwhile) }
    }

    /// Makes a page with what is stored beside what was entered, and a form that stores what was entered.
    func conflict(_ visit: DashboardVisit) -> DashboardPage {
        let form = visit.form
        return DashboardPage(title: DashboardText.conflict, status: .conflict) { html in
            html.element("p", ["class": "bad", "role": "alert"], DashboardText.changedMeanwhile)
            html.action(visit.address.path, class: "edit", of: self) { html in
                let changed = fields.filter { field in
                    let entered = (form[field.name] ?? "").replacing("\r\n", with: "\n")
                    return entered.trimmed != field.text.trimmed
                }
                for (name, label, text) in changed {
                    let (writer, hint) = (LinkFormWriter(problems: []), DashboardText.stored(text))
                    writer.write(.text, name, form[name] ?? "", label: label, hint: hint, to: &html)
                }
                let others = ["token", Self.digestName] + changed.map(\.name)
                for item in form.items where !others.contains(item.name) {
                    html.hidden(item.name, item.value)
                }
                html.element("div", ["class": "actions"]) { html in
                    html.element("button", ["type": "submit"], DashboardText.saveEntered)
                    html.link(DashboardAddress(path), class: "button quiet", DashboardText.keepStored)
                }
            }
        }
    }
}
