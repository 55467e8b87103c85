internal import Attribution

/// The sentences of the charts, and of the pages Campaigns and Matching.
extension DashboardText {
    // Charts
    static let timeFrom = "From"
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
    static let linksOfCampaign = "Links of this campaign, all time"
    static let campaignLinkHeadings = ["Link", "Clicks", "Matches"]
    static let noLinkOfCampaign =
        "No link has this campaign: its clicks come from pages or from your own server."

    static func title(ofCampaign name: String) -> String { "Campaign \(name)" }
    static func campaignChart(_ span: String) -> String { "Clicks and matches, \(span)" }
    static func noCampaignTraffic(_ span: String) -> String {
        "This campaign had no click in this span (\(span))."
    }
    static func shown(_ first: Int, _ last: Int, of all: Int) -> String {
        "\(count(Int64(first)))–\(count(Int64(last))) of \(count(Int64(all)))"
    }

    // Matching
    static let matching = "Matching"
    static let answers = "Answers"
    static let otherReasons = "Other reasons"
    static let drift = "Match rates of systems, SDKs and browsers"
    static let driftCaption = "Match rates of the last 7 days, compared with the days before"
    static let driftHeadings = ["Group", "28 days", "Launches or clicks", "Usual", "Now", "Status"]
    static let noDrift =
        "No group is watched yet. Live launches and clicks are counted by group every six hours, at 0, 6, 12 and 18 UTC."
    static let chooseApp = "Choose an app to see the days of each group."
    static let chooseAppToCompare = "Choose an app to see what other settings would change."
    static let ratesBySDK = "Match rate by system and SDK, last 7 days"
    static let ratesByBrowser = "Match rate by system and browser, last 7 days"
    static let calibration = "Calibration: stated and true probabilities"
    static let calibrationCaption = "Launches by stated probability"
    static let calibrationHeadings = ["Stated", "Launches", "Stated, average", "Expected", "Right"]
    static let noCalibration =
        "No launch of this span had both a token and a fingerprint. Only a token shows whether the match by"
        + " fingerprint would have been right."
    static let collisions = "Shared fingerprints"
    static let noCollisions =
        "Shared fingerprints are counted once a day; no count has ended yet. `afterlink collisions` counts now."
    static let sharingHeadings = ["Fingerprints", "Clicks", "Alone", "Competing clicks"]
    static let limitHeadings = [
        "Wrong matches at most", "Minimum confidence", "Matches with it", "Or window", "Matches in it",
    ]
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
        return "Of \(count(Int64(report.matches))) recorded matches of \(app) by fingerprint, "
            + "\(decimal(report.expectedFalse)) ± \(decimal(report.spread)) are expected to be wrong (\(percent(share)))."
    }

    static func age(milliseconds: Int64) -> String {
        "Counted \(ElapsedTime.text(milliseconds: milliseconds)) ago. `afterlink collisions` counts now."
    }

    static func sharing(_ app: String) -> String { "How many people share a fingerprint, \(app)" }
    static func limits(_ app: String) -> String { "Settings that keep wrong matches rare, \(app)" }

    /// Returns a small number with up to four digits after the point.
    static func fraction(_ number: Double) -> String {
        guard number.isFinite, abs(number) < 1e9 else { return "–" }
        let scaled = Int64((number * 10_000).rounded())
        let digits = String(10_000 + abs(scaled % 10_000)).dropFirst()
        let end = digits.lastIndex { $0 != "0" }.map { "." + digits[...$0] } ?? ""
        return "\(scaled < 0 ? "−" : "")\(abs(scaled / 10_000))\(end)"
    }
}
