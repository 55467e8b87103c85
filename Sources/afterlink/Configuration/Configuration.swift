package import Attribution
package import HTTPServer
package import Server

/// The operator's configuration: every setting with a valid value.
package struct Configuration: Sendable {
    package var listen = ListenAddress(PeerAddress(ipv4: 0x7F00_0001, port: 8080))
    package var metricsListen: ListenAddress?
    /// Nil for plain HTTP; set together with ``tlsKey``.
    package var tlsCertificate: String?
    package var tlsKey: String?
    package var trustedProxies: [AddressRange] = []
    /// 0 stands for one a core.
    package var threads = 0
    /// Nil for as many as the process's limit of open files lets it have, 20,000 at most.
    package var maximumConnections: Int?
    /// For clicks and checks, where these have no limit of their own.
    package var rateLimit: RateLimitChoice?
    package var clickRateLimit: RateLimitChoice?
    package var checkRateLimit: RateLimitChoice?
    package var adminRateLimit: RateLimitChoice?
    package var pictureRateLimit: RateLimitChoice?

    /// As it was given; relative to ``dataDirectory``.
    package var database = "afterlink.db"
    package var dataDirectory = "."
    package var durability = StoreDurability.full
    /// Nil for the database's path and `.key`.
    package var serverKeyFile: String?

    package var attributionWindow = AttributionWindow.standard
    /// In seconds.
    package var replayGrace: Int64 = 60
    /// In seconds after a click's expiry.
    package var retention: Int64 = 604_800

    /// Files that replace what is built in; see ``TableFiles``.
    package var deviceData: String?
    package var robots: String?
    package var relayRanges: String?
    package var landingPage: String?

    /// The interval in seconds at which the copies of domain files are read; 0 for never.
    package var domainWatch: Int64 = 0
    /// The addresses of Apple's and Google's copies, with `{host}` instead of the host.
    package var domainCopies = DomainFileMonitor.Copies()

    package var appName = "app"
    package var destinations: [String] = []
    package var initialAppKey: KeyText?
    package var initialAdminKey: KeyText?

    package var limits = Limits()
    /// In bytes.
    package var requestMemory = 64 * 1024 * 1024
    /// Writes that may wait for the disk.
    package var queueLimit = 8192
    package var timeouts = Timeouts()
    package var shutdownGrace: Int64 = 7

    /// Nil for text on a terminal and JSON elsewhere.
    package var logFormat: LogFormat?
    /// Nil for standard error.
    package var logFile: String?

    package var usesTestClock = false
    /// Whether the operator says that the clock is right; an option of `serve` alone.
    package var acceptsClock = false

    package init() {}

    /// The path of the database.
    package var databasePath: String {
        guard !database.hasPrefix("/"), dataDirectory != "." else { return database }
        return dataDirectory.hasSuffix("/") ? dataDirectory + database : dataDirectory + "/" + database
    }

    /// The path of the server keys.
    package var serverKeyPath: String {
        serverKeyFile ?? databasePath + ".key"
    }

    /// The path of the address keys.
    package var addressKeyPath: String { databasePath + KeyCopy.addressSuffix }

    private static let standardConnections = 20_000
    /// Below this number, a service without --maximum-connections warns how few connections it takes.
    static let connectionsWorthHaving = 10_000

    /// Returns the number of connections that the given number of files and sockets allows.
    package func connectionLimit(descriptors: Int) -> Int {
        maximumConnections ?? max(1, min(Self.standardConnections, descriptors))
    }
}
