internal import Attribution

/// Sentences about counts and their days.
extension DashboardText {
    static let platform = "Platform"
    static let source = "Source"
    static let osVersion = "OS version"
    static let browsers = "Browsers"
    static let linkID = "Link"
    static let withoutHours =
        "Days in UTC: counts by name have hours for 30 days, and a day that starts at another hour is a sum of hours."
    static let severalOffsets = "Days in UTC: the apps have days of their own. Choose an app to see its days."
    static let partsOfSlice =
        "Counts are limited to one value, so there are no counts by other values, and no time to install."

    /// The sentence about a list of which only a part was read; a link below the list continues the search.
    static func searched(backTo time: Timestamp) -> String {
        "Searched back to \(self.time(time)). The link below searches further back."
    }

    static func noCounts(_ span: String) -> String {
        "Nothing with these choices was counted in this span (\(span))."
    }

    /// Returns the label of the period's field with the offset of its days, such as `Period (UTC+3)`.
    static func period(offset: Int64) -> String {
        offset == 0 ? "Period (UTC)" : "Period (UTC\(offset < 0 ? "−" : "+")\(abs(offset)))"
    }
}
