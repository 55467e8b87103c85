import Attribution
import Testing

/// The token of a click.
private let token = "AQACAZkAAAAAAAGImaq7zN3u_2VVQoBE-p9yg4OqoBNX"
/// The identifier of another click.
private let id = "clk_0000000000000g000000000001"

@Suite("References to a click that a launch sends")
struct LaunchEvidenceTests {
    @Test(
        "are read from an install referrer that a store returned and an app forwarded, even if encoded twice",
        arguments: [
            ("al=\(token)&utm_source=instagram", token), ("al=\(token)", token),
            ("utm_source=instagram&al=\(token)&utm_medium=cpc", token),
            ("al%3D\(token)%26utm_source%3Dinstagram", token),
            ("al%253D\(token)%2526utm_source%253Dinstagram", token),
            ("al=\(token)%26utm_source%3Dinstagram", token),
            ("referrer=al%3D\(token)%26utm_source%3Dinstagram", token),
            ("https://play.google.com/store/apps/details?id=com.example&referrer=al%3D\(token)", token),
            ("market://details?id=com.example&referrer=al%253D\(token)", token), ("  al=\(token) ", token),
            ("al=\(token);utm_source=x", token), ("al=\(token),more", token), ("al=\(id)", id),
            ("click_id=\(id)&utm_source=x", id), ("al%3D\(id)", id), ("click_id=\(token)", token),
            ("al=broken&click_id=\(id)", id), ("click_id=clk_broken", "clk_broken"),
            ("al=%20\(token)%20", token), ("al=broken", "broken"),
            ("al=\(token)&utm_content=sale?", token), ("al%3D\(token)%26utm_term%3Dwhy%3F", token),
            ("https://play.example/?id=x&al=\(token)&q=?", token), ("click_id=\(token)&al=\(id)", id),
        ]
    )
    func referrer(text: String, expected: String) throws {
        let reference = try #require(InstallReferrer(text).reference)
        #expect(reference == ClickReference(expected))
    }

