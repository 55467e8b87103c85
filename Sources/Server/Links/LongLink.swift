internal import Attribution

/// The long links of Firebase, which stand nowhere but in their own addresses.
enum LongLink {
    /// What an address spells out.
    struct Found {
        let app: App
        /// What it means for the app, or why it must lead nowhere.
        let link: Result<TappedLink, FieldProblems>
    }

    /// Reads an address.
    ///
    /// - Parameters:
    ///   - path: below the host, without the slash at its beginning; Firebase allowed one before the query.
    ///   - query: decoded.
    ///   - apps: those that it may be of.
    /// - Returns: nil where it is no long link, or no app's.
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

    /// As above, for what follows the host in an address: `?link=…`, with or without a path before it.
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
