package import Attribution
package import HTTPServer
package import Server
package import Storage

/// The operator's configuration: a valid value for every setting.
///
/// The initial value of a property is the setting's default. The configurations of the modules have defaults, too, which
/// apply only to code that does not use this configuration, such as tests.
package struct Configuration: Sendable {
    package var listen = ListenAddress(PeerAddress(ipv4: 0x7F00_0001, port: 8080))
    package var metricsListen: ListenAddress?
    package var dashboardListen = DashboardListen.standard
    /// The host for which ``listen`` serves only the dashboard, and receives Apple's postbacks; nil for none.
    package var dashboardHost: LinkHost?
    /// Nil for plain HTTP; set together with ``tlsKey``.
    package var tlsCertificate: String?
    package var tlsKey: String?
    package var trustedProxies: [AddressRange] = []
    /// The number of event loops; 0 for one per core.
    package var threads = 0
    /// Nil for 20,000, or fewer if the process's limit of open files is lower.
    package var maximumConnections: Int?
    /// The result of ``refusedConnectionLimit(descriptors:)``, which the start sets.
    var maximumRefusedConnections = standardRefusedConnections
    /// The limit of clicks if ``clickRateLimit`` is nil, and of checks if ``checkRateLimit`` is nil.
    package var rateLimit: RateLimitChoice?
    package var clickRateLimit: RateLimitChoice?
    package var checkRateLimit: RateLimitChoice?
    package var adminRateLimit: RateLimitChoice?
    package var pictureRateLimit: RateLimitChoice?
    package var applePostbackRateLimit: RateLimitChoice?

    /// The URL of a PostgreSQL database, or the path of a file relative to ``dataDirectory``; see ``databasePath``.
    package var database = "afterlink.db"
    /// The file with the password of a PostgreSQL database; nil for libpq's own sources.
    package var databasePasswordFile: String?
    package var dataDirectory = "."
    package var durability = Durability.full
    /// Nil for ``databasePath`` with the suffix `.key`.
    package var serverKeyFile: String?
    /// The file of the secret that encrypts the keyring in a shared database; nil for keys in files.
    package var secretFile: String?

    package var attributionWindow = AttributionWindow.standard
    /// How long a caller without an install id may get the same result again, in seconds.
    package var replayGrace: Int64 = 60
    package var playBounds = PlayBounds.standard
    /// The time from the end of a click's window to its deletion, in seconds.
    package var retention = Configuration.standardRetention
    /// The time for which entries of the audit log are stored, in seconds: 400 days.
    package var auditRetention: Int64 = 34_560_000
    /// The time for which events of the outbox are stored, in seconds: 30 days.
    package var outboxRetention: Int64 = 2_592_000
    package var postbackAllowances: [PostbackAllowance] = []
    /// The time from a check to the deletion of its record, in seconds; nil for ``retention``.
    package var retentionChecks: Int64?
    /// The time from the end of a consumed click's window to its deletion, in seconds; nil for the default of
    /// ``usedRetentionOfMatches``.
    package var retentionMatches: Int64?
    /// The time for which events and the matches of their installations are stored, in seconds: 400 days.
    package var retentionInstalls: Int64 = 34_560_000

    /// Files that replace built-in tables and pages; see ``TableFiles``.
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
    /// The maximum memory of all unfinished requests together, in bytes.
    package var requestMemory = 64 * 1024 * 1024
    /// The maximum number of writes that wait for the disk.
    package var queueLimit = 8192
    package var timeouts = Timeouts()
    /// The time for requests in flight to finish after a signal to stop, in seconds.
    package var shutdownGrace: Int64 = 7

    /// Nil for text on a terminal and JSON elsewhere.
    package var logFormat: LogFormat?
    /// Nil for standard error.
    package var logFile: String?

    package var usesTestClock = false
    /// Whether the operator vouches for the clock with `--accept-clock`.
    package var acceptsClock = false

    package init() {}

    private static let standardRetention: Int64 = 604_800
    private static let standardRetentionOfMatches: Int64 = 90 * 86_400

    /// The time from the end of a consumed click's window to its deletion, in seconds.
    ///
    /// A changed ``retention`` applies to these clicks too, so that 0 stores no click for longer than its window. A
    /// PostgreSQL database drops the clicks of a day together; with a longer time for a few, it would delete all others
    /// row by row.
    package var usedRetentionOfMatches: Int64 {
        if let retentionMatches { return retentionMatches }
        return isOnServer || retention != Self.standardRetention ? retention : Self.standardRetentionOfMatches
    }

    /// Whether the database is a PostgreSQL server, and not a file.
    package var isOnServer: Bool { DatabaseURL.scheme(of: database) != nil }

    /// The path of the database file; with a PostgreSQL server, the path that key files of this machine begin with.
    package var databasePath: String {
        let path = isOnServer ? Self.pathBesideServer : database
        guard !path.hasPrefix("/"), dataDirectory != "." else { return path }
        return dataDirectory.hasSuffix("/") ? dataDirectory + path : dataDirectory + "/" + path
    }

    private static let pathBesideServer = "afterlink"

    /// The database as messages name it: a path, or a URL without user, password and parameters.
    package var databaseName: String { isOnServer ? DatabaseURL.withoutSecrets(database) : databasePath }

    /// The path of the server keys.
    package var serverKeyPath: String { serverKeyFile ?? databasePath + KeyCopy.serverSuffix }

    /// The path of the address keys.
    package var addressKeyPath: String {
        // With a database server, both key files are in one folder.
        guard isOnServer, let serverKeyFile else { return databasePath + KeyCopy.addressSuffix }
        let suffix = KeyCopy.serverSuffix
        let start =
            serverKeyFile.hasSuffix(suffix) ? serverKeyFile.dropLast(suffix.count) : serverKeyFile[...]
        return start + KeyCopy.addressSuffix
    }

    static let standardConnections = 20_000
    static let standardRefusedConnections = 1024
    /// A service without --maximum-connections logs a warning if its limit of connections is below this number.
    static let connectionsWorthHaving = 10_000

    /// The number of descriptors that are reserved for other uses than connections: databases, listeners, the log.
    ///
    /// Each event loop uses six of them. About twenty are used for any number of loops, and the others are spare.
    package var reservedDescriptors: Int { max(100, 52 + 6 * serverConfiguration(nil).loopCount) }

    /// Returns ``maximumConnections``, or else the number of connections that the given number of descriptors allows.
    package func connectionLimit(descriptors: Int) -> Int {
        maximumConnections ?? max(1, min(Self.standardConnections, descriptors))
    }

    /// Returns the number of refused connections that may stay open until their 503 has arrived.
    ///
    /// They may use only the given descriptors that ``connectionLimit(descriptors:)`` leaves.
    package func refusedConnectionLimit(descriptors: Int) -> Int {
        max(0, min(Self.standardRefusedConnections, descriptors - connectionLimit(descriptors: descriptors)))
    }
}

