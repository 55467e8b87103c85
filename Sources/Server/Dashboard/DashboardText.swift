internal import Attribution

/// The caption of a table and the headings of its columns, written as `[caption: headings]`.
struct TableText: ExpressibleByDictionaryLiteral, Sendable {
    let caption: String
    let headings: [String]

    init(dictionaryLiteral texts: (String, [String])...) { (caption, headings) = texts[0] }
}

/// The texts of the dashboard.
enum DashboardText {
    // Frame
    static let skip = "Skip to content"
    static let pages = "Pages"
    static let find = "Find a link, campaign, check, click, request or fingerprint"
    static let findShort = "Find a link, campaign or id"
    static let keys = "Keys"
    static let close = "Close"
    static let overview = "Overview"
    static let launches = "Launches"
    static let launchTable: TableText = [
        "Recorded launches, the newest first": [
            "Time", "Answer", "Method", "Confidence", "Campaign", "Device", "SDK", "App",
        ]
    ]
    static let furtherKeys = [
        ("R", "Live: the last 30 minutes"), ("C", "Choose the days"),
        ("X", "Compare with the span before, or stop comparing"), ("/", "Search"),
        ("J K", "Next and previous row"), ("Esc", "Clear a field; outside of fields, clear the filters"),
        ("?", "Show these keys"),
    ]

    // Access
    static let signIn = "Sign in"
    static let signOut = "Sign out"
    static let key = "Admin or read key"
    static let signedInAlready = "Open the page, if this browser is signed in already"
    static let otherSignIn =
        "Without a key at hand, run `afterlink dashboard` on the server: it prints a link that signs in once."
    static let linkExplained =
        "This link signs in once, within a minute after it was made. The session lasts 7 days, or 12 hours without use."
    static let wrongKey =
        "This is not a valid admin or read key. `afterlink keys list` shows the keys, and `afterlink keys create --kind admin`"
        + " creates one."
    static let tooManyFailures = "Five sign-ins failed from this address. Wait a minute, and try again."
    static let spentLink =
        "This link was used before, or it is older than a minute. Run `afterlink dashboard` again."
    static let needsTLS =
        "Sign in over https, or on the server itself over a loopback address: over plain HTTP, any machine on the way could"
        + " read the session's cookie."
    static let mayNotChange =
        "A read key changes nothing. Sign in with an admin key, or with a link of `afterlink dashboard`."
    static let otherSite =
        "Another site sent this form, so it was refused. Open the page here, and send it again."
    static let staleForm = "This form belongs to another session. Reload the page, and send it again."
    static let notAForm = "Send the fields as application/x-www-form-urlencoded, as the page's own form does."
    static let noPage = "There is no such page. The overview is at the address without a path."
    static let problem = "This did not work"

    // Filters
    static let filters = "Filters"
    static let app = "App"
    static let allApps = "All apps"
    static let traffic = "Traffic"
    static let live = "Live"
    static let test = "Test"
    static let from = "From"
    static let to = "To"
    static let show = "Show"
    static let any = "Any"
    static let comparison = "Compare"
    static let comparisons = [("", "With the span before"), ("off", "With nothing")]

    /// Returns the key that chooses a period, and the period's name.
    static func texts(of period: DashboardPeriod) -> (key: String, name: String) {
        switch period {
        case .today: ("D", "Today")
        case .yesterday: ("E", "Yesterday")
        case .week: ("W", "7 days")
        case .fourWeeks: ("F", "28 days")
        case .thirtyDays: ("T", "30 days")
        case .quarter: ("N", "91 days")
        case .monthToDate: ("M", "This month")
        case .lastMonth: ("P", "Last month")
        case .yearToDate: ("Y", "This year")
        case .sixMonths: ("S", "6 months")
        case .twelveMonths: ("L", "12 months")
        case .all: ("A", "All time")
        case .custom: ("C", "From … to …")
        }
    }

    // Counts and their days
    static let platform = "Platform"
    static let source = "Source"
    static let osVersion = "OS version"
    static let browsers = "Browsers"
    static let linkID = "Link"
    static let withoutHours =
        "Days in UTC: days that start at another hour need counts by hour. For counts by name, these are kept"
        + " for 30 days only."
    static let severalOffsets =
        "Days in UTC: the days of the apps begin at different hours. Choose an app to see its days."
    static let partsOfSlice =
        "Counts are limited to one value, so there are no counts by other values, and no time to install."

