internal import Server

// The rows of the table for how much one address may ask for.

extension Setting {
    static let rateLimits: [Setting] = [
        rateLimit(
            "rate-limit",
            default: "for each, see below",
            into: \.rateLimit,
            help:
                "Limit the clicks and the checks of one address, counted separately; more get 429. Many"
                + " phones share an address: leave room. `off` switches off every limit that is not set"
                + " itself."
        ),
        rateLimit(
            "rate-limit-clicks",
            default: standard(.clicks),
            into: \.clickRateLimit,
            help: "The same for clicks only. A server key is not limited."
        ),
        rateLimit(
            "rate-limit-checks",
            default: standard(.checks),
            into: \.checkRateLimit,
            help: "The same for checks only. A server key is not limited."
        ),
        rateLimit(
            "rate-limit-admin",
            default: standard(.admin),
            into: \.adminRateLimit,
            help: "Limit the requests of one address to /admin and /metrics."
        ),
        rateLimit(
            "rate-limit-pictures",
            default: standard(.pictures),
            into: \.pictureRateLimit,
            help: "Limit the QR codes that one address may request."
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
            allowed: "off, or a number a second and a number at once, as in 20/s:500",
            help: help,
            intoOptional: path,
            ValueText.rateLimit
        )
    }
}
