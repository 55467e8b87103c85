public import Attribution
internal import HTTPServer

/// The templates, texts, styles and scripts of the pages that visitors see when they open a link.
public struct LandingPages: Sendable {
    let landing: PageTemplate
    let ended: PageTemplate
    let flow: PageTemplate
    let texts: PageTexts
    let style: [UInt8]
    /// The style that the debug page adds.
    let flowStyle: [UInt8]
    /// The collecting script and the landing page's script.
    let script: [UInt8]
    /// The collecting script alone, for other sites' pages.
    let collector: [UInt8]

    public static let embedded: LandingPages = {
        do throws(PageTemplate.Problem) {
            return try LandingPages(landing: file("landing.html"))
        } catch {
            preconditionFailure("an embedded page is not a template, line \(error.line): \(error.message)")
        }
    }()

    /// Creates the built-in pages with the operator's own landing page.
    ///
    /// - Parameters:
    ///   - bytes: the landing page's template, UTF-8.
    ///   - file: the name of the template's file, for error messages.
    /// - Throws: an error with the line of the first mistake. There is no line if the template is not UTF-8, or has no
    ///   `{{{script}}}` or `{{nonce}}`.
    public init(replacing bytes: [UInt8], file: String) throws(DataFileError) {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw DataFileError(file, 0, 0, "is not UTF-8", "Save the page as UTF-8 text")
        }
        for place in ["{{{script}}}", "{{nonce}}"] where !text.contains(place) {
            let advice =
                "Put <script nonce=\"{{nonce}}\">{{{script}}}</script> at the end of the body; it records"
                + " the click"
            throw DataFileError(file, 0, 0, "has no \(place)", advice)
        }
        do throws(PageTemplate.Problem) {
            try self.init(landing: text)
        } catch {
            throw DataFileError(file, error.line, 0, "is not a template", error.message)
        }
    }

    /// The keys of all texts with the languages that each text has, for tests.
    package var textCoverage: [String: Set<String>] { texts.texts.mapValues { Set($0.keys) } }

    private init(landing text: String) throws(PageTemplate.Problem) {
        landing = try PageTemplate(text, values: LandingPage.valueNames, rawParts: ["style", "script"])
        let (endedNames, flowNames) = (InactiveLinkPage.valueNames, LinkDebugPage.valueNames)
        ended = try PageTemplate(Self.file("ended.html"), values: endedNames, rawParts: ["style"])
        let rawParts: Set = ["style", "flowStyle", "rows"]
        flow = try PageTemplate(Self.file("flow.html"), values: flowNames, rawParts: rawParts)
        texts = PageTexts(Self.file("texts.tsv"))
        style = Array(Self.file("page.css").utf8)
        flowStyle = Array(Self.file("flow.css").utf8)
        let names = NetworkClickIDs.parameters.map(\.name).joined(separator: "|")
        let collector = Self.compact(Self.file("collector.js").replacing("CLICK_ID_NAMES", with: names))
        script = collector + Self.compact(Self.file("landing.js"))
        self.collector =
            Array("// Afterlink: records clicks of a page on the server that this script came from.\n".utf8)
            + collector
    }

    private static func file(_ name: String) -> String {
        EmbeddedPages.files.first { $0.name == name }?.text ?? ""
    }

    /// Removes the comment lines, empty lines and indentation of a script; no string of the script may span lines.
    private static func compact(_ source: String) -> [UInt8] {
        var script: [UInt8] = []
        for line in source.utf8.split(separator: UInt8(ascii: "\n")) {
            let line = line.drop { $0 == UInt8(ascii: " ") }
            guard !line.isEmpty, !line.starts(with: "//".utf8) else { continue }
            script += line
            script.append(UInt8(ascii: "\n"))
        }
        return script
    }
}

/// The texts of pages, by language.
struct PageTexts: Sendable {
    struct Language: Sendable {
        /// The code for HTML's `lang`.
        let code: String
        /// `ltr` or `rtl`.
        let direction: String
    }

    private let languages: [Language]
    /// The texts by key and language.
    fileprivate let texts: [String: [String: String]]

    init(_ table: String) {
        let rows: [DataRow]
        do throws(DataFileError) {
            rows = try DataRow.rows(of: Array(table.utf8), file: "texts.tsv", kinds: ["language", "text"])
        } catch { preconditionFailure("the embedded texts do not parse: \(error.message)") }
        languages = rows.filter { $0.kind == "language" && $0.columns.count == 2 }.map {
            Language(code: $0.columns[0], direction: $0.columns[1])
        }
        var texts: [String: [String: String]] = [:]
        for row in rows where row.kind == "text" && row.columns.count == 3 {
            texts[row.columns[0], default: [:]][row.columns[1]] = row.columns[2]
        }
        self.texts = texts
    }

