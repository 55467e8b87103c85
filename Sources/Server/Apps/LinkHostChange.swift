public import Attribution

/// Checks that an app may get other link hosts: on one host no slug may lead to two links.
public enum LinkHostChange {
    /// Returns the problem of a change of link hosts; nil where there is none.
    ///
    /// - Parameters:
    ///   - app: the app as it is now.
    ///   - settings: its new settings.
    ///   - directory: all apps.
    ///   - links: the store of all apps' links.
    /// - Returns: the refused field, with what to do.
    /// - Throws: a store's failure.
    public static func problem(
        of app: App,
        to settings: App.Settings,
        in directory: Directory,
        _ links: any LinkStore
    ) async throws(StoreError) -> FieldProblem? {
        for other in directory.newNeighbours(of: app, with: settings.links) {
            guard let slug = try await links.sharedSlug(of: app.id, and: other.id) else { continue }
            return FieldProblem(AppLinkField.hosts, message(slug, settings.name, other.settings.name))
        }
        return nil
    }

    private static func message(_ slug: LinkSlug, _ name: String, _ other: String) -> String {
        "The apps \(name) and \(other) both have a link \(slug.text), and on the same link hosts only one of the two"
            + " could be reached. Give the apps different link hosts, or delete one of the two links with"
            + " \"afterlink links delete\" if it has no clicks."
    }
}
