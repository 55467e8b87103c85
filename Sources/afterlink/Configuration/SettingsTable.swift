internal import Attribution
internal import HTTPServer
internal import Server

// The one table of settings. A new setting is a row here and a property of `Configuration`, whose initial value is the
// default.

extension Setting {
    /// Every setting, in the order of the documentation.
    package static let all: [Setting] =
        (network + rateLimits).map { $0.under(.network) } + database.map { $0.under(.database) }
        + matching.map { $0.under(.matching) } + links.map { $0.under(.links) }
        + domains.map { $0.under(.domains) } + firstStart.map { $0.under(.firstStart) }
        + limits.map { $0.under(.limits) } + timeLimits.map { $0.under(.timeLimits) }
        + log.map { $0.under(.log) } + tests.map { $0.under(.tests) }

    private static let network: [Setting] = [
        value("listen", .address("127.0.0.1:8080 or [::1]:8080"), into: \.listen)
            .saying("Serve clicks and first launches on this address. Port 0 picks a free port."),
        optional(
            "metrics-listen",
            .address("127.0.0.1:9090 or [::1]:9090"),
            default: "none",
            into: \.metricsListen
        )
        .saying(
            "Serve /metrics, /healthz and /readyz on this address, without a key. Keep it off the internet."
        ),
        repeated("trusted-proxy", .addressRange, default: "none", into: \.trustedProxies)
            .saying("Trust the X-Forwarded-For and Forwarded headers of these proxies."),
        value("threads", .number(1...256), default: "one per core", into: \.threads)
            .saying(
                "Number of event loops, each a thread with its own connections and its own view of the database."
            ),
        optional(
            "maximum-connections",
            .number(1...1_000_000),
            default: "\(Configuration.standardConnections), or what the limit of open files leaves",
            into: \.maximumConnections
        )
        .saying("Maximum of open connections; one more gets 503."),
        optional("tls-certificate", .file, default: "none, plain HTTP", into: \.tlsCertificate)
            .saying(
                "Certificate chain in PEM, the server's own first: with it and --tls-key, --listen speaks HTTPS. SIGHUP"
                    + " reloads both."
            ),
        optional("tls-key", .file, default: "none", into: \.tlsKey)
            .saying(
                "Private key of --tls-certificate in PEM, without a password, readable only by its owner (and by root's"
                    + " group, if root owns it)."
            ),
    ]

    private static let rateLimits: [Setting] = [
        optional("rate-limit", .rateLimit, default: "for each, see below", into: \.rateLimit)
            .saying(
                "Limit the clicks and the checks of one address, counted separately; more get 429. Many phones share an"
                    + " address: leave room. `off` switches off every limit that is not set itself."
            ),
        optional("rate-limit-clicks", .rateLimit, default: standard(.clicks), into: \.clickRateLimit)
            .saying("The same for clicks only. A server key is not limited."),
        optional("rate-limit-checks", .rateLimit, default: standard(.checks), into: \.checkRateLimit)
            .saying("The same for checks only. A server key is not limited."),
        optional("rate-limit-admin", .rateLimit, default: standard(.admin), into: \.adminRateLimit)
            .saying("Limit the requests of one address to /admin and /metrics."),
        optional("rate-limit-pictures", .rateLimit, default: standard(.pictures), into: \.pictureRateLimit)
            .saying("Limit the QR codes that one address may request."),
    ]

    private static func standard(_ limitClass: RateLimitClass) -> String {
        let limit = RateLimits.standardLimit(limitClass).map(\.text) ?? "off"
        return "\(limit), this machine's own requests apart"
    }

    private static let database: [Setting] = [
        value("database", .database, into: \.database)
            .saying("The SQLite database. `serve` and `init` make it when it is not there."),
        value("data-directory", .directory, default: "the working directory", into: \.dataDirectory)
            .saying(
                "Directory of the database if its path is relative. `serve`, `init` and `restore` create it if it is"
                    + " missing."
            ),
        optional("server-key-file", .file, default: "the database's path and .key", into: \.serverKeyFile)
            .saying(
                "File of the server keys, the newest first, which hash fingerprints and ids and sign tokens. The first"
                    + " key is made with the database; back up both together."
            ),
        value("durability", .durability, into: \.durability)
            .saying(
                "With full, an acknowledged click survives a power cut; with relaxed, it survives the end of the process,"
                    + " but a power cut may lose the last seconds."
            ),
    ]

