import Attribution
import HTTPServer
import Server
import Testing
import afterlink

@Suite("Configuration")
struct ConfigurationTests {
    /// Reads the configuration of `serve` from these arguments, variables and file.
    private func read(
        _ flags: [String] = [],
        _ environment: [String: String] = [:],
        file: String? = nil
    ) throws -> afterlink.Configuration {
        let command = try #require(Program.standard.commands.first { $0.name == "serve" })
        let words = flags + (file == nil ? [] : ["--config", "settings.json"])
        let arguments = try Arguments(words, of: command)
        let invocation = Invocation(command: command, arguments: arguments, environment: environment)
        return try ConfigurationReader.read(invocation) { (_) throws(CommandFailure) in file ?? "" }
    }

    private func failure(
        _ flags: [String] = [],
        _ environment: [String: String] = [:],
        file: String? = nil
    ) throws -> CommandFailure {
        try #require(throws: CommandFailure.self) { _ = try read(flags, environment, file: file) }
    }

    @Test(
        "matched clicks stay 90 days, but as long as other clicks if --retention is set or whole days are dropped"
    )
    func retentionOfMatches() throws {
        #expect(try read().usedRetentionOfMatches == 7_776_000)
        #expect(try read(["--retention", "0"]).usedRetentionOfMatches == 0)
        #expect(try read(["--retention-checks", "5"]).usedRetentionOfMatches == 7_776_000)
        #expect(try read(["--retention", "0", "--retention-matches", "9"]).usedRetentionOfMatches == 9)
        #expect(try read(["--database", "postgres://user@host/db"]).usedRetentionOfMatches == 604_800)
    }

    @Test("an empty --config is refused, and an empty AFTERLINK_CONFIG is unset")
    func emptyPath() throws {
        let refusal = try failure(["--config", ""])
        #expect(refusal.explanation.contains("--config \"\" must be the path of a file"))
        #expect(try read([], ["AFTERLINK_CONFIG": ""]).databasePath == "afterlink.db")
    }

    @Test("without settings, the service listens on loopback and stores everything in ./afterlink.db")
    func defaults() throws {
        let configuration = try read()
        #expect("\(configuration.listen)" == "127.0.0.1:8080")
        #expect(configuration.databasePath == "afterlink.db")
        #expect(configuration.serverKeyPath == "afterlink.db.key")
        #expect(configuration.attributionWindow == .standard)
        #expect(configuration.replayGrace == 60)
        #expect(configuration.retention == 604_800)
        #expect(configuration.limits.bodyByteCount == 65_536)
        #expect(configuration.timeouts.header == .seconds(10))
        #expect(!configuration.usesTestClock)
    }

