/// The sentences of the live page and of exports.
extension DashboardText {
    static let export = "Export"
    static let asCurl = "As curl, with the service's address and an admin key in two variables"
    static let asCommand = "As a command on the server"
    static let rowsOfPage = "with the rows that this page shows"
    static let noTable = "The page does not have this table now, because it has no rows for it."

    static let liveTraffic = "Live"
    static let newest: TableText = ["Newest clicks and launches": ["Time", "What", "Campaign", "App"]]
    static let reload = "Reload"
    static let perMinute = "Clicks, launches and matches of the last 30 minutes"
    static let minute = "Minute"
    static func minutesAgo(_ count: Int) -> String { count == 0 ? "Now" : "\(count) min ago" }
    static let noneLive = "There was no traffic in the last 30 minutes. What happens now appears here."
    static let liveNote =
        "The page follows the traffic of all servers by itself while it is visible. Without script, reload it."
    static let liveCurl =
        "As curl: the clicks and then the launches since the first of these minutes. Each line starts with"
        + " its cursor. With the last cursor as since, the call returns the later lines"
    static let liveCommand = "As a command on the server, which shows the launches"
    static let tooManyStreams =
        "64 live pages are open already, which is the limit. This page reloads its rows every 5 seconds."
    static let sessionEnded = "The session has ended, so this page no longer follows the traffic."
    static let click = "Click"
    static let robotClick = "Click of a robot"
}