    private static let matching: [Setting] = [
        value("attribution-window", .window, into: \.attributionWindow)
            .saying(
                "How long after a click a first launch may be credited to it. Apps and clicks may have their own."
            ),
        value("replay-grace", .seconds(0...3600), into: \.replayGrace)
            .saying(
                "How long a caller without an install id may fetch a lost response again; 0 switches this off."
            ),
        value("retention", .seconds(0...315_360_000), into: \.retention)
            .saying("How long clicks are retained after they expired. Statistics stay."),
        optional("device-data", .file, default: "built in", into: \.deviceData)
            .saying(
                "Replace built-in tables of system releases, panels, time zones and languages, kind by kind. Read at the"
                    + " start."
            ),
        optional("robots", .file, default: "built in", into: \.robots)
            .saying(
                "Replace the built-in list of robots, whose clicks count but never match. Read at the start."
            ),
        optional("relay-ranges", .file, default: "none", into: \.relayRanges)
            .saying(
                "Address ranges, one a line, that distinguish visitors no better than private ones: relays such as"
                    + " Apple's. Read at the start."
            ),
    ]

    private static let links: [Setting] = [
        optional("landing-page", .file, default: "built in", into: \.landingPage)
            .saying(
                "Template of the page that opens for a link, instead of the built-in one. Read at the start."
            )
    ]

    private static let domains: [Setting] = [
        value("domain-watch", .domainWatch, default: "0, off", into: \.domainWatch)
            .saying(
                "How often to compare the domain files of all link hosts where phones read them: at the host, at Apple"
                    + " and at Google. The log, the statistics and the metrics report differences."
            ),
        value("apple-copies", .copies, into: \.domainCopies.apple)
            .saying("Read Apple's copy at this address; none leaves it out."),
        value("google-copies", .copies, into: \.domainCopies.google)
            .saying("Read Google's copy at this address; none leaves it out."),
    ]

    private static let firstStart: [Setting] = [
        value("app-name", .name, into: \.appName)
            .saying("Name of the app that is made with a new database."),
        repeated("destination", .destination, default: "any", into: \.destinations)
            .saying(
                "Restrict where clicks of that app may lead if they are posted without a key. Set it before the service"
                    + " is public."
            ),
        optional("initial-app-key", .key, default: randomKey, isSecret: true, into: \.initialAppKey)
            .saying("Use this key for the new app instead of making one. Then no key is printed."),
        optional("initial-admin-key", .key, default: randomKey, isSecret: true, into: \.initialAdminKey)
            .saying("Use this first admin key instead of making one. Then no key is printed."),
    ]

    private static let randomKey = "a random one, printed once"

    private static let limits: [Setting] = [
        value("limit-target", .bytes(256...65_536), into: \.limits.targetByteCount)
            .saying("Maximum length of a request target; a longer one gets 414."),
        value("limit-fields", .bytes(1024...1_048_576), into: \.limits.fieldsByteCount)
            .saying("Maximum of all header fields of a request together; more get 431."),
        value("limit-field-count", .number(8...10_000), into: \.limits.fieldCount)
            .saying("Maximum number of header fields of a request; more get 431."),
        value("limit-body", .bytes(1024...16_777_216), into: \.limits.bodyByteCount)
            .saying("Maximum length of a body; a longer one gets 413 before it is read."),
        value("limit-memory", .bytes(1 << 20...1 << 40), into: \.requestMemory)
            .saying("Memory of all requests that have not arrived completely; one more gets 503."),
        value("limit-requests", .number(1...1_000_000_000), into: \.limits.requestsPerConnection)
            .saying("Maximum number of requests on one connection; the response to the last one closes it."),
        value("limit-queue", .number(1...1_000_000), into: \.queueLimit)
            .saying("Clicks and matches that may wait for the disk; one more gets 503 at once."),
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
            .saying("How long requests in flight may take to finish after SIGTERM."),
    ]

    private static let log: [Setting] = [
        optional("log-format", .logFormat, default: "text on a terminal, else json", into: \.logFormat)
            .saying("Write one JSON object a line, or lines for people."),
        optional("log-file", .file, default: "standard error", into: \.logFile)
            .saying("Append the log to this file. SIGHUP reopens it, for rotation."),
    ]

    private static let tests: [Setting] = [
        flag("unsafe-test-clock", into: \.usesTestClock)
            .saying("Let any request set the time with X-Test-Time. For tests on a loopback address only.")
    ]
}
