/// A link that somebody taps: one that is kept, or one that its own address spells out.
public struct TappedLink: Equatable, Sendable {
    /// Nil for a link that is kept nowhere, and so is counted under no link.
    public let id: LinkID?
    public let app: AppID
    /// Below the link host, without the slash at its beginning; empty for the host itself.
    public let path: String
    /// What spells the link out, of the address's query; none for a link that is kept.
    public let spelling: [QueryItem]
    public let settings: Link.Settings

    /// A link that is kept.
    public init(_ link: Link) {
        id = link.id
        app = link.app
        path = link.slug.text
        spelling = []
        settings = link.settings
    }

    /// A long link, for one tap.
    ///
    /// - Parameters:
    ///   - longLink: what the address says.
    ///   - path: of the address, as `path` is.
    ///   - app: whose link it is.
    /// - Throws: ``FieldProblems``: why it must lead nowhere.
    public init(_ longLink: FirebaseLongLink, at path: String, of app: App) throws(FieldProblems) {
        id = nil
        self.app = app.id
        self.path = path
        spelling = longLink.link.items
        settings = try longLink.settings(for: app.settings)
    }

    /// By what a click names it: the slug, or for one that is kept nowhere its path and what spells it out.
    public var name: String {
        spelling.isEmpty ? path : "\(path)?\(QueryItem.query(of: spelling))"
    }

    /// Which of the variants a visitor gets.
    ///
    /// - Parameter choice: ``Link/Settings/variant(for:)``'s hash of the visitor, which is asked for where it counts.
    /// - Returns: nil where there are none.
    public func variant(choice: (LinkID) -> UInt64) -> Link.Variant? {
        guard let id, !settings.variants.isEmpty else { return nil }
        return settings.variant(for: choice(id))
    }

    /// What the address was tapped with besides what spells the link out.
    public func besides(_ query: [QueryItem]) -> [QueryItem] {
        let names = Set(spelling.map(\.name))
        return query.filter { !names.contains($0.name) }
    }
}
