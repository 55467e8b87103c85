/// Where a tap of a link leads.
extension Link.Settings {
    /// Which of the variants a visitor gets: always the same one for the same hash.
    ///
    /// Nil where there are none. `visitor` is a keyed hash, evenly spread, of what tells the visitor from others.
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

    /// The variant of this name.
    public func variant(named name: String) -> Link.Variant? {
        variants.first { $0.name == name }
    }

    /// The deep link for a platform, by the variant that ``variant(for:)`` chose; nil where the link has none for it.
    ///
    /// Other platforms than Apple's and Google's get what the first has, or else the second.
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

    /// The parameters of a tapped link's query that go on to its destination: those on its list.
    public func passed(_ query: [QueryItem]) -> [QueryItem] {
        query.filter { passedParameters.contains($0.name) }
    }
}

extension Link {
    /// Why a tap leads nowhere; nil where it leads somewhere.
    public func ending(at now: Timestamp, clicks: Int) -> Ending? {
        Self.ending(
            isArchived: archivedAt != nil,
            expiresAt: settings.expiresAt,
            maximumClicks: settings.maximumClicks,
            clicks: clicks,
            at: now
        )
    }

    /// As above, for whoever has no more of a link at hand than this.
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
        /// As many clicks as it may have.
        case usedUp = "used_up"
    }
}

extension DeepLinkURL {
    /// The link with these parameters added to its query, before the fragment.
    ///
    /// What the link says itself is left alone, and everything is encoded anew; a link that would become too long for
    /// clients stays as it is.
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
