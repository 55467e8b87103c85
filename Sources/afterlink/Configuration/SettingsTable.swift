internal import HTTPServer
internal import Server

// The one table of settings. A new setting is a row here and a property of `Configuration`, whose initial value is the
// default.

extension Setting {
    /// Every setting, in the order of the documentation.
    package static let all: [Setting] =
        (network + rateLimits).map { $0.under(.network) } + database.map { $0.under(.database) }
        + matching.map { $0.under(.matching) } + links.map { $0.under(.links) }
        + domains.map { $0.under(.domains) } + postbacks.map { $0.under(.postbacks) }
        + firstStart.map { $0.under(.firstStart) }
        + limits.map { $0.under(.limits) } + timeLimits.map { $0.under(.timeLimits) }
        + log.map { $0.under(.log) } + tests.map { $0.under(.tests) }

    private static let network: [Setting] = [
        value("listen", .address(8080), into: \.listen)
            .saying("Serve clicks and first launches on this address. Port 0 picks a free port."),
        optional("metrics-listen", .address(9090), default: "none", into: \.metricsListen)
            .saying(
                "Serve /metrics, /healthz and /readyz without a key. Keep this address off the internet."
            ),
        value("dashboard-listen", .dashboardListen, into: \.dashboardListen)
            .saying(
                "Serve the dashboard on this address, or `off`. Beyond loopback it uses --tls-certificate. If the default"
                    + " address is taken, the service runs without a dashboard."
            ),
        optional("dashboard-host", .host, default: "none", into: \.dashboardHost)
            .saying(
                "Serve the dashboard on --listen, too, for this host alone. It must not be a host of an app. Signing in needs"
                    + " HTTPS: --tls-certificate, or a --trusted-proxy that sends X-Forwarded-Proto."
            ),
        repeated("trusted-proxy", .addressRange, default: "none", into: \.trustedProxies)
            .saying("Trust the X-Forwarded-For and Forwarded headers of these proxies."),
        value("threads", .number(1...256), default: "one per core", into: \.threads)
            .saying("Number of event loops, each a thread with its own connections and database view."),
        optional(
            "maximum-connections",
            .number(1...1_000_000),
            default: "\(Configuration.standardConnections), or fewer by the limit of open files",
            into: \.maximumConnections
        ).saying("Maximum number of open connections; one more gets 503."),
        optional("tls-certificate", .file, default: "none, plain HTTP", into: \.tlsCertificate)
            .saying(
                "Certificate chain in PEM, the server's certificate first. With this file and --tls-key, --listen speaks"
                    + " HTTPS. SIGHUP reloads both."
            ),
        optional("tls-key", .file, default: "none", into: \.tlsKey)
            .saying(
                "Private key of --tls-certificate in PEM, without a password. Only its owner may read the file, or root's"
                    + " group if root owns it."
            ),
    ]

    private static let rateLimits: [Setting] = [
        optional("rate-limit", .rateLimit, default: "the next two settings' defaults", into: \.rateLimit)
            .saying(
                "Limit the clicks and events of one address together, and its checks separately; more get 429. Many phones may"
                    + " share an address. `off` switches off every limit whose own setting was not given."
            ),
        optional("rate-limit-clicks", .rateLimit, default: standard(.clicks), into: \.clickRateLimit)
            .saying("Limit the clicks and events of one address. A server key has no limit."),
        optional("rate-limit-checks", .rateLimit, default: standard(.checks), into: \.checkRateLimit)
            .saying("Limit the checks of one address. A server key has no limit."),
        optional("rate-limit-admin", .rateLimit, default: standard(.admin), into: \.adminRateLimit)
            .saying("Limit the requests of one address to /admin and /metrics."),
        optional("rate-limit-pictures", .rateLimit, default: standard(.pictures), into: \.pictureRateLimit)
            .saying("Limit the QR codes that one address may request."),
        optional(
            "rate-limit-apple-postbacks",
            .rateLimit,
            default: standard(.applePostbacks),
            into: \.applePostbackRateLimit
        )
        .saying("Limit the postbacks of Apple's frameworks that one address may send."),
    ]