    @Test(
        "are not found in the install referrers of other links",
        arguments: [
            "", " ", "utm_source=google-play&utm_medium=organic",
            "utm_source=(not%20set)&utm_medium=(not%20set)", "gclid=Cj0KCQ", "al=", "al", "AL=\(token)",
            "token=\(token)", token, "al=&click_id=", "al=%C3%A9", "%", "%25%25%25%25",
            "referrer=referrer=referrer=referrer=al=\(token)", "utm_source=al",
            "click_id=a1b2c3&utm_source=network",
        ]
    )
    func otherReferrer(text: String) { #expect(InstallReferrer(text).reference == nil) }

    @Test(
        "the referrer of an organic installation is Google Play's own, and names no click",
        arguments: [
            ("utm_source=google-play&utm_medium=organic", true),
            ("utm_medium=organic&utm_source=google-play&a", true),
            ("utm_source%3Dgoogle-play%26utm_medium%3Dorganic", true), ("utm_source=google-play", false),
            ("utm_source=google&utm_medium=organic", false),
            ("utm_source=(not%20set)&utm_medium=(not%20set)", false),
            ("al=x&utm_source=google-play&utm_medium=organic", false), ("", false),
        ]
    )
    func organic(text: String, isOrganic: Bool) { #expect(InstallReferrer(text).isOrganic == isOrganic) }

    @Test(
        "are read from a link on the pasteboard, with any text around it",
        arguments: [
            ("https://go.example/summer25?al=\(token)", token),
            ("  \n\thttps://go.example/summer25?al=\(token)\r\n", token),
            ("Look: https://go.example/summer25?al=\(token) (from Anna)", token),
            ("\"https://go.example/summer25?al=\(token)\"", token),
            ("<https://go.example/summer25?al=\(token)>", token),
            ("(https://go.example/summer25?al=\(token)).", token),
            ("HTTPS://GO.EXAMPLE/summer25?al=\(token)", token),
            ("http://localhost:8080/summer25?al=\(token)", token),
            ("https://go.example/summer25?utm_source=x&al=\(token)&b=c#part", token),
            ("https://a.example/?x=1 https://go.example/s?al=\(token)", token),
            ("https://a.example/?al=5 https://go.example/s?al=\(token)", token),
            ("https://go.example/s?click_id=\(id)", id), ("seehttps://go.example/s?al=\(token)", token),
            ("çok güzel 🎉 https://go.example/s?al=\(token) 🎉", token),
            ("https://go.example/s?al=broken", "broken"),
            ("https://go.example/s?al=\(token.dropLast())", String(token.dropLast())),
        ]
    )
    func pasteboard(text: String, expected: String) throws {
        let reference = try #require(PasteboardText(text).reference)
        #expect(reference == ClickReference(expected))
    }

    @Test(
        "are not found in other copied text",
        arguments: [
            "", " ", token, "al=\(token)", "?al=\(token)", "https://shop.example/reset?token=\(token)",
            "https://go.example/s#al=\(token)", "https://go.example/\(token)", "https:// ?al=\(token)",
            "https://go.example/s ?al=\(token)", "ftp://go.example/s?al=\(token)", "myapp://s?al=\(token)",
            "my password is hunter2", "https://go.example/s?al=", "https://", "hhttps:/",
            "https://shop.example/?click_id=a1b2c3",
        ]
    )
    func otherText(text: String) { #expect(PasteboardText(text).reference == nil) }

    @Test("are searched in the first 4,096 characters of a text")
    func bounds() {
        let link = "https://go.example/s?al=\(token)"
        let room = String(repeating: "x ", count: 2048)
        let longest = String(room.prefix(PasteboardText.maximumLength - link.count)) + link
        #expect(PasteboardText(longest).reference != nil)
        #expect(PasteboardText(room + link).reference == nil)
        #expect(PasteboardText(String(repeating: "https://h?al=", count: 500_000)).reference != nil)
        let items = String(repeating: "x&", count: 2048)
        #expect(InstallReferrer("al=\(token)&" + String(repeating: items, count: 500)).reference != nil)
        #expect(InstallReferrer(items + "utm=x&al=\(token)").reference == nil)
        #expect(InstallReferrer(String(repeating: "%25", count: 500_000)).reference == nil)
        guard case .token(let long)? = ClickReference(String(repeating: "é", count: 500_000)) else {
            Issue.record("a long text is not a token")
            return
        }
        #expect(long.utf8.count <= ClickReference.maximumLength + 2)
    }

    @Test("are collected from every source, the client's own fields first, each reference once")
    func order() {
        var evidence = LaunchEvidence()
        #expect(evidence.isEmpty)
        evidence.add(pasteboard: "another text")
        evidence.add()
        #expect(evidence.isEmpty)
        let pasteboard = "https://go.example/s?al=one"
        evidence.add(token: "one", clickID: id, referrer: "al=\(token)", pasteboard: pasteboard)
        evidence.add(clickID: "two", referrer: "al=\(id)")
        #expect(evidence.references == ["one", id, token, "two"].compactMap { ClickReference($0) })
        #expect(!evidence.isEmpty)
    }

    @Test("are click ids if they have an id's form, else tokens, which may be malformed")
    func form() throws {
        #expect(ClickReference("") == nil)
        #expect(ClickReference(" \n") == nil)
        let click = try #require(ClickID(id))
        #expect(ClickReference(" \(id) ") == .click(click))
        #expect(ClickReference(token) == .token(token))
        #expect(ClickReference(token)?.isWellFormed == true)
        #expect(ClickReference(id)?.isWellFormed == true)
        for text in [
            id.uppercased(), id + "0", token + "A", String(token.dropLast()), "B" + token.dropFirst(),
        ] {
            let reference = try #require(ClickReference(text))
            #expect(reference == .token(text) && !reference.isWellFormed)
        }
    }

    @Test("a launch keeps the first advertising id of each kind")
    func advertisingIDs() throws {
        let first = try #require(AdvertisingID("6D92078A-8246-4BA4-AE5B-76104861E7DC", as: .idfa))
        let second = try #require(AdvertisingID("6D92078A-8246-4BA4-AE5B-76104861E7DD", as: .idfa))
        let gaid = try #require(AdvertisingID("6D92078A-8246-4BA4-AE5B-76104861E7DD", as: .gaid))
        var evidence = LaunchEvidence()
        evidence.add(first)
        evidence.add(second)
        evidence.add(gaid)
        #expect(evidence.idfa == first && evidence.gaid == gaid)
    }
}
