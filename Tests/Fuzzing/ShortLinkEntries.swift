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
        try promise(slug.text == text, "a slug is another one than was asked for")
        let parts = slug.text.split(separator: "/", omittingEmptySubsequences: false)
        try promise(parts.allSatisfy { !$0.isEmpty && !$0.hasPrefix(".") }, "a slug climbs or hides")
        try promise(
            slug.text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != 0x25 && $0 != 0x3f && $0 != 0x23 },
            "a slug has a byte that is no path's"
        )
    }

    /// A field and its text on a line each.
    static let linkFields = FuzzEntry(
        text: "link-fields",
        tokens: LinkField.allCases.map { "\n\($0.rawValue)=" } + [
            "myapp://promo/", "/promo", "https://shop.example/x", "javascript:", "a 1 myapp://x", "true",
            "60",
            "2592001", "2027-01-01T00:00:00Z", "#112233", "{}", ",", "\u{7f}", "é",
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
            try promise(longest > 2000, "a link that was accepted is refused")
            return
        }
        try promise(again == settings, "a link reads differently when it is written")
        _ = settings.problems(for: App.Settings(name: "a"), at: Timestamp(milliseconds: 0))
    }

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
        } catch {
            return
        }
        let text = records.map { CSVText.line($0) }.joined()
        var second = CSVReader(Array(text.utf8))
        var again: [[String]] = []
        do throws(CSVReader.Failure) {
            while let record = try second.next() { again.append(record.cells.map(CSVText.unescaped)) }
        } catch {
            throw BrokenPromise("what was written cannot be read: \(error.message)")
        }
        try promise(again == records, "cells read differently when they are written")
    }
}
