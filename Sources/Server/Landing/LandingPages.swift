public import Attribution
internal import HTTPServer

/// The templates of the pages that people see when they open a link.
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

    /// The built-in pages.
    public static let embedded: LandingPages = {
        do throws(PageTemplate.Problem) {
            return try LandingPages(landing: file("landing.html"))
        } catch {
            preconditionFailure("an embedded page is no template, line \(error.line): \(error.message)")
        }
    }()

    /// Creates the built-in pages with the operator's own landing page.
    ///
    /// - Parameters:
    ///   - bytes: the landing page, a template.
    ///   - file: its name, for error messages.
    /// - Throws: the line of the first mistake, or an error for a template without a place for the script.
    public init(replacing bytes: [UInt8], file: String) throws(DataFileError) {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw DataFileError(file, 0, 0, "is not UTF-8", "Save the page as UTF-8 text")
        }
        for place in ["{{{script}}}", "{{nonce}}"] where !text.contains(place) {
            throw DataFileError(
                file,
                0,
                0,
                "has no \(place)",
                "Put <script nonce=\"{{nonce}}\">{{{script}}}</script> where the body ends, or no click is told"
            )
        }
        do throws(PageTemplate.Problem) {
            try self.init(landing: text)
        } catch {
            throw DataFileError(file, error.line, 0, "is no template", error.message)
        }
    }

    /// The texts' keys, each with its languages, for tests.
    package var textCoverage: [String: Set<String>] { texts.coverage }

    private init(landing text: String) throws(PageTemplate.Problem) {
        landing = try PageTemplate(text, values: LandingPage.valueNames, rawParts: ["style", "script"])
        ended = try PageTemplate(
            Self.file("ended.html"),
            values: InactiveLinkPage.valueNames,
            rawParts: ["style"]
        )
        flow = try PageTemplate(
            Self.file("flow.html"),
            values: LinkDebugPage.valueNames,
            rawParts: LinkDebugPage.rawParts
        )
        texts = PageTexts(Self.textRows)
        style = Array(Self.file("page.css").utf8)
        flowStyle = Array(Self.file("flow.css").utf8)
        let collector = PageScript.compact(Self.file("collector.js"))
        script = collector + PageScript.compact(Self.file("landing.js"))
        self.collector =
            Array("// Afterlink: tells clicks of a page to the server that this script came from.\n".utf8)
            + collector
    }

    private static func file(_ name: String) -> String {
        EmbeddedPages.files.first { $0.name == name }?.text ?? ""
    }

    private static var textRows: [DataRow] {
        do throws(DataFileError) {
            return try DataRow.rows(
                of: Array(file("texts.tsv").utf8),
                file: "texts.tsv",
                kinds: ["language", "text"]
            )
        } catch {
            preconditionFailure("the embedded texts do not parse: \(error.message)")
        }
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
    private let texts: [String: [String: String]]

    init(_ rows: [DataRow]) {
        languages = rows.filter { $0.kind == "language" && $0.columns.count == 2 }.map {
            Language(code: $0.columns[0], direction: $0.columns[1])
        }
        var texts: [String: [String: String]] = [:]
        for row in rows where row.kind == "text" && row.columns.count == 3 {
            texts[row.columns[0], default: [:]][row.columns[1]] = row.columns[2]
        }
        self.texts = texts
    }

    /// The first accepted language that has texts, else the first language with texts.
    func language(acceptLanguage: String?) -> Language {
        for tag in acceptLanguage.map(AcceptLanguage.tags) ?? [] {
            let code = String(
                decoding: tag.utf8.prefix { $0 != UInt8(ascii: "-") }.map(Self.lowered),
                as: UTF8.self
            )
            if let language = languages.first(where: { $0.code == code }) { return language }
        }
        return languages.first ?? Language(code: "en", direction: "ltr")
    }

    private static func lowered(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte + 0x20 : byte
    }

    /// The text of a key, with the app's name for `{app}`.
    func text(_ key: String, in language: Language, app: String = "") -> String {
        let text = texts[key]?[language.code] ?? texts[key]?["en"] ?? ""
        return text.split(separator: "{app}", omittingEmptySubsequences: false).joined(separator: app)
    }

    /// Every key with its languages.
    var coverage: [String: Set<String>] { texts.mapValues { Set($0.keys) } }
}

/// One page on its way to a visitor: the values that every page has, and its header fields.
///
/// The fields let nothing but the page's own parts run or load in it (ASVS 5.0, 3.4).
struct Page {
    let pages: LandingPages
    let language: PageTexts.Language
    /// The values by their names in the templates; missing ones are empty.
    var values: [String: String]
    /// An unguessable word by which the page marks its own script and style.
    private let nonce: String
    private let app: App?

    /// Starts the page with the look of its app: the operator's icon and colour.
    init(of app: App?, _ exchange: Exchange, _ context: LoopContext) {
        self.app = app
        pages = context.service.settings.pages
        language = pages.texts.language(acceptLanguage: exchange.request.field("accept-language"))
        nonce = Base64URL.text(of: context.service.random.bytes(16))
        values = ["nonce": nonce, "language": language.code, "direction": language.direction]
        values["icon"] = app?.settings.links.icon?.text
        if let color = app?.settings.links.color {
            values["color"] = color
            values["onColor"] = Self.ink(on: color)
        }
    }

    /// A text in the page's language, with the app's name where it stands for it.
    func text(_ key: String) -> String {
        pages.texts.text(key, in: language, app: app?.settings.name ?? "")
    }

    /// Renders the page.
    ///
    /// - Parameters:
    ///   - template: the page's template.
    ///   - status: the status of the response.
    ///   - parts: the parts that are not escaped, besides the style.
    ///   - hasScript: whether it runs a script, which posts its click to the service.
    /// - Returns: the response with the page and the fields that protect it.
    func response(
        _ template: PageTemplate,
        _ status: Status = .ok,
        parts: [String: [UInt8]] = [:],
        hasScript: Bool = false
    ) -> Response {
        let body = template.render(values, rawParts: parts.merging(["style": pages.style]) { $1 })
        let images = ["'self'", "data:"] + [values["icon"].flatMap(Self.origin)].compactMap(\.self)
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

    /// `https://host` of an address that an operator stored; nil for one that could contain more than a host.
    private static func origin(_ url: String) -> String? {
        let start = "https://"
        guard url.hasPrefix(start) else { return nil }
        let authority = url.dropFirst(start.count).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let isPlain = authority.utf8.allSatisfy { byte in
            (0x30...0x3a).contains(byte) || (0x61...0x7a).contains(byte) || (0x41...0x5a).contains(byte)
                || byte == 0x2d || byte == 0x2e
        }
        return isPlain && !authority.isEmpty ? start + authority : nil
    }

    /// The more readable text colour on a colour: the pages' dark ink, or white.
    private static func ink(on color: String) -> String {
        guard let color = try? QRColor(parsing: color) else { return QRColor.white.text }
        return (color.contrast(with: ink) > color.contrast(with: .white) ? ink : .white).text
    }

    /// The ink of page.css.
    private static let ink = QRColor(red: 0x16, green: 0x18, blue: 0x1d)
}

/// Scripts as they are sent, without what only their readers need.
enum PageScript {
    /// Removes comment lines, empty lines and indentation.
    ///
    /// The scripts are written for it: none has a text over several lines.
    static func compact(_ source: String) -> [UInt8] {
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
