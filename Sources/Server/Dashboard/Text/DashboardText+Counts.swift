internal import Attribution

/// Sentences about counts and their days.
extension DashboardText {
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
}