    /// Returns the sentence about a list of which only a part was read; a link below the list continues the search.
    static func searched(backTo time: Timestamp) -> String {
        "Searched back to \(self.time(time)). The link below searches further back."
    }

    static func noCounts(_ span: String) -> String {
        "Nothing with these choices was counted in this span (\(span))."
    }

    static let period = "Period"
    static let hour = "Hour"
    static let hours = "Clicks by hour of day"

    /// Returns a label with the offset of its times, such as `Period (UTC+3)`.
    static func inZone(_ label: String, offset: Int64) -> String {
        "\(label) (UTC\(offset == 0 ? "" : "\(offset < 0 ? "−" : "+")\(abs(offset))"))"
    }

    // Overview
    static let clicks = "Clicks"
    static let matches = "Matches"
    static let matchRate = "Match rate"
    static let medianTime = "Median time to install"
    static let expected = "Expected conversions"
    static let warnings = "Warnings"
    static let campaigns = "Campaigns"
    static let campaignCaption = "Clicks and matches by campaign"
    static let sources = "Sources"
    static let platforms = "Platforms"
    static let osVersions = "OS versions"
    static let panelHeadings = ["Clicks", "Matches", "Conversion rate"]
    static let reasons: TableText = ["Launches without a match": ["Reason", "Launches"]]
    static let asTable = "As table"
    static let time = "Time"
    static let running = "not ended yet"
    static let noApp = "There is no app yet. Create one with `afterlink apps create`."
    static let firstSteps = [
        "Let a page or a link send a click: open a link of your app, or run `afterlink simulate`.",
        "Start the app for the first time on the same device, so that its SDK asks for the click.",
        "Reload this page: a match is counted here within a second, and then this list disappears.",
    ]
    static func done(_ step: String) -> String { "✓ Done: \(step)" }

    static func noTraffic(_ span: String, isTest: Bool) -> String {
        "There was no \(isTest ? "test" : "live") traffic in this span (\(span))."
    }

    static func beforeFirstData(_ first: Timestamp) -> String {
        "The first app was created at \(time(first)), after this span."
    }

    static func compared(with span: String, isRunning: Bool) -> String {
        "Compared with the same days of the week, \(span)."
            + (isRunning ? " Today has not ended, and is compared with a whole day." : "")
    }

    static func chartTitle(_ span: String) -> String { "Clicks, launches and matches, \(span)" }

    /// Returns the sentence about a group whose match rate has fallen; nil for any other group.
    static func alarm(_ reading: DriftReading) -> String? {
        reading.alarm.map { alarm in
            "The match rate of \(reading.group.title) has fallen from \(percent(reading.usualRate)) to"
                + " \(percent(alarm.rate)) since \(time(alarm.since))."
        }
    }

    // Launches
    static let outcome = "Outcome"
    static let reason = "Reason"
    static let campaign = "Campaign"
    static let method = "Method"
    static let confidence = "Confidence"
    static let demanded = "Confidence that the app demands"
    static let organic = "Probability of no click"
    static let candidates = "Live clicks with its fingerprint"
    static let device = "Device"
    static let checkID = "Check"
    static let requestID = "Request"
    static let older = "Older launches"
    static let notAnID =
        "must be a link's address or slug, a campaign, the id of a link (lnk_…), a check (chk_…), a click (clk_…) or a"
        + " request, or a fingerprint's 64 digits"
    static let noLaunch =
        "No check, click or request is stored under this id. Records are deleted after the retention time."
    static let advice = "What to do"
    static let components: TableText = [
        "Values of the fingerprint": ["Value", "Nearest click", "Launch", "Verdict"]
    ]
    static let concerned: TableText = [
        "Clicks that concern this launch": [
            "Click", "Time", "State", "Campaign", "Fingerprint", "Address", "Probability",
        ]
    ]
    static let nearLaunches: TableText = ["Launches near this click": ["Time", "In common", "Answer"]]

    static func noLaunches(_ span: String) -> String { "No recorded launch has these properties (\(span))." }

    static func launchTitle(_ record: RecordedCheck) -> String {
        "\(answer(record.facts)), \(time(record.facts.at))"
    }

