internal import Server

// The rows of the table for how much one address may ask for.

extension Setting {
    static let rateLimits: [Setting] = [
        rateLimit(
            "rate-limit",
            default: "for each, see below",
            into: \.rateLimit,
            help:
                "Clicks and checks that one address may send, counted apart; more are answered 429. Many phones"
                + " share an address: leave room. `off` switches all limits off that are not set by themselves."
        ),
        rateLimit(
            "rate-limit-clicks",
            default: standard(.clicks),
            into: \.clickRateLimit,
            help: "The same for clicks alone. A server key is not limited."
        ),
        rateLimit(
            "rate-limit-checks",
            default: standard(.checks),
            into: \.checkRateLimit,
            help: "The same for checks alone. A server key is not limited."
        ),
        rateLimit(
            "rate-limit-admin",
            default: standard(.admin),
            into: \.adminRateLimit,
            help: "Calls of /admin and /metrics that one address may make."
        ),
        rateLimit(
            "rate-limit-pictures",
            default: standard(.pictures),
            into: \.pictureRateLimit,
            help: "QR codes that one address may ask for."
        ),
    ]

    private static func standard(_ limitClass: RateLimitClass) -> String {
        let limit = RateLimits.standardLimit(limitClass).map(\.text) ?? "off"
        return "\(limit), this machine's own requests apart"
    }

    private static func rateLimit(
        _ name: String,
        default defaultText: String,
        into path: any WritableKeyPath<Configuration, RateLimitChoice?> & Sendable,
        help: String
    ) -> Setting {
        Setting(
            name,
            .network,
            "N/s:BURST",
            default: defaultText,
            allowed: "off, or so many a second and so many at once, as in 20/s:500",
            help: help,
            intoOptional: path,
            ValueText.rateLimit
        )
    }
}
