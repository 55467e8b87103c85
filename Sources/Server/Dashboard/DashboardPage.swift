internal import HTTPServer

/// A page of the dashboard: its title and its content, without the frame.
struct DashboardPage {
    let title: String
    var status = Status.ok
    /// Fields of the response that belong to its status.
    var statusFields: [FieldLine] = []
    /// The origin of another site whose pictures the page shows; nil for none.
    var pictureSource: String?
    let content: (inout HTML) -> Void

    /// Makes the response, with the navigation for a visit.
    func response(visit: DashboardVisit?) -> Response {
        var html = HTML(for: visit)
        html.element("html", ["lang": "en"]) { html in
            html.element("head") { html in
                html.open("meta", ["charset": "utf-8"])
                html.open("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"])
                // With only the `no-referrer` of the header field, the `Origin` of a form would be `null` (Fetch
                // Standard, "append a request Origin header"), and browsers without `Sec-Fetch-Site` could not send the
                // dashboard's forms.
                html.open("meta", ["name": "referrer", "content": "same-origin"])
                html.open("meta", ["name": "color-scheme", "content": "light dark"])
                html.element("title", "\(title) – Afterlink")
                html.open("link", ["rel": "icon", "href": "data:,"])
                html.open("link", ["rel": "stylesheet", "href": DashboardFile.style.path])
                html.element("script", ["src": DashboardFile.script.path, "defer": ""], "")
            }
            html.element("body") { html in
                html.element("a", ["class": "skip", "href": "#main"], DashboardText.skip)
                if visit != nil { Self.header(&html) }
                html.element("main", ["id": "main", "tabindex": "-1"]) { html in
                    html.element("h1", title)
                    content(&html)
                }
                if visit != nil { Self.help(&html) }
            }
        }
        return Response(
            status,
            fields: Self.fields(pictureSource: pictureSource) + statusFields,
            contentType: .html,
            body: Array("<!doctype html>".utf8) + html.bytes
        )
    }

    /// Makes a 303, after which the browser loads a page by GET, and reloads it without sending the form again.
    static func redirect(to path: String, _ further: [FieldLine] = []) -> Response {
        Response(Status(303), fields: fields + [FieldLine(name: "Location", value: path)] + further)
    }

    /// The fields of every response of the dashboard: no script or style but its own, no frame, no cache.
    static let fields = fields(pictureSource: nil)

    private static func fields(pictureSource: String?) -> [FieldLine] {
        let pictures = pictureSource.map { " \($0)" } ?? ""
        let policy =
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:\(pictures);"
            + " connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none';"
            + " require-trusted-types-for 'script'"
        return [
            FieldLine(name: "Content-Security-Policy", value: policy), .noStore,
            FieldLine(name: "Referrer-Policy", value: "no-referrer"),
            FieldLine(name: "Cross-Origin-Opener-Policy", value: "same-origin"),
            FieldLine(name: "Cross-Origin-Resource-Policy", value: "same-origin"),
        ]
    }

    private static func header(_ html: inout HTML) {
        let address = html.address
        html.element("header") { html in
            html.element("nav", ["aria-label": DashboardText.pages]) { html in
                html.element("strong", "Afterlink")
                for page in DashboardSection.all {
                    let isHere = address.path == page.path || address.path.hasPrefix(page.path + "/")
                    let attributes: HTML.Attributes = [
                        "href": address.page(page.path).text, "data-key": page.key,
                        "aria-current": isHere ? "page" : nil,
                    ]
                    html.element("a", attributes, page.title)
                }
            }
            let search: HTML.Attributes = [
                "action": "/launches", "class": "find", "role": "search", "aria-label": DashboardText.find,
            ]
            html.element("form", search) { html in
                let field: HTML.Attributes = [
                    "type": "search", "name": "find", "aria-label": DashboardText.find,
                    "placeholder": DashboardText.findShort, "id": "find",
                ]
                html.open("input", field)
            }
            html.button("/sign-out", DashboardText.signOut)
        }
    }

    /// Writes the list of keyboard shortcuts, which the script opens.
    private static func help(_ html: inout HTML) {
        html.element("dialog", ["id": "keys", "aria-label": DashboardText.keys]) { html in
            html.element("h2", DashboardText.keys)
            html.element("dl") { html in
                for page in DashboardSection.all { html.key("G \(page.key.uppercased())", page.title) }
                for period in DashboardPeriod.allCases where period != .custom {
                    let texts = DashboardText.texts(of: period)
                    html.key(texts.key, texts.name)
                }
                for (key, meaning) in DashboardText.furtherKeys { html.key(key, meaning) }
            }
            html.element("form", ["method": "dialog"]) { html in html.element("button", DashboardText.close) }
        }
    }
}

/// The pages in the navigation: the path of each, the letter that opens it after the key G, and its title.
enum DashboardSection {
    static let all: [(path: String, key: String, title: String)] = [
        ("/", "o", DashboardText.overview),
        ("/live", "v", DashboardText.liveTraffic),
        ("/launches", "l", DashboardText.launches),
        ("/links", "i", DashboardText.links),
        ("/campaigns", "c", DashboardText.campaigns),
        (EventsPage.path, "e", DashboardText.events),
        ("/matching", "m", DashboardText.matching),
        ("/postbacks", "p", DashboardText.postbacks),
        ("/apple", "a", DashboardText.apple),
        ("/domains", "d", DashboardText.domains),
        ("/system", "y", DashboardText.system),
        ("/try", "t", DashboardText.trial),
        ("/settings", "s", DashboardText.settings),
    ]
}

extension HTML {
    fileprivate mutating func key(_ key: String, _ meaning: String) {
        element("dt") { $0.element("kbd", key) }
        element("dd", meaning)
    }
}