    static func clickTitle(_ click: KnownClick) -> String { "Click of \(time(click.clickedAt))" }

    static func name(of outcome: CheckOutcome) -> String {
        switch outcome {
        case .match: "Match"
        case .replay: "Repeated answer"
        case .noMatch: "No match"
        }
    }

    static func name(of method: AttributionMethod?) -> String { method.map { words($0) } ?? "–" }

    static func answer(_ facts: CheckFacts) -> String {
        guard facts.outcome == .noMatch, let reason = facts.reason else { return name(of: facts.outcome) }
        return "No match: \(reason.name)"
    }

    static func device(_ facts: CheckFacts) -> String {
        let name =
            switch facts.platform {
            case .ios: "iOS"
            case .android: "Android"
            default: words(facts.platform)
            }
        return facts.release.map { "\(name) \($0.text)" } ?? name
    }

    static let playFindings: TableText = ["Google Play findings": ["Finding", "Matches"]]

    /// Returns the names and values of Google Play's report about a launch; empty without a report.
    static func play(_ facts: CheckFacts) -> [(String, String)] {
        guard let play = facts.play else { return [] }
        let times: [(String, PlayInstall.Time)] = [
            ("Store click, by Google's clock", .storeClick),
            ("Installation began, by Google's clock", .installBegin),
            ("Store click, by the device's clock", .storeClickOnDevice),
            ("Installation began, by the device's clock", .installBeginOnDevice),
        ]
        return [
            ("Finding about Google Play's report", facts.playFinding.map { words($0.rawValue) } ?? "None")
        ]
            + times.map { ($0.0, play.at($0.1).map(time) ?? "–") } + [
                ("Installed version", play.version ?? "–")
            ]
            + (play.isInstant == true ? [("Instant version", "Used in the seven days before")] : [])
    }

    static func sameOrOther(_ isSame: Bool) -> String { isSame ? "same" : "other" }

    static func verdict(_ kind: String?) -> String {
        switch kind {
        case "good": "same"
        case "bad": "differs"
        default: "–"
        }
    }
}

/// Numbers and times as text; an unknown one is a dash.
extension DashboardText {
    /// Returns a word of the wire, such as `same_address`, as words for people.
    static func words(_ raw: String) -> String { String(raw.map { $0 == "_" ? " " : $0 }) }

    static func words(_ value: some RawRepresentable<String>) -> String { words(value.rawValue) }

    /// Returns a time to the second, as `2026-11-24 10:30:00 UTC`.
    static func time(_ time: Timestamp) -> String {
        let text = time.iso8601
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(8)) UTC"
    }

    /// A narrow blank that breaks no line, between the thousands of a number.
    static let groupSeparator = "\u{202f}"

    /// Returns a number with its digits in groups of three.
    static func count(_ number: (some BinaryInteger)?) -> String {
        guard let number else { return "–" }
        var groups: [String] = []
        var left = UInt64(number.magnitude)
        repeat {
            let (rest, group) = left.quotientAndRemainder(dividingBy: 1000)
            let digits = String(group)
            groups.append(rest > 0 ? String(repeating: "0", count: 3 - digits.utf8.count) + digits : digits)
            left = rest
        } while left > 0
        return (number < 0 ? "−" : "") + groups.reversed().joined(separator: groupSeparator)
    }

    static func percent(_ share: Double?) -> String { share.map(Explanation.percent) ?? "–" }

    static func duration(_ milliseconds: Double?) -> String {
        milliseconds.map { ElapsedTime.text(milliseconds: Int64($0)) } ?? "–"
    }

    /// Returns a number with one digit after the point.
    static func decimal(_ number: Double?) -> String {
        guard let number, number.isFinite, abs(number) < 1e15 else { return "–" }
        let tenths = Int64((number * 10).rounded())
        return "\(count(tenths / 10)).\(abs(tenths % 10))"
    }

    /// Returns how a figure has changed, as `+12 %`, or a dash without an earlier figure.
    static func change(from earlier: Double?, to present: Double?) -> String {
        guard let earlier, let present, earlier > 0 else { return "–" }
        let change = ((present / earlier - 1) * 100).rounded()
        guard abs(change) < 1e6 else { return "–" }
        return change == 0 ? "±0 %" : change > 0 ? "+\(Int(change)) %" : "−\(Int(-change)) %"
    }
}
