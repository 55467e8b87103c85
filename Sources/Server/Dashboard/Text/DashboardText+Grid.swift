internal import Attribution

/// The sentences of the comparison of windows and minimum confidences.
extension DashboardText {
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
        "The comparison has only the newest \(count(Int64(PolicyGrid.eventLimit))) clicks and launches of the app."
        + " `afterlink backtest` replays all of them, also on a backup."
    static let gridUnfinished =
        "The last comparison was stopped after \(PolicyGrid.timeLimitSeconds / 60) minutes of replay, so that other work"
        + " continues. Settings without figures were not reached; `afterlink backtest` replays one setting without this limit."
    static let gridOutdated =
        "The app's minimum confidence has changed since this comparison. The next comparison uses the new"
        + " value."
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
        "+\(count(Int64(result.gained))) −\(count(Int64(result.lost))), \(decimal(result.expectedWrong)) wrong"
    }

    static func currentCell(_ result: PolicyGrid.Result) -> String {
        "now \(count(Int64(result.matches))), \(decimal(result.expectedWrong)) wrong"
    }

    static func choice(_ window: String, _ minimum: Double) -> String {
        "Window \(window), minimum confidence \(fraction(minimum))"
    }

    static func compared(_ grid: PolicyGrid, at now: Timestamp) -> String {
        "Compared \(ElapsedTime.text(milliseconds: now.milliseconds(since: grid.computedAt))) ago:"
            + " \(count(Int64(grid.launches))) launches from \(time(grid.from)) to \(time(grid.to)),"
            + " with \(count(Int64(grid.clicks))) clicks of at most \(PolicyGrid.maximumDays) days. Windows for which older"
            + " clicks would be needed are left out."
    }
}