    /// Returns the browser's first accepted language that has texts, else the first language of the table.
    func language(acceptLanguage: String?) -> Language {
        for tag in acceptLanguage.map(AcceptLanguage.tags) ?? [] {
            let code = tag.prefix { $0 != "-" }.lowercased()
            if let language = languages.first(where: { $0.code == code }) { return language }
        }
        return languages.first ?? Language(code: "en", direction: "ltr")
    }

    /// Returns the text of a key, in English if the language has none, with the app's name in place of `{app}`.
    func text(_ key: String, in language: Language, app: String = "") -> String {
        let text = texts[key]?[language.code] ?? texts[key]?["en"] ?? ""
        return text.split(separator: "{app}", omittingEmptySubsequences: false).joined(separator: app)
    }
}

/// One page for one visitor: the values of its template, and its header fields.
///
/// The header fields allow only the page's own parts and the app's icon to run or load in it (ASVS 5.0, 3.4).
struct Page {
    let pages: LandingPages
    let language: PageTexts.Language
    /// The values by their names in the templates; missing values are empty.
    var values: [String: String]
    /// A random word that marks the page's own script and style as allowed.
    private let nonce: String
    private let app: App?

    /// Creates the page with its app's icon and colour.
    init(of app: App?, _ exchange: Exchange) {
        self.app = app
        pages = exchange.service.settings.pages
        language = pages.texts.language(acceptLanguage: exchange.request.field("accept-language"))
        nonce = Base64URL.text(of: exchange.service.random.bytes(16))
        values = ["nonce": nonce, "language": language.code, "direction": language.direction]
        values["icon"] = app?.settings.links.icon?.text
        if let color = app?.settings.links.color {
            values["color"] = color
            values["onColor"] = Self.ink(on: color)
        }
    }

    /// Returns a text in the page's language, with the app's name in place of `{app}`.
    func text(_ key: String) -> String { pages.texts.text(key, in: language, app: app?.settings.name ?? "") }

    /// Renders the page.
    ///
    /// - Parameters:
    ///   - template: the page's template.
    ///   - status: the status of the response.
    ///   - parts: the parts that are not escaped, in addition to the style.
    ///   - hasScript: whether the page runs a script, which posts the click to the service.
    /// - Returns: the response with the page and the fields that protect it.
    func response(
        _ template: PageTemplate,
        _ status: Status = .ok,
        parts: [String: [UInt8]] = [:],
        hasScript: Bool = false
    ) -> Response {
        let body = template.render(values, rawParts: parts.merging(["style": pages.style]) { $1 })
        let images = ["'self'", "data:"] + [app?.settings.links.icon?.policySource].compactMap(\.self)
        let script = hasScript ? "script-src 'nonce-\(nonce)'; connect-src 'self'; " : ""
        let policy =
            "default-src 'none'; \(script)style-src 'nonce-\(nonce)'; "
            + "img-src \(images.joined(separator: " ")); "
            + "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
        let fields = [
            FieldLine(name: "Content-Security-Policy", value: policy),
            FieldLine(name: "Referrer-Policy", value: "strict-origin"),
            FieldLine(name: "Cross-Origin-Opener-Policy", value: "same-origin"),
            .noStore,
        ]
        return Response(status, fields: fields, contentType: .html, body: body)
    }

    /// Returns the text colour with more contrast on a background: the dark text colour of page.css, or white.
    private static func ink(on color: String) -> String {
        guard let color = try? QRColor(parsing: color) else { return QRColor.white.text }
        return (color.contrast(with: ink) > color.contrast(with: .white) ? ink : .white).text
    }

    private static let ink = QRColor(red: 0x16, green: 0x18, blue: 0x1d)
}

extension WebURL {
    /// The URL's origin as a content security policy names it.
    ///
    /// Nil for a host with other characters than letters, digits, `.` and `-`, which could change the policy.
    var policySource: String? {
        let isPlain = host.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x61...0x7a).contains(byte) || byte == 0x2d || byte == 0x2e
        }
        return isPlain && !host.isEmpty ? "https://\(host)" + (port.map { ":\($0)" } ?? "") : nil
    }
}
