import Attribution
import HTTPServer
import Threads

/// A browser on this machine that uses the dashboard of a service.
struct DashboardBrowser {
    static let host = "127.0.0.1:8081"

    let service: TestService
    /// The name and the value that the browser sends in `Cookie`; empty before the sign-in.
    var cookie = ""

    init(_ service: TestService) { self.service = service }

    /// A browser that has signed in with an admin key.
    static func signedIn(to service: TestService) async -> DashboardBrowser {
        await signedIn(to: service, with: service.keyText(.admin))
    }

    /// A browser that has signed in with a key.
    static func signedIn(to service: TestService, with key: String) async -> DashboardBrowser {
        var browser = DashboardBrowser(service)
        let answer = await browser.post("/sign-in", "key=\(key)")
        browser.keepCookie(of: answer)
        return browser
    }

    mutating func keepCookie(of answer: Answer) {
        let start = "Set-Cookie: "
        let line = answer.fieldLines.split(separator: "\n").first { $0.hasPrefix(start) }
        cookie = line.map { String($0.dropFirst(start.count).prefix { $0 != ";" }) } ?? ""
    }

    func get(_ address: String, fields: [String: String] = [:]) async -> Answer {
        let parts = address.split(separator: "?", maxSplits: 1).map(String.init)
        let all = ["Host": Self.host, "Cookie": cookie].merging(fields) { $1 }
        return await service.send(
            .get,
            parts[0],
            query: parts.count > 1 ? parts[1] : nil,
            fields: all,
            to: .dashboard
        )
    }

    func post(
        _ path: String,
        _ body: String,
        fields: [String: String] = ["Sec-Fetch-Site": "same-origin"],
        at time: MonotonicTime = .now()
    ) async -> Answer {
        let own = ["Host": Self.host, "Cookie": cookie, "Content-Type": "application/x-www-form-urlencoded"]
        let all = own.merging(fields) { $1 }
        return await service.send(.post, path, fields: all, body: body, at: time, to: .dashboard)
    }

    /// Returns the texts of the cells of a page's table, by rows.
    func table(_ caption: String, at address: String) async -> [[String]] {
        PageMarkup.table(caption, in: await get(address).text)
    }

    /// The token of the forms on a page.
    func formToken() async -> String {
        PageMarkup(await get("/").text).hidden("token") ?? ""
    }
}

extension PageMarkup {
    /// The value of the first input with this name.
    func hidden(_ name: String) -> String? {
        tags.first { $0.attributes["name"] == name }?.attributes["value"]
    }

    /// Returns the texts of the cells of the table with this caption, by rows.
    static func table(_ caption: String, in page: String) -> [[String]] {
        guard let start = page.firstRange(of: "<caption>\(caption)</caption>") else { return [] }
        let rest = page[start.upperBound...]
        let table = rest[..<(rest.firstRange(of: "</table>")?.lowerBound ?? rest.endIndex)]
        return table.split(separator: "<tr>").dropFirst().map { row in
            row.split(separator: "</t").compactMap { cell in
                // The text before the tag of this cell belongs to the previous cell.
                guard let start = cell.firstRange(of: "<th") ?? cell.firstRange(of: "<td") else { return nil }
                return PageMarkup(String(cell[start.lowerBound...])).text
            }
        }
    }
}
