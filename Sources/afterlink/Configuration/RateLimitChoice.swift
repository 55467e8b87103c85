package import Server

/// An operator's choice of a rate limit.
package enum RateLimitChoice: Equatable, Sendable {
    case off
    case limit(RateLimit)
}

extension Configuration {
    /// A class's own limit, else the general one, else what is usual.
    ///
    /// The general one names clicks and checks; `off` switches off the others, too. A limit that was
    /// asked for counts this machine's own requests, which the usual ones let pass.
    package var rateLimits: RateLimits {
        let general = rateLimit
        var limits = RateLimits.standard
        set(clickRateLimit ?? general, .clicks, &limits)
        set(checkRateLimit ?? general, .checks, &limits)
        set(adminRateLimit ?? (general == .off ? .off : nil), .admin, &limits)
        set(pictureRateLimit ?? (general == .off ? .off : nil), .pictures, &limits)
        return limits
    }

    private func set(_ choice: RateLimitChoice?, _ limitClass: RateLimitClass, _ limits: inout RateLimits) {
        switch choice {
        case .off: limits[limitClass] = nil
        case .limit(let limit): limits[limitClass] = RateLimits.Rule(limit, countsLoopback: true)
        case nil: break
        }
    }
}
