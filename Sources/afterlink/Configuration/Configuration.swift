package import Attribution
package import HTTPServer
package import Server

/// The operator's configuration: every setting with a valid value.
///
/// The initial value of a property is the setting's default. The modules' own configurations have defaults too, which
/// hold only for callers without this configuration, such as tests.
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
    package var serverKeyPath: String { serverKeyFile ?? databasePath + ".key" }

    /// The path of the address keys.
    package var addressKeyPath: String { databasePath + KeyCopy.addressSuffix }

    static let standardConnections = 20_000
    /// Below this number, a service without --maximum-connections warns how few connections it takes.
    static let connectionsWorthHaving = 10_000

    /// Returns the number of connections that the given number of files and sockets allows.
    package func connectionLimit(descriptors: Int) -> Int {
        maximumConnections ?? max(1, min(Self.standardConnections, descriptors))
    }
}

/// The failures that an acknowledged write survives.
///
/// The raw value is the word of the setting.
package enum StoreDurability: String, Sendable {
    /// A power cut.
    case full
    /// The end of the process; a power cut may take the last seconds.
    case relaxed
}

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

extension Configuration {
    /// Something that is wrong about a setting only when another one is looked at with it.
    struct SettingConflict {
        /// The setting's name.
        let setting: String
        /// Nil where the value is secret or says nothing.
        let value: String?
        let sentence: String
    }

    var conflicts: [SettingConflict] {
        var conflicts: [SettingConflict] = []
        conflicts += testClockConflicts
        if let metricsListen, metricsListen == listen, listen.address.port != 0 {
            let sentence = "must be another address or port than --listen"
            conflicts.append(
                SettingConflict(setting: "metrics-listen", value: "\(metricsListen)", sentence: sentence)
            )
        }
        conflicts += tlsConflicts
        if let initialAppKey, initialAppKey.text == initialAdminKey?.text {
            let sentence = "must be another key than AFTERLINK_INITIAL_APP_KEY"
            conflicts.append(SettingConflict(setting: "initial-admin-key", value: nil, sentence: sentence))
        }
        return conflicts
    }

    /// A clock that anybody can set stays on this machine, and off everything that looks like a real service.
    private var testClockConflicts: [SettingConflict] {
        guard usesTestClock else { return [] }
        var sentences = [listen, metricsListen].compactMap(\.self).filter { !$0.isLoopback }.map { address in
            "lets anybody who can reach \(address) set the time; it works on 127.0.0.1 and ::1 only"
        }
        if tlsCertificate != nil || tlsKey != nil {
            sentences.append(
                "is for tests and is not served over TLS; leave out --tls-certificate and --tls-key"
            )
        }
        return sentences.map { SettingConflict(setting: "unsafe-test-clock", value: nil, sentence: $0) }
    }

    /// Refuses one of the two alone: its operator expects HTTPS, so plain HTTP must not be served.
    private var tlsConflicts: [SettingConflict] {
        switch (tlsCertificate, tlsKey) {
        case (let certificate?, nil):
            [
                SettingConflict(
                    setting: "tls-certificate",
                    value: certificate,
                    sentence: "needs --tls-key with it"
                )
            ]
        case (nil, let key?):
            [SettingConflict(setting: "tls-key", value: key, sentence: "needs --tls-certificate with it")]
        default: []
        }
    }
}

extension ListenAddress {
    /// Whether only this machine can reach it: 127.0.0.0/8 or ::1.
    var isLoopback: Bool {
        if let ipv4 = address.ipv4 { return ipv4 >> 24 == 127 }
        return address.high == 0 && address.low == 1
    }
}

// The modules' own configurations.

extension Configuration {
    var serviceSettings: ServiceSettings {
        var settings = ServiceSettings(version: ProgramVersion.text)
        settings.attributionWindow = attributionWindow
        settings.replayGrace = replayGrace * 1000
        settings.trustedProxies = TrustedProxies(trustedProxies)
        settings.rateLimits = rateLimits
        settings.usesTestClock = usesTestClock
        if domainWatch > 0 { settings.domainWatch = DomainFileMonitor(domainCopies) }
        return settings
    }

    func serverConfiguration(_ tls: TLSTermination?) -> HTTPServerConfiguration {
        var settings = HTTPServerConfiguration(listenAddress: listen, loopCount: threads)
        settings.tls = tls
        settings.limits = limits
        settings.timeouts = timeouts
        if let maximumConnections { settings.maximumConnections = maximumConnections }
        settings.requestMemoryByteCount = requestMemory
        return settings
    }

    /// Nil where metrics have no address of their own, which is for the inside and always speaks plain HTTP.
    var metricsConfiguration: HTTPServerConfiguration? {
        metricsListen.map { HTTPServerConfiguration(listenAddress: $0, loopCount: 1) }
    }
}
