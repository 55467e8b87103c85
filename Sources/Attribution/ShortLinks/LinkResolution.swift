/// Where a tap of a link leads.
extension Link {
    /// Which of the variants a visitor gets: always the same one for the same hash.
    ///
    /// Nil where there are none. `visitor` is a keyed hash, evenly spread, of what tells the visitor from others.
    public func variant(for visitor: UInt64) -> Variant? {
        let total = settings.variants.reduce(0) { $0 + $1.weight }
        guard total > 0 else { return nil }
        var rest = Int(visitor % UInt64(total))
        for variant in settings.variants {
            guard rest >= variant.weight else { return variant }
            rest -= variant.weight
        }
        return settings.variants.last
    }

    /// The deep link for a platform, by the variant that ``variant(for:)`` chose; nil where the link has none for it.
    ///
    /// Other platforms than Apple's and Google's get what the first has, or else the second.
    public func deepLink(_ variant: Variant?, on platform: Platform, of app: AppLinks) -> DeepLinkURL? {
        let target =
            variant?.target
            ?? (platform == .android ? settings.androidTarget : settings.iosTarget)
            ?? settings.target
            ?? settings.iosTarget ?? settings.androidTarget
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

    /// Why a tap leads nowhere; nil where it leads somewhere.
    public func ending(at now: Timestamp, clicks: Int) -> Ending? {
        if archivedAt != nil { return .archived }
        if let expiresAt = settings.expiresAt, now >= expiresAt { return .expired }
        if let maximum = settings.maximumClicks, clicks >= maximum { return .usedUp }
        return nil
    }

    public enum Ending: Equatable, Sendable {
        case archived
        case expired
        /// As many clicks as it may have.
        case usedUp
    }
}
