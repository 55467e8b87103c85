/// A class of requests that share one limit for each address.
public enum RateLimitClass: String, CaseIterable, Sendable {
    case clicks, checks, admin
    /// QR codes, each of which is drawn for its request.
    case pictures
}

/// How many requests one address may make, by class.
public struct RateLimits: Equatable, Sendable {
    /// A limit, and whether it holds for this machine itself.
    public struct Rule: Equatable, Sendable {
        public var limit: RateLimit
        /// Whether requests from this machine itself count too.
        public var countsLoopback: Bool

        public init(_ limit: RateLimit, countsLoopback: Bool) {
            self.limit = limit
            self.countsLoopback = countsLoopback
        }
    }

    private var rules: [RateLimitClass: Rule] = [:]

    /// No limits at all.
    public init() {}

    /// The class's rule; nil where there is no limit.
    public subscript(_ limitClass: RateLimitClass) -> Rule? {
        get { rules[limitClass] }
        set { rules[limitClass] = newValue }
    }

    /// The limits where the operator sets none.
    ///
    /// A carrier's network may stand behind one address with ten thousand phones and more, and a check that is
    /// refused can cost an old client its attribution for good: so a burst of ten thousand passes, and 500 a
    /// second after it. That is many times what a campaign brings from one carrier's address, and a small part of
    /// what one machine serves. This machine itself is not limited: behind a proxy on it that the settings do not
    /// name as trusted, all clients would share one bucket.
    public static let standard: RateLimits = {
        var limits = RateLimits()
        for limitClass in RateLimitClass.allCases {
            limits[limitClass] = standardLimit(limitClass).map { Rule($0, countsLoopback: false) }
        }
        return limits
    }()

    /// As in ``standard``.
    public static func standardLimit(_ limitClass: RateLimitClass) -> RateLimit? {
        switch limitClass {
        case .clicks, .checks: RateLimit(perSecond: 500, burst: 10_000)
        case .admin, .pictures: RateLimit(perSecond: 20, burst: 400)
        }
    }
}

/// A token bucket for each address and class that is limited.
struct RateLimiters: Sendable {
    private let clicks: RateLimiter?
    private let checks: RateLimiter?
    private let admin: RateLimiter?
    private let pictures: RateLimiter?

    init(_ limits: RateLimits) {
        clicks = limits[.clicks].map(RateLimiter.init)
        checks = limits[.checks].map(RateLimiter.init)
        admin = limits[.admin].map(RateLimiter.init)
        pictures = limits[.pictures].map(RateLimiter.init)
    }

    subscript(_ limitClass: RateLimitClass) -> RateLimiter? {
        switch limitClass {
        case .clicks: clicks
        case .checks: checks
        case .admin: admin
        case .pictures: pictures
        }
    }
}
