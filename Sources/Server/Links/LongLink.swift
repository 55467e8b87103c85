internal import Attribution

/// The long links of Firebase, whose settings are in their own addresses and not in the store.
enum LongLink {
    /// The link that an address spells out.
    struct Found {
        let app: App
        /// The link, or the reasons why it must not lead anywhere.
        let link: Result<TappedLink, FieldProblems>
    }

    /// Reads an address.
    ///
    /// - Parameters:
    ///   - path: below the host, without its first slash; Firebase allowed a path before the query.
    ///   - query: the decoded query.
    ///   - apps: the apps that it may belong to.
    /// - Returns: nil for an address that is not a long link, or belongs to none of the apps.
    static func find(_ path: String, _ query: [QueryItem], of apps: [App]) -> Found? {
        guard path.isEmpty || (try? LinkSlug(parsing: path)) != nil,
            let long = FirebaseLongLink(query: query), let app = long.app(among: apps)
        else { return nil }
        do throws(FieldProblems) {
            return Found(app: app, link: .success(try TappedLink(long, at: path, of: app)))
        } catch {
            return Found(app: app, link: .failure(error))
        }
    }

    /// Reads what follows the host in an address: `?link=…`, with or without a path before it.
    static func find(_ text: String, of apps: [App]) -> Found? {
        guard let mark = text.firstIndex(of: "?") else { return nil }
        let query = text[text.index(after: mark)...].utf8
        return find(String(text[..<mark].trimmingSlashes), QueryItem.items(ofQuery: query), of: apps)
    }
}

extension Substring {
    /// Without the slashes at both ends.
    fileprivate var trimmingSlashes: Substring {
        var text = drop { $0 == "/" }
        while text.last == "/" { text.removeLast() }
        return text
    }
}
