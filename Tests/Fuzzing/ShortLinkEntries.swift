import Attribution
import Server

extension FuzzEntry {
    static let linkSlug = FuzzEntry(
        text: "link-slug",
        tokens: [
            "/", "//", "..", ".", "-", "_", "admin", "v1", "qr.svg", "%2e", "\\", "\u{0}", "é", "A", " ",
        ]
    ) { (text) throws(BrokenPromise) in
        guard let slug = try? LinkSlug(parsing: text) else { return }
        try promise(slug.text == text, "a slug differs from its text")
        let parts = slug.text.split(separator: "/", omittingEmptySubsequences: false)
        try promise(parts.allSatisfy { !$0.isEmpty && !$0.hasPrefix(".") }, "a slug has a hidden part")
        let isPath = slug.text.utf8.allSatisfy { 0x21...0x7e ~= $0 && ![0x25, 0x3f, 0x23].contains($0) }
        try promise(isPath, "a slug has a byte that paths do not allow")
    }

    /// The fields of a link, one line `field=text` for each text.
    static let linkFields = FuzzEntry(
        text: "link-fields",
        tokens: LinkField.allCases.map { "\n\($0.rawValue)=" } + [
            "myapp://promo/", "/promo", "https://shop.example/x", "javascript:", "a 1 myapp://x", "true",
            "60", "2592001", "2027-01-01T00:00:00Z", "#112233", "{}", ",", "\u{7f}", "é",
        ]
    ) { (text) throws(BrokenPromise) in
        var fields = LinkFields()
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1)
            guard let field = parts.first.flatMap({ LinkField(rawValue: String($0)) }) else { continue }
            fields[field] += [parts.count > 1 ? String(parts[1]) : ""]
        }
        _ = Link.Settings(stored: fields)
        guard let settings = try? Link.Settings(fields) else { return }
        guard let again = try? Link.Settings(settings.fields) else {
            // Encoding makes a link longer, perhaps too long to be read again.
            let longest = settings.fields.all.flatMap(\.texts).map(\.utf8.count).max() ?? 0
            try promise(longest > 2000, "an accepted link is refused")
            return
        }
        try promise(again == settings, "a link changes when it is written and read again")
        _ = settings.problems(for: App.Settings(name: "a"), at: Timestamp(milliseconds: 0))
    }

    /// The query of a tapped link, which anyone can write.
    static let firebaseLongLink = FuzzEntry(
        text: "firebase-long-link",
        tokens: FirebaseLink.Parameter.allCases.map { "&\($0.rawValue)=" } + [
            "https://shop.example/x", "https://go.shop.example/x", "https://apps.apple.com/app/id1234567890",
            "https://evil.example/", "shopapp://x", "javascript:", "%2F", "%5C", "@", "//", "?link=", "d=1",
            ".",
        ]
    ) { (text) throws(BrokenPromise) in
        let query = QueryItem.items(ofQuery: text[...].utf8)
        guard let long = FirebaseLongLink(query: query) else { return }
        guard let settings = try? long.settings(for: Self.shop) else { return }
        let destination = (settings.target?.text ?? "").lowercased()
        let host = destination.dropFirst("https://".count).prefix { $0 != "/" && $0 != ":" }
        let hosts = ["shop.example", "go.shop.example"]
        let isOwnPage = destination.hasPrefix("https://") && hosts.contains(String(host))
        let isOwn = destination.hasPrefix("shopapp://") || isOwnPage
        try promise(isOwn, "a link from outside leads to a page of another site")
        let pages = [settings.fallbacks.ios, settings.fallbacks.android, settings.fallbacks.desktop]
        for page in pages.compactMap(\.self) {
            let store = "https://apps.apple.com/app/id1234567890"
            let isOwnStorePage = page.text == store || page.text.hasPrefix(store + "?")
            let isOwn = hosts.contains(page.host) || isOwnStorePage
            try promise(isOwn, "a link from outside falls back to a page of another site")
        }
    }

    /// An app with one host for links, one for pages, and a scheme.
    private static let shop: App.Settings = {
        var links = AppLinks()
        links.hosts = [LinkHost("go.shop.example")].compactMap { $0 }
        links.webHosts = ["shop.example"]
        links.apple.appStoreID = 1_234_567_890
        links.apple.scheme = "shopapp"
        return App.Settings(name: "Shop", links: links)
    }()

    static let csv = FuzzEntry(
        "csv",
        tokens: [
            ",", ";", "\"", "\"\"", "\n", "\r\n", "\r", "'", "=", "+", "-", "@", "\t", "\u{feff}", "é", " ",
        ]
    ) { (bytes, _) throws(BrokenPromise) in
        var reader = CSVReader(bytes)
        var records: [[String]] = []
        do throws(CSVReader.Failure) {
            while let record = try reader.next() { records.append(record.cells) }
        } catch { return }
        let text = records.map { CSVText.line($0) }.joined()
        var second = CSVReader(Array(text.utf8))
        var again: [[String]] = []
        do throws(CSVReader.Failure) {
            while let record = try second.next() { again.append(record.cells.map(CSVText.unescaped)) }
        } catch { throw BrokenPromise("written cells cannot be read: \(error.message)") }
        try promise(again == records, "cells change when they are written and read again")
    }
}
