internal import Attribution
internal import HTTPServer
internal import Server

// The one table of settings. A new setting is a row here and a field in `Configuration`.

extension Setting {
    /// Every setting, in the order of the documentation.
    package static let all: [Setting] =
        network + rateLimits + database + matching + links + domains + firstStart + limits + timeLimits + log
        + tests

    private static let network: [Setting] = [
        Setting(
            "listen",
            .network,
            "ADDRESS:PORT",
            default: "127.0.0.1:8080",
            allowed: "an IP address and a port, as in 127.0.0.1:8080 or [::1]:8080",
            help: "Serve clicks and first launches on this address. Port 0 picks a free port.",
            into: \.listen,
            { ListenAddress($0) }
        ),
        Setting(
            "metrics-listen",
            .network,
            "ADDRESS:PORT",
            default: "none",
            allowed: "an IP address and a port, as in 127.0.0.1:9090 or [::1]:9090",
            help:
                "Serve /metrics, /healthz and /readyz on this address, without a key. Keep it off the"
                + " internet.",
            intoOptional: \.metricsListen,
            { ListenAddress($0) }
        ),
        Setting(
            "trusted-proxy",
            .network,
            repeated: "CIDR",
            default: "none",
            allowed: "an address range, as in 10.0.0.0/8 or fd00::/8",
            help: "Trust the X-Forwarded-For and Forwarded headers of these proxies.",
            into: \.trustedProxies,
            { AddressRange($0) }
        ),
        Setting(
            "threads",
            .network,
            "N",
            default: "one per core",
            allowed: "a whole number from 1 to 256",
            help: "Number of event loops, each a thread with its own connections and its own view of the"
                + " database.",
            into: \.threads,
            { ValueText.integer($0, in: 1...256) }
        ),
        Setting(
            "maximum-connections",
            .network,
            "N",
            default: "20000, or what the limit of open files leaves",
            allowed: "a whole number from 1 to 1000000",
            help: "Maximum of open connections; one more gets 503.",
            intoOptional: \.maximumConnections,
            { ValueText.integer($0, in: 1...1_000_000) }
        ),
        Setting(
            "tls-certificate",
            .network,
            "FILE",
            default: "none, plain HTTP",
            allowed: "the path of a file",
            help:
                "Certificate chain in PEM, the server's own first: with it and --tls-key, --listen"
                + " speaks HTTPS. SIGHUP reloads both.",
            intoOptional: \.tlsCertificate,
            ValueText.path
        ),
        Setting(
            "tls-key",
            .network,
            "FILE",
            default: "none",
            allowed: "the path of a file",
            help: "Private key of --tls-certificate in PEM, without a password, readable only by its"
                + " owner (and by root's group, if root owns it).",
            intoOptional: \.tlsKey,
            ValueText.path
        ),
    ]

    private static let database: [Setting] = [
        Setting(
            "database",
            .database,
            "PATH",
            default: "afterlink.db",
            allowed: "the path of a database file",
            help: "The SQLite database. `serve` and `init` make it when it is not there.",
            into: \.database,
            ValueText.databasePath
        ),
        Setting(
            "data-directory",
            .database,
            "DIR",
            default: "the working directory",
            allowed: "the path of a directory",
            help:
                "Directory of the database if its path is relative. `serve`, `init` and `restore`"
                + " create it if it is missing.",
            into: \.dataDirectory,
            ValueText.path
        ),
        Setting(
            "server-key-file",
            .database,
            "FILE",
            default: "the database's path and .key",
            allowed: "the path of a file",
            help: "File of the server keys, the newest first, which hash fingerprints and ids and sign"
                + " tokens. The first key is made with the database; back up both together.",
            intoOptional: \.serverKeyFile,
            ValueText.path
        ),
        Setting(
            "durability",
            .database,
            "full|relaxed",
            default: "full",
            allowed: "full or relaxed",
            help:
                "With full, an acknowledged click survives a power cut; with relaxed, it survives the"
                + " end of the process, but a power cut may lose the last seconds.",
            into: \.durability,
            { StoreDurability(rawValue: $0) }
        ),
    ]

