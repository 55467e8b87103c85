internal import Attribution

/// A link as a line of comma-separated values, and the way back.
enum LinkColumns {
    /// The columns in addition to a link's fields; of these, an import reads the slug, the app and the time of archiving.
    static let before = ["id", "app", "slug", "url"]
    static let after = ["clicks", "robots", "matches", "created_at", "updated_at", "archived_at"]

    static let header = before + LinkField.allCases.map(\.rawValue) + after

    static func cells(_ listing: LinkListing, of app: App?) -> [String] {
        let link = listing.link
        let fields = link.settings.fields
        return [link.id.text, link.app.text, link.slug.text, app.flatMap(link.url(of:)) ?? ""]
            + LinkField.allCases.map { fields[$0].joined(separator: $0.separator) }
            + [
                String(listing.clicks), String(listing.robots), String(listing.matches),
                link.createdAt.iso8601,
                link.updatedAt.iso8601, link.archivedAt?.iso8601 ?? "",
            ]
    }

    /// The texts of a cell.
    static func texts(_ cell: String, of field: LinkField) -> [String] {
        guard field.isList, let separator = field.separator.first(where: { $0 != " " }) else { return [cell] }
        return cell.split(separator: separator).map { text in
            String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
    }
}

extension LinkField {
    /// Between the texts of a list in one cell: what none of them can hold.
    fileprivate var separator: String { self == .variants ? " | " : ", " }
}