    private static func standard(_ limitClass: RateLimitClass) -> String {
        let limit = RateLimits.standardLimit(limitClass).map(\.text) ?? "off"
        return "\(limit), none for this machine"
    }

    private static let database: [Setting] = [
        value("database", .database, into: \.database)
            .saying(
                "The SQLite file, which `serve` and `init` create if it is missing; or the URL of \(DatabaseURL.forms),"
                    + " in which they create the tables."
            ),
        optional(
            "database-password-file",
            .file,
            default: "PGPASSWORD, else ~/.pgpass",
            into: \.databasePasswordFile
        )
        .saying("File with the password of the PostgreSQL database. Read again for each connection."),
        value("data-directory", .directory, default: "the working directory", into: \.dataDirectory)
            .saying(
                "Directory of a relative database path and of key files. `serve`, `init` and `restore` create it."
            ),
        optional("server-key-file", .file, default: "the database's path and .key", into: \.serverKeyFile)
            .saying(
                "File of the server keys, the newest first, which hash fingerprints and ids and sign tokens. The start on a new"
                    + " database creates the first key. Back up the file together with the database."
            ),
        optional("secret-file", .file, default: "none, keys in files", into: \.secretFile)
            .saying(
                "For PostgreSQL: file of 64 hexadecimal digits, the same on every server. It encrypts the server and address"
                    + " keys, which are then in the database, so that servers need no key files."
            ),
        value("durability", .durability, into: \.durability)
            .saying(
                "With full, an acknowledged click survives a power cut. With relaxed, it survives the end of the process,"
                    + " but a power cut may lose the last seconds."
            ),
    ]

    private static let matching: [Setting] = [
        value("attribution-window", .window, into: \.attributionWindow)
            .saying("Time after a click in which it may match. Apps and clicks may have their own window."),
        value("replay-grace", .seconds(0...3600), into: \.replayGrace)
            .saying("Time in which a caller without an install id may fetch a response again; 0 for none."),
        value("play-bounds", .playBounds, into: \.playBounds)
            .saying(
                "Doubt a token if Google Play saw the store click more than BEFORE seconds before the click, or more than AFTER"
                    + " seconds after it. The match is then not guaranteed (click_spamming)."
            ),
        value("retention", .seconds(0...315_360_000), into: \.retention)
            .saying("Time from the end of a click's window to its deletion. Statistics stay."),
        value("audit-retention", .seconds(0...3_153_600_000), into: \.auditRetention)
            .saying("Time for which the log of changes by operators is stored."),
        value("outbox-retention", .seconds(3600...31_536_000), into: \.outboxRetention)
            .saying("Time for which events for postbacks are stored, so that they can be sent again."),
        optional(
            "retention-checks",
            .seconds(0...315_360_000),
            default: "as --retention",
            into: \.retentionChecks
        )
        .saying("Time from a check to the deletion of its record."),
        optional(
            "retention-matches",
            .seconds(0...315_360_000),
            default: "7776000; the value of --retention with PostgreSQL, or if --retention is not 604800",
            into: \.retentionMatches
        )
        .saying(
            "The same as --retention for clicks that led to a launch; their counts stay in the statistics."
        ),
        value("retention-installs", .seconds(2_592_000...3_153_600_000), into: \.retentionInstalls)
            .saying("Time for which events, and the matches that they are credited to, are stored."),
        optional("device-data", .file, default: "built in", into: \.deviceData)
            .saying("Replace the built-in tables of releases, panels, time zones or languages at the start."),
        optional("robots", .file, default: "built in", into: \.robots)
            .saying("Replace the list of robots at the start. Clicks of robots count but never match."),
        optional("relay-ranges", .file, default: "none", into: \.relayRanges)
            .saying(
                "File with address ranges of relays, such as Apple's, one on each line. An address in a range does not"
                    + " distinguish visitors. Read at the start."
            ),
    ]

    private static let links: [Setting] = [
        optional("landing-page", .file, default: "built in", into: \.landingPage)
            .saying("Template of the page that opens for a link. Read at the start.")
    ]

