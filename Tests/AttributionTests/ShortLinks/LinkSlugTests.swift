import Attribution
import Support
import Synchronization
import Testing

@Suite("Link slugs")
struct LinkSlugTests {
    @Test(
        "have one to four parts of letters, digits, -, _ and ., in either case",
        arguments: [
            "a", "Summer-25", "summer_25", "go/summer", "a/b/c/d", "x1.y2", "AbC123", "a.", "-", "_",
            "administration", "apiary", "v10", "a/v1", "go/admin", "qr.svg.png", "qr.svg/a",
            String(repeating: "x", count: 128),
        ]
    )
    func accepts(_ text: String) throws {
        #expect(try LinkSlug(parsing: text).text == text)
        #expect(LinkSlug(stored: text) == (try LinkSlug(parsing: text)))
    }

    @Test(
        "are refused with the broken rule",
        arguments: [
            ("", LinkSlugError.wrongLength), (String(repeating: "x", count: 129), .wrongLength),
            ("a/b/c/d/e", .wrongLength), ("/a", .malformed), ("a/", .malformed), ("a//b", .malformed),
            ("..", .malformed), ("a/..", .malformed), (".well-known", .malformed), ("a/.b", .malformed),
            ("a b", .malformed), ("ağ", .malformed), ("a%2Fb", .malformed), ("a?b", .malformed),
            ("a#b", .malformed), ("a\\b", .malformed), ("a\nb", .malformed), ("a\0", .malformed),
            ("a:b", .malformed), ("a@b", .malformed), ("admin", .reserved), ("ADMIN", .reserved),
            ("admin/x", .reserved), ("v1/x", .reserved), ("api", .reserved), ("healthz", .reserved),
            ("resolve/x", .reserved), ("campaign", .reserved), ("metrics", .reserved),
            ("deferred-deeplink", .reserved), ("openapi.json", .reserved), ("robots.txt", .reserved),
            ("apple-app-site-association", .reserved), ("a/qr.svg", .reserved), ("QR.png", .reserved),
        ]
    )
    func refuses(_ text: String, error: LinkSlugError) {
        #expect(throws: error) { try LinkSlug(parsing: text) }
    }

    @Test("are refused with a remedy", arguments: LinkSlugError.allCases)
    func messages(_ error: LinkSlugError) {
        #expect(error.message.hasSuffix("."))
        #expect(["shorten", "write", "choose"].contains { error.message.contains($0) })
    }

    @Test(
        "that are chosen at random have no similar characters, no vowels and no bad words, and do not repeat"
    )
    func random() throws {
        let generator = Mutex(SeededGenerator(seed: 7))
        let source = RandomSource { count in
            generator.withLock { generator in
                (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
            }
        }
        var counts: [Character: Int] = [:]
        var seen: Set<String> = []
        for _ in 0..<20_000 {
            let slug = LinkSlug(random: source)
            #expect(seen.insert(slug.text).inserted)
            #expect(slug.text.count == 11)
            for character in slug.text { counts[character, default: 0] += 1 }
            if ["fck", "fgt", "wtf", "kkk", "dck", "hh"].contains(where: slug.text.contains) {
                Issue.record("a bad word in \(slug.text)")
            }
            #expect((try? LinkSlug(parsing: slug.text)) == slug)
        }
        #expect(counts.keys.allSatisfy { !"aeiou01l2v5s8bnquz34".contains($0) })
        // All 17 characters are about equally frequent, although words with some of them are left out.
        #expect(counts.count == 17)
        let (least, most) = (try #require(counts.values.min()), try #require(counts.values.max()))
        #expect(Double(least) > Double(most) * 0.7)
    }
}
