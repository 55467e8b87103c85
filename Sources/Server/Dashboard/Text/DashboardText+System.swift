internal import Attribution
internal import DomainFiles

/// The sentences of the pages Domains, System and Try it.
extension DashboardText {
    static let figuresOfAllApps =
        "The other figures of this page are about all apps, and this session sees one app. A key of kind read for all apps"
        + " shows them."

    // Domains
    static let domains = "Domains"
    static let host = "Host"
    static let testURL = "Test a path or URL"
    static let noHost = "No app lists this host. The page Domains shows all hosts."
    static let noHosts =
        "No app has a link host, so there are no domain files. `afterlink apps set --link-host links.example.com` adds one."
    static let wrongURL = "must be a path such as /products/1, or a whole https URL"
    static let noDecision = "Neither file names an app, so this URL opens in the browser."
    static let decisions: TableText = [
        "What this URL does on a phone with the app": ["App", "File", "Result", "Rule", "Place in the file"]
    ]
    static let copies: TableText = [
        "What hosts, Apple and Google serve": ["Host", "File", "Copy", "State", "Since"]
    ]
    static let noDomainWatch =
        "The copies at the hosts, at Apple and at Google are not watched. `--domain-watch 3600` switches this on."
    static let notPolled = "The copies are read for the first time now. Reload this page in a minute."
    static let showFile = "Show the file"

    static func outcome(_ outcome: RuleDecision.Outcome) -> String {
        switch outcome {
        case .opensApp: "opens the app"
        case .excluded: "stays in the browser, by a rule"
        case .noRule: "stays in the browser, because no rule fits"
        case .byManifest: "the app's manifest decides"
        case .tooComplex: "unknown: the next rule takes too many steps"
        }
    }

    static func holder(_ holder: DomainCopy.Holder) -> String {
        switch holder {
        case .live: "the host itself"
        case .apple: "Apple"
        case .google: "Google"
        }
    }

    /// Returns the text of a copy's state, and the class of its cell.
    static func state(_ state: DomainCopy.State) -> (text: String, style: String?) {
        switch state {
        case .current: ("current", "good")
        case .differs(let differences): ("differs: \(differences.joined(separator: "; "))", "bad")
        case .unknown(let reason): ("unknown: \(reason)", nil)
        }
    }

    static func served(bytes: Int64) -> String { "\(count(bytes)) bytes, as this service serves it now." }

    // System
    static let system = "System"
    static let ready = "This server is ready."
    static let version = "Version"
    static let uptime = "Runs for"
    static let certificate = "Certificate"
    static let connections = "Open connections to --listen"
    static let droppedLines = "Dropped log lines"
    static let database = "Database"
    static let lastFailure = "Last failure"
    static let queue = "Writes that wait"
    static let transactions = "Transactions"
    static let batch = "Writes in a transaction"
    static let databaseSize = "Size"
    static let logSize = "Write-ahead log"
    static let freeSpace = "Free on its file system"
    static let unknownSpace = "unknown to this server: look on the database's machine"
    static let lastBackup = "Last backup"
    static let backupNotRecorded =
        "not recorded: check the age of your backup files; `afterlink verify` verifies one"
    static let logLines = "Log of this process"
    static let logExplained =
        "The last \(RecentLines.maximumLines) lines at most, the newest first. Each response has its request id in X-Request-ID."
    static let noLogLine = "None of the last lines contains this text."
    static let retentionLag = "Oldest click that is due for deletion"
    static let nothingDue = "none is due"
    static let commitTimes = "Commits by duration"
    static let commitCaption = "Transactions since the start, by the time of their commit"
    static let noCommit = "Nothing was written since the start, so there are no commit times."
    static let longer = "longer"
    static let durationHeading = "Duration"
    static let refusals = "Requests that the store refused"
    static let errors = "Error responses since the start"
    static let number = "Number"
    static let process: TableText = ["Process": ["Figure", "Value"]]
    static let servers: TableText = ["Servers on this database": ["Server", "Version", "Last transaction"]]

    /// Returns a figure with its unit.
    ///
    /// Seconds always have one digit after the point; a number has one only if it is not whole.
    static func figure(_ value: Double?, of unit: MetricFamily.Unit) -> String {
        guard let value, abs(value) < 1e15 else { return "–" }
        switch unit {
        case .bytes: return bytes(Int64(value))
        case .seconds: return "\(decimal(value)) s"
        case .number: return value == value.rounded() ? count(Int64(value)) : decimal(value)
        }
    }

    static func notReady(_ reason: String) -> String { "This server is not ready: \(reason)." }

    static func expiry(_ seconds: Int64?, at now: Timestamp) -> String {
        guard let seconds else { return "none: this process serves plain HTTP" }
        let end = Timestamp(milliseconds: seconds * 1000)
        let left = end.milliseconds(since: now)
        return left > 0
            ? "expires \(time(end)), in \(ElapsedTime.text(milliseconds: left))" : "expired \(time(end))"
    }

    /// Returns a size; a dash for 0, which is the size of a file that this database does not have.
    static func bytes(_ number: Int64) -> String {
        guard number > 0 else { return "–" }
        var (value, units) = (Double(number), ["bytes", "KB", "MB", "GB", "TB"][...])
        while value >= 1000, units.count > 1 {
            value /= 1000
            units = units.dropFirst()
        }
        return units.first == "bytes" ? "\(count(number)) bytes" : "\(decimal(value)) \(units.first ?? "")"
    }

    // Alarms of the overview
    /// Returns the sentence about a copy of a domain file that differs; nil for any other copy.
    static func alarm(_ copy: DomainCopy) -> String? {
        guard case .differs(let differences) = copy.state else { return nil }
        return
            "\(copy.file.rawValue) of \(copy.host.text) differs at \(holder(copy.holder)) since \(time(copy.since)):"
            + " \(differences.joined(separator: "; ")). The page Domains shows this service's file."
    }

    static func certificateEnds(_ seconds: Int64, at now: Timestamp) -> String {
        "The certificate \(expiry(seconds, at: now)). Renew it, and send the service SIGHUP, which reloads it."
    }

    static func diskFills(_ free: Int64) -> String {
        "The disk of the database has \(bytes(max(free, 1))) left. Make room: on a full disk, clicks get 503."
    }

    // Try it
    static let trial = "Try it"
    static let browser = "Browser"
    static let simulate = "Simulate a tap and a launch"
    static let trialExplained =
        "The click and the launch go to this process with a test key of the app: they count only as test traffic."
    static let wrongProfile = "must be one of the browsers of the list"
    static let testKey = "test_…"
    static let tap = "A person taps a link, and the page reports the click"
    static let launch = "The app starts for the first time, and its SDK requests the match"
    static let explainTrial = "Why this launch got its result"
    static let realPhone = "With a real phone"
    static let noLinkToScan = "The app has no link yet. Create one, and its code appears here."

    static func answered(_ status: String) -> String { "Response \(status):" }
    static func scan(_ url: String) -> String {
        "Scan the code: it opens \(url). The click appears on Live, and so does the first launch."
    }

    static func noTestKey(_ app: String) -> String {
        "The app has no valid test key. Create one with `afterlink keys create --kind test --app \(app)`, and try again."
    }

    static func noLinkHost(_ app: String) -> String {
        "The app has no link host, so there is no address for a code. Set one with `afterlink apps set --app \(app)"
            + " --link-host links.example.com`."
    }
}
