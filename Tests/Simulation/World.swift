/// What an app sends at its first launch to find its click.
public enum ClientKind: Sendable {
    /// A hash, as released SDKs do.
    case hash
    /// The device's values, as the client libraries do: the server makes all forms of fingerprints from them.
    case signals
}

/// The parameters of a simulated world, which the server does not know.
public struct World: Sendable {
    /// A share of the delays from click to launch, log-normally distributed.
    ///
    /// The median is in seconds; `sigma` is the standard deviation of the delay's logarithm.
    public struct Delay: Sendable {
        public var share: Double
        public var median: Double
        public var sigma: Double

        public init(share: Double, median: Double, sigma: Double) {
            (self.share, self.median, self.sigma) = (share, median, sigma)
        }
    }

    public var name: String
    public var clicksPerDay: Int
    public var days: Int
    /// The share of visitors who launch the app.
    public var conversionShare = 0.15
    /// The number of organic launches for each launch from a click.
    public var organicPerConversion = 1.0
    public var delays = [
        Delay(share: 0.65, median: 300, sigma: 1), Delay(share: 0.35, median: 10_800, sigma: 1.6),
    ]
    public var iosShare = 0.45
    public var locales = Locales.turkey
    public var networks = Networks()
    public var campaigns = 12
    /// The share of clicks on a personal link, as in referrals.
    public var personalLinks = 0.2
    public var doubleTaps = 0.10
    public var revisits = 0.05
    public var reinstalls = 0.05
    public var retries = 0.04
    /// The share of launches from a click that bring its token.
    public var tokens = 0.0
    /// The share of launches from a click on iPhones that bring its token; nil if it equals `tokens`.
    public var appleTokens: Double?
    public var client = ClientKind.hash
    /// The share of launches whose fingerprint has an unknown language, so no click has the fingerprint.
    public var misspelt = 0.02
    /// The share by which traffic at 15:00 is above the mean, and at 3:00 below it.
    public var diurnal = 0.5
    /// The hours since the start at which additional clicks come, as many as on a whole day, most within half
    /// an hour.
    public var bursts: [Double] = []
    /// Whether the world is an event, with clicks and launches in three short rushes a day.
    public var isEvent = false
    /// The share of launches whose user agent reports the operating system.
    public var honestAgents = 0.7

    /// The name with the number of clicks a day.
    public var label: String { "\(name)-\(clicksPerDay)" }

    public init(name: String, clicksPerDay: Int, days: Int = 3) {
        (self.name, self.clicksPerDay, self.days) = (name, clicksPerDay, days)
    }
}

/// The networks of people, and how their addresses change.
public struct Networks: Sendable {
    public var homes = 3_000_000
    public var carrierAddresses = 3000
    public var offices = 30_000
    public var venueAddresses = 0
    public var homeShare = 0.50
    public var carrierShare = 0.38
    public var officeShare = 0.08
    public var venueShare = 0.0
    /// The share of iPhones' clicks and launches through a relay.
    public var relay = 0.05
    /// The shares of people who are still in the same network after a time.
    ///
    /// The times are up to ten minutes, up to an hour, up to four hours, up to twelve hours, and longer.
    public var stays = [0.86, 0.78, 0.62, 0.52, 0.48]
    /// The mean number of seconds after which a carrier assigns another address.
    public var carrierLease = 4.0 * 3600
    public var homeLease = 4.0 * 86_400
    /// The share of changed addresses that stay in the same /24 network.
    public var nearby = 0.25
    /// Whether no launch has the address of its click.
    public var neverAgree = false
    /// The share of clicks and launches with an unknown address, on every platform.
    public var hidden = 0.0
    /// Whether all addresses are unknown.
    public var unknown = false

    public init() {}
}

/// Time zones and languages with their shares.
public struct Locales: Sendable {
    public var entries: [(zone: String, language: String, share: Double)]

    public static let turkey = Locales(entries: [
        ("Europe/Istanbul", "tr", 0.90), ("Europe/Istanbul", "en", 0.055), ("Europe/Istanbul", "ar", 0.015),
        ("Europe/Istanbul", "ru", 0.01), ("Europe/Berlin", "tr", 0.01), ("Europe/Berlin", "de", 0.005),
        ("Asia/Dubai", "tr", 0.005),
    ])

    public static let world: Locales = {
        let zones = [
            ("America/New_York", "en"), ("Asia/Kolkata", "en"), ("America/Sao_Paulo", "pt"),
            ("Europe/London", "en"), ("America/Los_Angeles", "en"), ("Europe/Berlin", "de"),
            ("Asia/Jakarta", "id"), ("Europe/Istanbul", "tr"), ("America/Mexico_City", "es"),
            ("Europe/Paris", "fr"), ("America/Chicago", "en"), ("Asia/Tokyo", "ja"), ("Europe/Madrid", "es"),
            ("Asia/Kolkata", "hi"), ("Europe/Rome", "it"), ("Asia/Manila", "en"), ("Africa/Cairo", "ar"),
            ("Asia/Ho_Chi_Minh", "vi"), ("Asia/Bangkok", "th"), ("Europe/Warsaw", "pl"),
            ("Africa/Lagos", "en"), ("America/Bogota", "es"), ("Asia/Karachi", "ur"), ("Asia/Dubai", "ar"),
            ("America/Argentina/Buenos_Aires", "es"), ("Europe/Amsterdam", "nl"), ("Asia/Seoul", "ko"),
            ("America/Toronto", "en"), ("Australia/Sydney", "en"), ("Europe/Kyiv", "uk"),
        ]
        return Locales(entries: zones.enumerated().map { ($1.0, $1.1, 1 / Double($0 + 3)) })
    }()
}
