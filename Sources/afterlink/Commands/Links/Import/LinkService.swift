internal import Attribution
internal import Server

/// The service that exported a table of links.
enum LinkService: String, CaseIterable {
    case firebase
    case branch

    /// Returns the reader of the lines below the first one.
    ///
    /// - Throws: if the first line is not one of this service's.
    static func table(_ service: LinkService?, _ header: CSVReader.Record) throws(CSVReader.Failure)
        -> any ImportedTable
    {
        switch service {
        case nil: try AfterlinkTable(header)
        case .firebase: try FirebaseTable(header)
        case .branch: try BranchTable(header)
        }
    }
}

/// Reads the lines of one service's table of links.
protocol ImportedTable {
    /// Reads a line with as many cells as the first one has.
    func read(_ cells: [String], into entry: inout LinkFile.Entry)
}

/// Texts of other services' exports that are not fields of a link.
enum ImportedText {
    /// The host and the path of a short link, as in `https://example.page.link/m9Mm`.
    static func parts(ofShortLink text: String) -> (host: String, slug: String)? {
        let rest =
            ["https://", "http://"].first(where: text.hasPrefix).map { text.dropFirst($0.count) } ?? text[...]
        guard let slash = rest.firstIndex(of: "/") else { return nil }
        let path = rest[rest.index(after: slash)...].prefix { $0 != "?" && $0 != "#" }
        guard slash > rest.startIndex, !path.isEmpty else { return nil }
        return (String(rest[..<slash]).lowercased(), String(path))
    }

    /// When something was: an ISO 8601 time, one with a blank for its `T` and `UTC` for its `Z`, or seconds,
    /// milliseconds or microseconds since 1970.
    static func moment(_ text: String) -> Timestamp? {
        if let moment = TimeArgument.moment(text) { return moment }
        if let number = Int64(text), number > 0 {
            switch text.utf8.count {
            case 9...10: return Timestamp(milliseconds: number * 1000)
            case 12...13: return Timestamp(milliseconds: number)
            case 15...16: return Timestamp(milliseconds: number / 1000)
            default: return nil
            }
        }
        let plain = text.replacing(" UTC", with: "").replacing("Z", with: "")
        return Timestamp(iso8601: plain.replacing(" ", with: "T") + "Z")
    }
}
