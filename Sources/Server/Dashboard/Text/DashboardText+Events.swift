internal import Attribution

/// The sentences of the page Events.
extension DashboardText {
    static let events = "Events"
    static let revenue = "Revenue"
    static let verifiedRevenue = "Revenue (verified)"
    static let cohorts = "Cohorts"
    static let eventTable: TableText = [
        "Events by name and currency": [
            "Event", "Currency", "Events", "Installs", "Reported", "Verified (total)",
        ]
    ]
    static let revenueTable: TableText = [
        "Revenue by currency": ["Currency", "Reported", "Verified (total)"]
    ]
    static let eventsOfCampaigns = "Matches, events and revenue by campaign"
    static let eventsOfLinks = "Matches, events and revenue by link"
    static let eventsOfSources = "Matches, events and revenue by source"
    static let eventGroupHeadings = ["Matches", "Events", "Buyers", "Buyers per match", "Revenue (verified)"]
    /// The headings of the columns that other pages have for events.
    static let valueHeadings = ["Events", "Revenue (verified)"]
    static let revenueExplained =
        "Verified revenue comes from server keys and is the total. Reported revenue comes from apps, whose keys anyone can"
        + " read, so the total excludes it."
    static let cohortsExplained =
        "Each row is about the installations that were matched on one day in UTC. D0 is the first 24 hours"
        + " after each match. D7 has their events and their verified revenue up to the end of the seventh day"
        + " after D0. A dash means none, or a day that is still to come."

    static let cohortTable: TableText = [
        "Events and revenue by day of the match": ["Day", "Matches"] + EventCount.cohortDays.map { "D\($0)" }
    ]

    static func noEvents(_ span: String) -> String {
        "No events in this span (\(span)). Apps and servers send them to POST /v1/events."
    }

    /// Returns the reported and the verified revenue of a sum.
    static func amounts(_ sum: EventSum) -> [String] {
        guard let currency = sum.currency else { return ["–", "–"] }
        return [sum.reported, sum.verified].map { Money($0, currency).text }
    }

    /// Returns the verified revenue by currency, as `12.90 EUR`.
    static func totals(_ sums: EventSums) -> String {
        let totals = sums.revenue.filter { $0.verified != 0 }.compactMap { sum in
            sum.currency.map { "\(Money(sum.verified, $0).text) \($0.code)" }
        }
        return totals.isEmpty ? "–" : totals.joined(separator: ", ")
    }

    static func cohort(_ sums: EventSums) -> String {
        guard !sums.isEmpty else { return "–" }
        let revenue = totals(sums)
        return revenue == "–" ? count(sums.eventCount) : "\(count(sums.eventCount)) · \(revenue)"
    }
}
