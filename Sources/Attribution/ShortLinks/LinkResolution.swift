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
