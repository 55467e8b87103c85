public import Attribution

/// Whether an app may get other link hosts: on one host no slug may lead to two links.
public enum LinkHostChange {
    /// What stands against it; nil where nothing does.
    ///
    /// - Parameters:
    ///   - app: as it is now.
    ///   - settings: as it is to be.
    ///   - directory: all apps.
    ///   - links: where the links of all apps are.
    /// - Returns: the field that is refused, with what to do.
    /// - Throws: what the store says.
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
            + " \"afterlink links delete\" if nobody has clicked it."
    }
}