    @Test("every number has the documented default")
    func documentedDefaults() throws {
        let numbers = Setting.all.filter {
            $0.allowed.hasPrefix("a whole number") && Int64($0.defaultText) != nil
        }
        #expect(numbers.count >= 15)
        let standard = String(reflecting: try read())
        for setting in numbers {
            let value = try read([try #require(setting.flag), setting.defaultText])
            #expect(String(reflecting: value) == standard, "\(setting.name)")
        }
    }

    @Test("flags override the environment, the environment the file, and the file the defaults")
    func precedence() throws {
        let file = #"{"replay_grace":1,"retention":2,"attribution_window":3600}"#
        let environment = ["AFTERLINK_REPLAY_GRACE": "10", "AFTERLINK_RETENTION": "20"]
        let configuration = try read(["--replay-grace", "100"], environment, file: file)
        #expect(configuration.replayGrace == 100)
        #expect(configuration.retention == 20)
        #expect(configuration.attributionWindow.seconds == 3600)
        #expect(configuration.shutdownGrace == 7)
    }

    @Test("an empty environment variable counts as not set")
    func emptyVariable() throws {
        #expect(try read([], ["AFTERLINK_RETENTION": ""], file: #"{"retention":5}"#).retention == 5)
    }

    @Test("several values are read from repeated flags, from a text with commas, and from arrays")
    func repeated() throws {
        let flags = try read(["--destination", "myapp://", "--destination=https://Shop.example/"])
        #expect(flags.destinations == ["myapp://", "https://shop.example"])
        let environment = try read([], ["AFTERLINK_DESTINATION": "myapp://, https://shop.example"])
        #expect(environment.destinations == ["myapp://", "https://shop.example"])
        let file = try read(file: #"{"destination":["myapp://"],"trusted_proxy":"10.0.0.0/8"}"#)
        #expect(file.destinations == ["myapp://"])
        #expect(file.trustedProxies.count == 1)
    }

    @Test("a relative database path is put into the data directory, an absolute path is not")
    func databasePath() throws {
        let folder = ["--data-directory", "/var/lib/afterlink"]
        #expect(try read(folder).databasePath == "/var/lib/afterlink/afterlink.db")
        #expect(try read(folder).serverKeyPath == "/var/lib/afterlink/afterlink.db.key")
        #expect(try read(folder + ["--database", "/elsewhere/x.db"]).databasePath == "/elsewhere/x.db")
        #expect(try read(folder + ["--database", "x.db"]).databasePath == "/var/lib/afterlink/x.db")
    }

    @Test("a URL names a PostgreSQL database; the command line must not contain its password")
    func server() throws {
        let url = "postgres://me:pass-word@db.example:6000/links?sslrootcert=/ca.pem"
        let visible = try failure(["--database", url])
        #expect(visible.explanation.contains("--database contains a password"))
        #expect(!visible.text.contains("pass-word"))
        let environment = ["AFTERLINK_DATABASE": url]
        #if PostgreSQL
        let configuration = try read(["--data-directory", "/var/lib/afterlink"], environment)
        #expect(configuration.isOnServer)
        #expect(configuration.databaseName == "postgres://db.example:6000/links")
        #expect(configuration.serverKeyPath == "/var/lib/afterlink/afterlink.key")
        let nobody = try failure(["--database", "postgres://db.example/links"])
        #expect(nobody.explanation.contains("needs a user"))
        #else
        #expect(try failure([], environment).explanation.contains("`\(DatabaseURL.buildCommand)`"))
        #endif
    }

    @Test(
        "values that are not allowed are refused, with name and value",
        arguments: [
            ("listen", "localhost:80"), ("listen", "8080"), ("listen", "[::1]"),
            ("listen", "127.0.0.1:65536"), ("metrics-listen", "x"), ("trusted-proxy", "10.0.0.0/33"),
            ("threads", "0"), ("threads", "+1"), ("maximum-connections", "many"), ("database", ""),
            ("attribution-window", "59"), ("attribution-window", "2592001"), ("attribution-window", "1h"),
            ("replay-grace", "-1"), ("replay-grace", "3601"), ("retention", ""), ("durability", "some"),
            ("app-name", ""), ("app-name", "  "), ("app-name", "Shop "), ("app-name", "\u{200B}"),
            ("destination", "https://"), ("destination", "javascript:alert(1)"), ("limit-body", "12"),
            ("timeout-idle", "0"), ("shutdown-grace", "8.5"), ("log-format", "xml"), ("log-file", ""),
        ]
    )
    func refuses(name: String, value: String) throws {
        let failure = try failure(["--\(name)", value])
        #expect(failure.exitCode == .configuration)
        #expect(failure.explanation.contains("--\(name) \"\(value)\" "))
    }

    @Test("the ends of the attribution window's range are accepted", arguments: ["60", "2592000"])
    func acceptsEnds(seconds: String) throws {
        #expect(try read(["--attribution-window", seconds]).attributionWindow.seconds == Int64(seconds))
    }

    @Test("all wrong settings are reported at once, each with its source")
    func allAtOnce() throws {
        let failure = try failure(
            ["--listen", "nowhere"],
            ["AFTERLINK_THREADS": "many"],
            file: #"{"retention":-1,"databse":"x.db","log_format":{"a":1},"threads":2}"#
        )
        #expect(failure.explanation.hasPrefix("5 settings are wrong"))
        #expect(failure.explanation.contains("--listen \"nowhere\" must be an IP address and a port"))
        #expect(
            failure.explanation.contains("AFTERLINK_THREADS \"many\" must be a whole number from 1 to 256")
        )
        #expect(failure.explanation.contains("retention in settings.json \"-1\" must be"))
        #expect(
            failure.explanation.contains("databse in settings.json is not a setting; did you mean database?")
        )
        #expect(failure.explanation.contains("log_format in settings.json must be a text"))
    }

    @Test("every wrong value of a setting that may be repeated is named")
    func allOfOne() throws {
        let flags = try failure([
            "--trusted-proxy", "10.0.0.0/33", "--trusted-proxy", "::1/64x", "--trusted-proxy", "::/0",
        ])
        #expect(flags.explanation.hasPrefix("2 settings are wrong"))
        #expect(flags.explanation.contains("\"10.0.0.0/33\"") && flags.explanation.contains("\"::1/64x\""))
        let environment = try failure([], ["AFTERLINK_DESTINATION": "https://, javascript:x, myapp://"])
        #expect(environment.explanation.hasPrefix("2 settings are wrong"))
        let file = try failure(file: #"{"trusted_proxy":["a","b","10.0.0.0/8"]}"#)
        #expect(file.explanation.contains("\"a\"") && file.explanation.contains("\"b\""))
    }

    @Test("the line and column at which a file is not JSON are reported, with the other wrong settings")
    func brokenPlace() throws {
        let text = "{\n  \"listen\": \"127.0.0.1:80\",\n  \"log_file\": \"Ü\" x\n}"
        let failure = try failure(["--threads", "0"], ["AFTERLINK_RETENTION": "x"], file: text)
        #expect(failure.exitCode == .configuration)
        #expect(failure.explanation.contains("settings.json is not a JSON object: line 3, column 19: "))
        #expect(!failure.explanation.contains("at byte"))
        #expect(failure.explanation.contains("2 settings are wrong"))
        #expect(
            failure.explanation.contains("--threads \"0\"")
                && failure.explanation.contains("AFTERLINK_RETENTION")
        )
        let duplicate = try self.failure(file: "{\"listen\":\"a\",\n\"listen\":\"b\"}")
        #expect(duplicate.explanation.contains("line 2, column 1"))
    }

    @Test("a class's limit overrides the general limit, and both override the default; off ends all limits")
    func rateLimits() throws {
        let usual = try read().rateLimits
        #expect(usual == RateLimits.standard)
        let general = try read(["--rate-limit", "7/s:9"]).rateLimits
        let seven = RateLimit("7/s:9").map { RateLimits.Rule($0, countsLoopback: true) }
        #expect(general[.clicks] == seven && general[.checks] == seven)
        #expect(general[.admin] == usual[.admin])
        let off = try read(["--rate-limit", "off"]).rateLimits
        #expect(RateLimitClass.allCases.allSatisfy { off[$0] == nil })
        let mixed = try read(
            ["--rate-limit", "off", "--rate-limit-clicks", "7/s:9"],
            ["AFTERLINK_RATE_LIMIT_ADMIN": "7/s:9"]
        ).rateLimits
        #expect(mixed[.clicks] == seven && mixed[.checks] == nil && mixed[.admin] == seven)
        for name in [
            "rate-limit", "rate-limit-clicks", "rate-limit-checks", "rate-limit-admin", "rate-limit-pictures",
            "rate-limit-apple-postbacks",
        ] {
            #expect(
                try failure(["--\(name)", "20"]).explanation.contains("--\(name) \"20\" must be off, or")
            )
        }
    }