/// The address at which the dashboard is served.
package enum DashboardListen: Equatable, Sendable {
    case off
    /// On 127.0.0.1:8081, unless another program has this address.
    case standard
    case named(ListenAddress)

    /// The address; nil if the dashboard is off.
    package var address: ListenAddress? {
        switch self {
        case .off: nil
        case .standard: ListenAddress(PeerAddress(ipv4: 0x7F00_0001, port: 8081))
        case .named(let address): address
        }
    }
}

/// An operator's choice of a rate limit.
package enum RateLimitChoice: Equatable, Sendable {
    case off
    case limit(RateLimit)
}

extension Configuration {
    /// The limits by class of request: from the class's setting, else from `--rate-limit`, else the default.
    ///
    /// `--rate-limit` applies to clicks and checks only, but its value `off` applies to all classes. A configured limit
    /// also counts requests from this machine; the default limits do not.
    package var rateLimits: RateLimits {
        let general = rateLimit
        var limits = RateLimits.standard
        set(clickRateLimit ?? general, .clicks, &limits)
        set(checkRateLimit ?? general, .checks, &limits)
        set(adminRateLimit ?? (general == .off ? .off : nil), .admin, &limits)
        set(pictureRateLimit ?? (general == .off ? .off : nil), .pictures, &limits)
        set(applePostbackRateLimit ?? (general == .off ? .off : nil), .applePostbacks, &limits)
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

extension Configuration {
    /// A contradiction between settings: the name of one, its value if that is to be shown, and a sentence.
    typealias SettingConflict = (setting: String, value: String?, sentence: String)

    var conflicts: [SettingConflict] {
        var conflicts = testClockConflicts
        if let metricsListen, metricsListen == listen, listen.address.port != 0 {
            let sentence = "must be another address or port than --listen"
            conflicts.append(("metrics-listen", "\(metricsListen)", sentence))
        }
        if case .named(let address) = dashboardListen, address.address.port != 0,
            address == listen || address == metricsListen
        {
            let sentence = "must be another address or port than --listen and --metrics-listen"
            conflicts.append(("dashboard-listen", "\(address)", sentence))
        }
        // An operator who gives one of the two files expects HTTPS, so plain HTTP must not be served.
        if let tlsCertificate, tlsKey == nil {
            conflicts.append(("tls-certificate", tlsCertificate, "needs --tls-key with it"))
        }
        if let tlsKey, tlsCertificate == nil {
            conflicts.append(("tls-key", tlsKey, "needs --tls-certificate with it"))
        }
        if let secretFile, !isOnServer {
            let sentence = "is for a PostgreSQL database; an SQLite database has its keys in files beside it"
            conflicts.append(("secret-file", secretFile, sentence))
        }
        if let initialAppKey, initialAppKey.text == initialAdminKey?.text {
            let sentence = "must be another key than AFTERLINK_INITIAL_APP_KEY"
            conflicts.append(("initial-admin-key", nil, sentence))
        }
        return conflicts
    }

    /// The conflicts of the test clock, which any client can set: with addresses beyond loopback, and with TLS.
    private var testClockConflicts: [SettingConflict] {
        guard usesTestClock else { return [] }
        var sentences = [listen, metricsListen, dashboardListen.address].compactMap(\.self).filter {
            !$0.isLoopback
        }.map { address in
            "lets every client of \(address) set the time; it works on 127.0.0.1 and ::1 only"
        }
        if tlsCertificate != nil || tlsKey != nil {
            sentences.append(
                "is for tests and does not work with TLS; leave out --tls-certificate and --tls-key"
            )
        }
        return sentences.map { ("unsafe-test-clock", nil, $0) }
    }
}

extension ListenAddress {
    /// Whether only this machine can reach the address: 127.0.0.0/8 or ::1.
    var isLoopback: Bool {
        if let ipv4 = address.ipv4 { return ipv4 >> 24 == 127 }
        return address.high == 0 && address.low == 1
    }
}

// The configurations of the modules.

extension Configuration {
    var serviceSettings: ServiceSettings {
        var settings = ServiceSettings(version: ProgramVersion.text)
        settings.attributionWindow = attributionWindow
        settings.replayGrace = replayGrace * 1000
        settings.playBounds = playBounds
        settings.trustedProxies = TrustedProxies(trustedProxies)
        settings.rateLimits = rateLimits
        settings.usesTestClock = usesTestClock
        settings.dashboardHost = dashboardHost
        if domainWatch > 0 { settings.domainWatch = DomainFileMonitor(domainCopies) }
        return settings
    }

    func serverConfiguration(_ tls: TLSTermination?) -> HTTPServerConfiguration {
        var settings = HTTPServerConfiguration(listenAddress: listen, loopCount: threads)
        settings.tls = tls
        settings.limits = limits
        settings.limits.bodiesByPath = Service.bodiesByPath
        settings.timeouts = timeouts
        if let maximumConnections { settings.maximumConnections = maximumConnections }
        settings.maximumRefusedConnections = maximumRefusedConnections
        settings.requestMemoryByteCount = requestMemory
        return settings
    }
}
