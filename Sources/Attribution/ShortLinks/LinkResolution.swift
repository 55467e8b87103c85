/// Finds the target of a tap on a link.
extension Link.Settings {
    /// Returns the variant for a visitor, always the same for the same hash; nil if the link has no variants.
    ///
    /// `visitor` is a uniformly distributed keyed hash of the values that distinguish the visitor.
    public func variant(for visitor: UInt64) -> Link.Variant? {
        let total = variants.reduce(0) { $0 + $1.weight }
        guard total > 0 else { return nil }
        var rest = Int(visitor % UInt64(total))
        for variant in variants {
            guard rest >= variant.weight else { return variant }
            rest -= variant.weight
        }
        return variants.last
    }

    public func variant(named name: String) -> Link.Variant? { variants.first { $0.name == name } }

    /// Returns the variant's deep link, else the platform's own, else the one for all platforms, else the
    /// other platform's.
    ///
    /// The URL of a path starts with the app's scheme on the platform, or else with its other scheme. The
    /// result is nil if there is no deep link, or if it is a path and the app has no scheme. Platforms other
    /// than Android count as iOS.
    public func deepLink(_ variant: Link.Variant?, on platform: Platform, of app: AppLinks) -> DeepLinkURL? {
        let target =
            variant?.target
            ?? (platform == .android ? androidTarget : iosTarget)
            ?? self.target
            ?? iosTarget ?? androidTarget
        switch target {
        case nil: return nil
        case .url(let url): return url
        case .path(let path):
            let scheme =
                platform == .android
                ? app.android.scheme ?? app.apple.scheme : app.apple.scheme ?? app.android.scheme
            return scheme.flatMap(path.url(scheme:))
        }
    }

    /// Returns the parameters of a tapped link's query that are passed on to its destination.
    public func passed(_ query: [QueryItem]) -> [QueryItem] {
        query.filter { passedParameters.contains($0.name) }
    }
}

extension Link {
    /// Returns the reason why a tap leads nowhere; nil if it leads somewhere.
    public func ending(at now: Timestamp, clicks: Int) -> Ending? {
        Self.ending(
            isArchived: archivedAt != nil,
            expiresAt: settings.expiresAt,
            maximumClicks: settings.maximumClicks,
            clicks: clicks,
            at: now
        )
    }

    /// Returns the reason why a tap leads nowhere, for a caller that has only these values of the link.
    public static func ending(
        isArchived: Bool,
        expiresAt: Timestamp?,
        maximumClicks: Int?,
        clicks: Int,
        at now: Timestamp
    ) -> Ending? {
        if isArchived { return .archived }
        if let expiresAt, now >= expiresAt { return .expired }
        if let maximumClicks, clicks >= maximumClicks { return .usedUp }
        return nil
    }

    public enum Ending: String, Sendable {
        case archived
        case expired
        /// The link has reached its maximum of clicks.
        case usedUp = "used_up"
    }
}

extension DeepLinkURL {
    /// Returns the link with these parameters added to its query, before the fragment.
    ///
    /// Existing parameters remain, and an item whose name the query already has is not added. Added names and values
    /// are percent-encoded. A link that would become too long for clients is returned unchanged.
    public func adding(_ items: [QueryItem]) -> DeepLinkURL {
        let names = Set(queryItems.map(\.name))
        let added = items.filter { !names.contains($0.name) }
        guard !added.isEmpty else { return self }
        let text = appending(
            added.map {
                (name: String(decoding: PercentEncoding.queryValue($0.name), as: UTF8.self), $0.value)
            }
        )
        guard text.utf8.count <= Self.maximumLength else { return self }
        return DeepLinkURL(stored: text)
    }
}

/// A link that a visitor taps: a stored link, or a long link, whose URL contains all its settings.
public struct TappedLink: Equatable, Sendable {
    /// The stored link; nil for a long link, whose clicks are counted for no link.
    public let id: LinkID?
    public let app: AppID
    /// The path on the link host, without the leading slash; empty for the host itself.
    public let path: String
    /// The query parameters of the tapped URL that describe a long link; empty for a stored link.
    public let spelling: [QueryItem]
    public let settings: Link.Settings

    /// Creates the tapped link from a stored one.
    public init(_ link: Link) {
        id = link.id
        app = link.app
        path = link.slug.text
        spelling = []
        settings = link.settings
    }

    /// Creates the tapped link from a long one.
    ///
    /// - Parameters:
    ///   - longLink: the link that the tapped URL contains.
    ///   - path: the path of that URL, as in ``path``.
    ///   - app: the app of the link.
    /// - Throws: ``FieldProblems``: the reasons why the link must lead nowhere.
    public init(_ longLink: FirebaseLongLink, at path: String, of app: App) throws(FieldProblems) {
        id = nil
        self.app = app.id
        self.path = path
        spelling = longLink.link.items
        settings = try longLink.settings(for: app.settings)
    }

    /// The name of the link on its clicks: the slug, or for a long link, its path and ``spelling``.
    public var name: String { spelling.isEmpty ? path : "\(path)?\(QueryItem.query(of: spelling))" }

    /// Returns the variant for a visitor.
    ///
    /// - Parameter choice: returns the visitor's hash for ``Link/Settings/variant(for:)``; it is called only
    ///   if there are variants.
    /// - Returns: nil if the link has no variants, and for a long link.
    public func variant(choice: (LinkID) -> UInt64) -> Link.Variant? {
        guard let id, !settings.variants.isEmpty else { return nil }
        return settings.variant(for: choice(id))
    }

    /// Returns the items of the tapped URL's query that do not describe the link itself.
    public func additionalItems(of query: [QueryItem]) -> [QueryItem] {
        let names = Set(spelling.map(\.name))
        return query.filter { !names.contains($0.name) }
    }
}