    @Test("a failure never shows a secret, nor a database URL with its password")
    func secrets() throws {
        let secrets = [
            "AFTERLINK_INITIAL_APP_KEY": "short-secret", "AFTERLINK_INITIAL_ADMIN_KEY": "other-secret",
        ]
        let environment = secrets.merging(["AFTERLINK_DATABASE": "postgres://user:pass-word@host/db"]) { $1 }
        let failure = try failure([], environment)
        #expect(
            failure.explanation.contains(
                "AFTERLINK_INITIAL_APP_KEY must be 32 to 256 visible ASCII characters"
            )
        )
        for secret in ["short-secret", "other-secret", "pass-word", "user"] {
            #expect(!failure.text.contains(secret))
        }
    }

    @Test("no flag exists for a secret")
    func noSecretFlags() throws {
        let failure = try failure(["--initial-app-key", String(repeating: "k", count: 40)])
        #expect(failure.exitCode == .usage)
        #expect(!failure.text.contains("kkkk"))
    }

    @Test("one key for two purposes is refused")
    func equalKeys() throws {
        let key = String(repeating: "k", count: 32)
        let failure = try failure([], ["AFTERLINK_INITIAL_APP_KEY": key, "AFTERLINK_INITIAL_ADMIN_KEY": key])
        #expect(failure.explanation.contains("AFTERLINK_INITIAL_ADMIN_KEY must be another key"))
        #expect(!failure.text.contains(key))
    }

    @Test(
        "the test clock is allowed only on loopback addresses",
        arguments: ["0.0.0.0:80", "[::]:80", "192.168.1.5:80"]
    )
    func testClock(listen: String) throws {
        #expect(
            try failure(["--unsafe-test-clock", "--listen", listen]).explanation.contains(
                "--unsafe-test-clock"
            )
        )
        for loopback in ["127.0.0.1:0", "127.9.9.9:0", "[::1]:0"] {
            #expect(try read(["--unsafe-test-clock", "--listen", loopback]).usesTestClock)
        }
        let metrics = try failure(["--unsafe-test-clock", "--metrics-listen", listen])
        #expect(metrics.explanation.contains("--unsafe-test-clock"))
    }

    @Test("the test clock is refused together with TLS, which is for real services")
    func testClockWithTLS() throws {
        let failure = try failure([
            "--unsafe-test-clock", "--tls-certificate", "/tls/chain.pem", "--tls-key", "/tls/key.pem",
        ])
        #expect(failure.explanation.contains("--unsafe-test-clock"))
        #expect(failure.explanation.contains("--tls-certificate"))
    }

    @Test("a metrics address that equals the service's address is refused")
    func metricsAddress() throws {
        let failure = try failure(["--listen", "[::1]:80", "--metrics-listen", "[::1]:80"])
        #expect(failure.explanation.contains("--metrics-listen"))
    }

    @Test(
        "a file that is not one JSON object is refused",
        arguments: ["", "[]", "{", "{\"listen\":\"a\",\"listen\":\"b\"}"]
    )
    func brokenFile(text: String) throws { #expect(try failure(file: text).exitCode == .configuration) }

    @Test("control characters of a wrong value are shown as question marks")
    func controlCharacters() throws {
        #expect(try failure(["--listen", "a\u{1B}[31m"]).text.contains("\"a?[31m\""))
    }

    @Test("environment variables that are no settings are reported, except variables that Kubernetes sets")
    func unknownVariables() {
        let hints = Setting.unknownVariables(in: [
            "AFTERLINK_RETENTON": "1", "AFTERLINK_PORT": "tcp://10.0.0.1:80",
            "AFTERLINK_SERVICE_HOST": "10.0.0.1",
            "AFTERLINK_PORT_80_TCP": "x", "AFTERLINK_CONFIG": "f", "AFTERLINK_LISTEN": "x",
        ])
        #expect(
            hints == [
                "AFTERLINK_RETENTON is not a setting and has no effect; did you mean AFTERLINK_RETENTION?"
            ]
        )
    }
}
