import Attribution
import HTTPServer
import JSON
import Server
import Testing

/// An app with a link host, a scheme and a web host.
enum LinkScenario {
    static let shop: App.Settings = {
        var links = AppLinks()
        links.hosts = ["go.shop.example"].compactMap { LinkHost($0) }
        links.webHosts = ["shop.example"]
        links.apple.scheme = "myapp"
        links.android.scheme = "myapp"
        links.apple.appStoreID = 1_234_567_890
        links.android.package = "com.example.shop"
        return App.Settings(name: "Shop", links: links)
    }()
}

extension TestService {
    /// Calls the admin API.
    @discardableResult
    func admin(_ method: HTTPServer.Method, _ path: String, query: String? = nil, _ body: String = "") async
        -> Answer
    {
        let type = body.isEmpty ? [:] : ["Content-Type": "application/json"]
        return await send(
            method,
            "/admin/api" + path,
            query: query,
            fields: bearer(.admin).merging(type) { $1 },
            body: body
        )
    }

    /// Creates a link and returns its id.
    @discardableResult
    func makeLink(_ body: String) async throws -> String {
        let answer = await admin(.post, "/links", body)
        #expect(answer.status == 201, "\(answer.text)")
        return try #require(answer.member("id"))
    }
}