    private static let matching: [Setting] = [
        Setting(
            "attribution-window",
            .matching,
            "SECONDS",
            default: "86400",
            allowed: "a whole number of seconds from 60 to 2592000",
            help:
                "How long after a click a first launch may be credited to it. Apps and clicks may have their own.",
            into: \.attributionWindow,
            {
                ValueText.integer($0, in: AttributionWindow.allowedSeconds).flatMap(
                    AttributionWindow.init(seconds:)
                )
            }
        ),
        Setting(
            "replay-grace",
            .matching,
            "SECONDS",
            default: "60",
            allowed: "a whole number of seconds from 0 to 3600",
            help:
                "How long a caller without an install id may fetch a lost response again; 0 switches"
                + " this off.",
            into: \.replayGrace,
            { ValueText.integer($0, in: 0...3600) }
        ),
        Setting(
            "retention",
            .matching,
            "SECONDS",
            default: "604800",
            allowed: "a whole number of seconds from 0 to 315360000",
            help: "How long clicks are retained after they expired. Statistics stay.",
            into: \.retention,
            { ValueText.integer($0, in: 0...315_360_000) }
        ),
        tableFile(
            "device-data",
            default: "built in",
            help:
                "Replace built-in tables of system releases, panels, time zones and languages, kind by"
                + " kind. Read at the start.",
            into: \.deviceData
        ),
        tableFile(
            "robots",
            default: "built in",
            help:
                "Replace the built-in list of robots, whose clicks count but never match. Read at the"
                + " start.",
            into: \.robots
        ),
        tableFile(
            "relay-ranges",
            default: "none",
            help:
                "Address ranges, one a line, that distinguish visitors no better than private ones:"
                + " relays such as Apple's. Read at the start.",
            into: \.relayRanges
        ),
    ]

    private static let domains: [Setting] = [
        Setting(
            "domain-watch",
            .domains,
            "SECONDS",
            default: "0, off",
            allowed: "0, or a whole number of seconds from 60 to 604800",
            help:
                "How often to compare the domain files of all link hosts where phones read them: at the"
                + " host, at Apple and at Google. The log, the statistics and the metrics report"
                + " differences.",
            into: \.domainWatch,
            { $0 == "0" ? 0 : ValueText.integer($0, in: 60...604_800) }
        ),
        copies(
            "apple-copies",
            of: "Apple",
            default: DomainFileMonitor.Copies().apple,
            into: \.domainCopies.apple
        ),
        copies(
            "google-copies",
            of: "Google",
            default: DomainFileMonitor.Copies().google,
            into: \.domainCopies.google
        ),
    ]

    private static func copies(
        _ name: String,
        of holder: String,
        default address: String?,
        into path: any WritableKeyPath<Configuration, String?> & Sendable
    ) -> Setting {
        Setting(
            name,
            .domains,
            "URL",
            default: address ?? "none",
            allowed: "an https address with {host} in the place of the host, or none",
            help: "Read \(holder)'s copy at this address; none leaves it out.",
            into: path,
            ValueText.copies
        )
    }

    private static func tableFile(
        _ name: String,
        default defaultText: String,
        help: String,
        into path: any WritableKeyPath<Configuration, String?> & Sendable
    ) -> Setting {
        Setting(
            name,
            .matching,
            "FILE",
            default: defaultText,
            allowed: "the path of a file",
            help: help,
            intoOptional: path,
            ValueText.path
        )
    }

    private static let links: [Setting] = [
        Setting(
            "landing-page",
            .links,
            "FILE",
            default: "built in",
            allowed: "the path of a file",
            help: "Template of the page that opens for a link, instead of the built-in one. Read at the"
                + " start.",
            intoOptional: \.landingPage,
            ValueText.path
        )
    ]

    private static let firstStart: [Setting] = [
        Setting(
            "app-name",
            .firstStart,
            "NAME",
            default: "app",
            allowed: "1 to 100 characters, no white space at the ends, no control characters",
            help: "Name of the app that is made with a new database.",
            into: \.appName,
            ValueText.name
        ),
        Setting(
            "destination",
            .firstStart,
            repeated: "PREFIX",
            default: "any",
            allowed: "a scheme or a site, as in myapp:// or https://shop.example",
            help: "Restrict where clicks of that app may lead if they are posted without a key. Set it"
                + " before the service is public.",
            into: \.destinations,
            ValueText.destination
        ),
        Setting(
            "initial-app-key",
            .firstStart,
            "KEY",
            isSecret: true,
            default: "a random one, printed once",
            allowed: "32 to 256 visible ASCII characters",
            help: "Use this key for the new app instead of making one. Then no key is printed.",
            intoOptional: \.initialAppKey,
            { KeyText(operatorsOwn: $0) }
        ),
        Setting(
            "initial-admin-key",
            .firstStart,
            "KEY",
            isSecret: true,
            default: "a random one, printed once",
            allowed: "32 to 256 visible ASCII characters",
            help: "Use this first admin key instead of making one. Then no key is printed.",
            intoOptional: \.initialAdminKey,
            { KeyText(operatorsOwn: $0) }
        ),
    ]

    private static let tests: [Setting] = [
        Setting(
            "unsafe-test-clock",
            .tests,
            help: "Let any request set the time with X-Test-Time. For tests on a loopback address only.",
            into: \.usesTestClock
        )
    ]
}