    private static let domains: [Setting] = [
        value("domain-watch", .domainWatch, default: "0, off", into: \.domainWatch)
            .saying(
                "Interval at which the generated domain files are compared with what phones read at each link host, at Apple and"
                    + " at Google. The log, the statistics and the metrics report differences."
            ),
        value("apple-copies", .copies, into: \.domainCopies.apple)
            .saying("Address of Apple's copy of a domain file, or none."),
        value("google-copies", .copies, into: \.domainCopies.google)
            .saying("Address of Google's copy of a domain file, or none."),
    ]

    private static let postbacks: [Setting] = [
        repeated("postback-allow", .postbackAllowance, default: "none", into: \.postbackAllowances)
            .saying(
                "Let postbacks reach these addresses inside your network, at the given port or at any, with or without TLS."
                    + " Other addresses must be public, with HTTPS on port 443."
            )
    ]

    private static let firstStart: [Setting] = [
        value("app-name", .name, into: \.appName).saying("Name of the first app of a new database."),
        repeated("destination", .destination, default: "any", into: \.destinations)
            .saying(
                "Let clicks of the first app state only deep links with this scheme, host or path; a server key has no limit. Set"
                    + " it before the service is public."
            ),
        optional("initial-app-key", .key, default: randomKey, isSecret: true, into: \.initialAppKey)
            .saying("App key of the first app. If it is set, the start generates and prints no keys."),
        optional("initial-admin-key", .key, default: randomKey, isSecret: true, into: \.initialAdminKey)
            .saying("First admin key. If it is set, the start generates and prints no keys."),
    ]

    private static let randomKey = "a random one, printed once"

    private static let limits: [Setting] = [
        value("limit-target", .bytes(256...65_536), into: \.limits.targetByteCount)
            .saying("Maximum length of a request target; a longer one gets 414."),
        value("limit-fields", .bytes(1024...1_048_576), into: \.limits.fieldsByteCount)
            .saying("Maximum length of all header fields of a request together; longer ones get 431."),
        value("limit-field-count", .number(8...10_000), into: \.limits.fieldCount)
            .saying("Maximum number of header fields of a request; more get 431."),
        value("limit-body", .bytes(1024...16_777_216), into: \.limits.bodyByteCount)
            .saying("Maximum length of a body; a longer one gets 413 before it is read."),
        value("limit-memory", .bytes(1 << 20...1 << 40), into: \.requestMemory)
            .saying("Maximum memory of all unfinished requests together; one more gets 503."),
        value("limit-requests", .number(1...1_000_000_000), into: \.limits.requestsPerConnection)
            .saying("Maximum number of requests on one connection; the response to the last one closes it."),
        value("limit-queue", .number(1...1_000_000), into: \.queueLimit)
            .saying(
                "Maximum number of clicks and matches that wait for the disk; one more gets 503 at once."
            ),
    ]

    private static let timeLimits: [Setting] = [
        value("timeout-header", .duration, into: \.timeouts.header)
            .saying("Time from a request's first byte to the end of its header; then 408."),
        value("timeout-body", .duration, into: \.timeouts.body)
            .saying("Time from the end of the header to the end of the body; then 408."),
        value("timeout-idle", .duration, into: \.timeouts.idle)
            .saying("Time without a byte between requests; then the connection is closed."),
        value("timeout-write", .duration, into: \.timeouts.write)
            .saying("Time without progress while a response is sent; then the connection is closed."),
        value("shutdown-grace", .seconds(0...3600), into: \.shutdownGrace)
            .saying("Time for requests in flight to finish after SIGTERM."),
    ]

    private static let log: [Setting] = [
        optional("log-format", .logFormat, default: "text on a terminal, else json", into: \.logFormat)
            .saying("Write one JSON object a line, or lines for people."),
        optional("log-file", .file, default: "standard error", into: \.logFile)
            .saying("Append the log to this file. SIGHUP reopens it after a rotation."),
    ]

    private static let tests: [Setting] = [
        flag("unsafe-test-clock", into: \.usesTestClock)
            .saying("Let any request set the time with X-Test-Time. For tests on a loopback address only.")
    ]
}
