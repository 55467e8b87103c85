internal import Attribution

/// The words about Google Play's report on an installation.
extension DashboardText {
    static let playFindings = "Google Play findings"
    static let finding = "Finding"

    /// Returns the names and values of a launch's report; empty without a report.
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
}
