import Attribution
import Server
import Testing

@Suite("Documentation of errors and reasons")
struct ErrorDocumentationTests {
    @Test("the article on the API lists every error code once, and no other code")
    func everyCode() throws {
        let article = try Repository.text("Sources/afterlink/Afterlink.docc/API.md")
        let rows = article.split(separator: "\n").drop { !$0.hasPrefix("| status | code |") }.dropFirst(2)
        let cells = rows.prefix { $0.hasPrefix("|") }.compactMap {
            $0.split(separator: "|").dropFirst().first
        }
        let listed = cells.flatMap { cell in
            cell.split { $0 == "`" || $0 == "," || $0 == " " }.map(String.init)
        }
        #expect(listed.sorted() == APIError.Code.allCases.map(\.rawValue).sorted())
    }

    @Test("the article on the API explains every reason for no match, in the words of the code")
    func everyReason() throws {
        let article = try Repository.text("Sources/afterlink/Afterlink.docc/API.md")
        let rows = article.split(separator: "\n").drop { $0 != "| reason | |" }.dropFirst(2)
        #expect(
            rows.prefix { $0.hasPrefix("|") }.map(String.init)
                == NoMatchReason.allCases.map { "| `\($0.rawValue)` | \($0.meaning.clause) |" }
        )
    }
}
