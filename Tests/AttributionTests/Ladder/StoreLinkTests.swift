import Attribution
import Testing

@Suite("Links that carry a token to the first launch")
struct StoreLinkTests {
    private let token: ClickToken

    init() throws {
        let key = try #require(ServerKey(bytes: Array(0..<32)))
        let click = ClickID(high: 1, low: 2)
        token = ClickToken(for: click, of: TestValues.app, expiresAt: TestValues.noon, signedBy: key)
    }

    /// Returns the referrer as the store passes it to the app: decoded once.
    private func referrer(of link: PlayStoreLink) throws -> String {
        let query = try #require(link.text.split(separator: "?").last)
        return try #require(QueryItem.value(of: "referrer", inQuery: String(query)))
    }

    @Test("lead to Google's store with a referrer that begins with the token")
    func playStore() throws {
        let utm = [
            QueryItem(name: "utm_source", value: "instagram"),
            QueryItem(name: "utm_campaign", value: "yaz & kış=50 %"), QueryItem(name: "utm_term", value: ""),
        ]
        let link = try #require(PlayStoreLink(package: "com.example.shop", token: token, utm: utm))
        let text =
            "https://play.google.com/store/apps/details?id=com.example.shop&referrer=al%3D\(token.text)"
            + "%26utm_source%3Dinstagram%26utm_campaign%3Dyaz%2520%2526%2520k%25C4%25B1%25C5%259F%253D50%2520%2525"
        #expect(link.text == text)
        let referrer = try referrer(of: link)
        #expect(referrer.hasPrefix("al=\(token.text)&utm_source=instagram&utm_campaign="))
        #expect(Array(QueryItem.items(ofQuery: referrer[...].utf8).dropFirst()) == Array(utm.dropLast()))
        #expect(InstallReferrer(referrer).reference == .token(token.text))
    }

    @Test("have fewer than 500 bytes, and leave out parameters that do not fit")
    func length() throws {
        for count in [0, 1, 10, 100, 340, 341, 342, 343, 344, 345, 346, 500, 5000] {
            let utm = [
                QueryItem(name: "utm_source", value: String(repeating: "é", count: count)),
                QueryItem(name: "utm_medium", value: String(repeating: "m", count: count)),
                QueryItem(name: "utm_id", value: "7"),
            ]
            let link = try #require(PlayStoreLink(package: "com.example.shop", token: token, utm: utm))
            #expect(link.text.utf8.count < PlayStoreLink.byteLimit)
            let items = QueryItem.items(ofQuery: try referrer(of: link)[...].utf8)
            #expect(items.first == QueryItem(name: "al", value: token.text))
            #expect(items.dropFirst().allSatisfy { utm.contains($0) })
            #expect(items.contains(QueryItem(name: "utm_id", value: "7")) || count > 300 && count < 350)
        }
        let longest = "a." + String(repeating: "b", count: 253)
        let link = try #require(PlayStoreLink(package: longest, token: token))
        #expect(link.text.utf8.count < PlayStoreLink.byteLimit)
        #expect(InstallReferrer(try referrer(of: link)).reference == .token(token.text))
    }

    @Test("are the same if a page inserts the token itself", arguments: [0, 10, 330, 340, 341, 345, 500])
    func template(count: Int) throws {
        let utm = [
            QueryItem(name: "utm_source", value: String(repeating: "é", count: count / 6)),
            QueryItem(name: "utm_medium", value: String(repeating: "m", count: count)),
        ]
        let template = try #require(PlayStoreLink.template(package: "com.example.shop", utm: utm))
        let link = try #require(PlayStoreLink(package: "com.example.shop", token: token, utm: utm))
        let parts = template.split(separator: PlayStoreLink.place, omittingEmptySubsequences: false)
        #expect(parts.count == 2)
        #expect(parts.joined(separator: token.text) == link.text)
        #expect(PlayStoreLink.template(package: "shop") == nil)
    }

    @Test(
        "are not made for malformed package names",
        arguments: [
            "", "shop", "com..shop", ".shop", "com.", "com.1shop", "com.sh op", "com.shop&x=1", "com.é",
            "com.a-b",
        ]
    )
    func package(text: String) { #expect(PlayStoreLink(package: text, token: token) == nil) }

    @Test("lead to the token from the pasteboard", arguments: ["summer25", "a b/c?d", "yaz-ış", ""])
    func pasteboard(slug: String) {
        let item = QueryItem.query(of: [QueryItem(name: slug, value: "")])
        let text = "https://go.example:8443/\(item.dropLast())?al=\(token.text)"
        #expect(PasteboardText(text).reference == .token(token.text))
    }
}
