public import Attribution

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
