internal import Attribution

/// The sentences of the charts, and of the pages Campaigns and Matching.
extension DashboardText {
    // Charts
    static let timesToInstall = "Time from click to first launch"
    static let timesCaption = "Matches by time to install"
    static let expectedBand = "Expected conversions ± spread"
    static let rate = "Conversion rate"
    static let funnelHeadings = ["Step", "", "Number", "Share of the first step"]

    static func expected(_ number: ExpectedConversions?) -> String {
        guard let number else { return "–" }
        return number.spread > 0
            ? "\(decimal(number.count)) ± \(decimal(number.spread))" : decimal(number.count)
    }

    static func trend(from first: Double?, to last: Double?, days: Int) -> String {
        "From \(percent(first)) to \(percent(last)) in \(days) days"
    }

    static func matches(_ matches: Int64, of trials: Int64) -> String {
        "\(count(matches)) of \(count(trials))"
    }

    /// Returns the series of a chart of traffic, without launches where they are not counted, as for a campaign.
    static func traffic(hasLaunches: Bool) -> [(name: String, count: (Counts) -> Int64)] {
        let ends: [(name: String, count: (Counts) -> Int64)] = [
            (clicks, { $0[.clicks] ?? 0 }), (launches, { $0.launches }), (matches, { $0[.matches] ?? 0 }),
        ]
        return hasLaunches ? ends : [ends[0], ends[2]]
    }

    // Campaigns
    static let searchCampaigns = "Campaign contains"
    static let noCampaign =
        "No click of this span named a campaign. A click sends `campaign_key`, or its link has a campaign."
    static let noSuchCampaign =
        "No campaign of this span has this text in its key. Change the search or the period."
    static let fewCampaigns =
        "This span has too many campaigns to compare all of them: those with few clicks are left out. A shorter span, or"
        + " the order by clicks, shows more."
    static let before = "Previous"
    static let after = "Next"
    static let opens = "Opens, robots included"
    static let funnel = "From click to match"
    static let launchesOfCampaign = "Launches that this campaign got"
    static let linksOfCampaign: TableText = [
        "Links of this campaign, all time": ["Link", "Clicks", "Matches"]
    ]
    static let noLinkOfCampaign =
        "No link has this campaign: its clicks come from pages or from your own server."

    static func title(ofCampaign name: String) -> String { "Campaign \(name)" }
    static func campaignChart(_ span: String) -> String { "Clicks and matches, \(span)" }
    static func noCampaignTraffic(_ span: String) -> String {
        "This campaign had no click in this span (\(span))."
    }
    static func shown(_ first: Int, _ last: Int, of all: Int) -> String {
        "\(count(first))–\(count(last)) of \(count(all))"
    }

    // Matching
    static let matching = "Matching"
    static let answers = "Answers"
    static let otherReasons = "Other reasons"
    static let drift = "Match rates of systems, SDKs and browsers"
    static let driftTable: TableText = [
        "Match rates of the last 7 days, compared with the days before": [
            "Group", "28 days", "Launches or clicks", "Usual", "Now", "Status",
        ]
    ]
    static let noDrift =
        "No group is watched yet. Live launches and clicks are counted by group every six hours, at 0, 6, 12 and 18 UTC."
    static let chooseApp = "Choose an app to see the days of each group."
    static let chooseAppToCompare = "Choose an app to see what other settings would change."
    static let ratesBySDK = "Match rate by system and SDK, last 7 days"
    static let ratesByBrowser = "Match rate by system and browser, last 7 days"
    static let calibration = "Calibration: stated and true probabilities"
    static let calibrationTable: TableText = [
        "Launches by stated probability": ["Stated", "Launches", "Stated, average", "Expected", "Right"]
    ]
    static let noCalibration =
        "No launch of this span had both a token and a fingerprint. Only a token shows whether the match by"
        + " fingerprint would have been right."
    static let collisions = "Shared fingerprints"
    static let noCollisions =
        "Shared fingerprints are counted once a day; no count has ended yet. `afterlink collisions` counts now."
    static let noLimit = "none meets it"

    static func answersTitle(_ span: String) -> String { "Launches by answer, \(span)" }
    static func client(_ group: DriftGroup) -> String { part(group.client) }
    static func system(of group: DriftGroup) -> String { "\(part(group.platform)) \(part(group.osVersion))" }
    static func system(_ side: DriftSide) -> String { side == .launch ? "System, SDK" : "System, browser" }

    private static func part(_ part: DriftGroup.Part) -> String {
        switch part {
        case .value(let text): words(text)
        case .unknown: "unknown"
        case .others: "others"
        case .all: "all"
        }
    }

    static func status(_ reading: DriftReading) -> String {
        guard let alarm = reading.alarm else { return reading.status == .learning ? "learning" : "steady" }
        return "fallen to \(percent(alarm.rate)) since \(time(alarm.since))"
    }

    static func calibrationError(_ error: Double, launches: Int64) -> String {
        "Over \(count(launches)) launches with a token, expected and right answers differ by \(percent(error)) on average."
    }

    static func range(_ low: Double, _ high: Double) -> String { "\(percent(low)) – \(percent(high))" }

    static func falseMatches(_ report: CollisionReport, of app: String) -> String {
        guard let share = report.falseShare else { return "\(app) has no recorded match by fingerprint." }
        return "Of \(count(report.matches)) recorded matches of \(app) by fingerprint, "
            + "\(decimal(report.expectedFalse)) ± \(decimal(report.spread)) are expected to be wrong (\(percent(share)))."
    }

    static func age(milliseconds: Int64) -> String {
        "Counted \(ElapsedTime.text(milliseconds: milliseconds)) ago. `afterlink collisions` counts now."
    }

    static func sharing(_ app: String) -> TableText {
        [
            "How many people share a fingerprint, \(app)": [
                "Fingerprints", "Clicks", "Alone", "Competing clicks",
            ]
        ]
    }

    static func limits(_ app: String) -> TableText {
        let headings = [
            "Wrong matches at most", "Minimum confidence", "Matches with it", "Or window", "Matches in it",
        ]
        return ["Settings that keep wrong matches rare, \(app)": headings]
    }

    /// Returns a small number with up to four digits after the point.
    static func fraction(_ number: Double) -> String {
        guard number.isFinite, abs(number) < 1e9 else { return "–" }
        let scaled = Int64((number * 10_000).rounded())
        let digits = String(10_000 + abs(scaled % 10_000)).dropFirst()
        let end = digits.lastIndex { $0 != "0" }.map { "." + digits[...$0] } ?? ""
        return "\(scaled < 0 ? "−" : "")\(abs(scaled / 10_000))\(end)"
    }

    // Other windows and minimum confidences
    static let grid = "Other windows and minimum confidences"
    static let gridExplained =
        "A backtest replays the app's recent live launches with each setting. It shows the matches gained (+) and lost (−)"
        + " against the current settings, and how many of all matches by fingerprint are expected to be wrong. A cell"
        + " leads to the command for its setting; this page changes nothing."
    static let window = "Window"
    static let asNow = "as now"
    static let gained = "Launches that gain a match"
    static let lost = "Launches that lose their match"
    static let redirected = "Launches that get another link"
    static let expectedWrong = "Matches expected to be wrong"
    static let noGrid =
        "Nothing has been compared yet. A job compares once a day, for the first time a day after the first launch,"
        + " and whenever someone requests it here."
    static let emptyGrid = "The last comparison found no live launch that counts."
    static let gridLimited =
        "The comparison has only the newest \(count(PolicyGrid.eventLimit)) clicks and launches of the app."
        + " `afterlink backtest` replays all of them, also on a backup."
    static let gridUnfinished =
        "The last comparison was stopped after \(PolicyGrid.timeLimitSeconds / 60) minutes of replay, so that other work"
        + " continues. Settings without figures were not reached; `afterlink backtest` replays one setting without this limit."
    static let gridOutdated =
        "The app's minimum confidence has changed since this comparison. The next comparison uses the new value."
    static let gridRequested =
        "A comparison was requested. It runs in the background with a twentieth of a core; reload this page to see it."
    static let compareNow = "Compare now"
    static let isCurrent = "This is the current setting."
    static let gridCommand =
        "This command sets it. It takes effect within half a second, for all later launches."
    static let longerWindow =
        "A longer window applies to new clicks, unless a link or a request sets a window of its own."

    static func gridCaption(_ app: String) -> String {
        "Matches gained and lost, and expected wrong, by window and minimum confidence, \(app)"
    }

    static func atLeast(_ minimum: Double) -> String { "≥ \(fraction(minimum))" }

    static func cell(_ result: PolicyGrid.Result) -> String {
        "+\(count(result.gained)) −\(count(result.lost)), \(decimal(result.expectedWrong)) wrong"
    }

    static func currentCell(_ result: PolicyGrid.Result) -> String {
        "now \(count(result.matches)), \(decimal(result.expectedWrong)) wrong"
    }

    static func choice(_ window: String, _ minimum: Double) -> String {
        "Window \(window), minimum confidence \(fraction(minimum))"
    }

    static func compared(_ grid: PolicyGrid, at now: Timestamp) -> String {
        "Compared \(ElapsedTime.text(milliseconds: now.milliseconds(since: grid.computedAt))) ago:"
            + " \(count(grid.launches)) launches from \(time(grid.from)) to \(time(grid.to)),"
            + " with \(count(grid.clicks)) clicks of at most \(PolicyGrid.maximumDays) days. Windows for which older"
            + " clicks would be needed are left out."
    }
}
