internal import Attribution
internal import JSON
internal import Storage

/// The numbers of records without a value that a replay needs, and the sentences that report them.
struct BacktestGaps {
    let gaps: HistoryGaps
    /// The time of the first record, if earlier ones were deleted; nil if none is missing.
    let firstHeld: Timestamp?

    /// The name of each gap in JSON, its number, and the sentence that follows the number.
    private var entries: KeyValuePairs<(name: String, count: Int), String> {
        [
            ("clicks_without_visitor", gaps.clicksWithoutVisitor):
                "clicks are from before visitors were recorded: each tap of one person counts as another visitor.",
            ("clicks_not_remade", gaps.clicksNotReconstructed):
                "clicks have fingerprints that their signals no longer produce, because tables, the app's languages"
                + " or the server key changed: the replay gives the fingerprints full weight and no form.",
            ("clicks_without_address", gaps.clicksWithoutAddress):
                "clicks have no address, or none that distinguishes visitors.",
            ("clicks_consumed_before", gaps.clicksConsumedBefore):
                "clicks were consumed before the first stored check, and remain consumed.",
            ("launches_without_caller", gaps.launchesWithoutCaller):
                "checks are from before callers were recorded: fingerprint and address stand for their callers.",
            ("launches_without_address", gaps.launchesWithoutAddress):
                "checks have no address, or none that distinguishes visitors.",
            ("launches_without_fingerprint", gaps.launchesWithoutFingerprint):
                "checks had no fingerprint: they find nothing under any policy.",
            ("launches_naming_other_click", gaps.launchesNamingOtherClick):
                "checks named a click by token or identifier and did not get it; the click is not recorded.",
            ("launches_not_recorded", gaps.launchesNotRecorded):
                "checks of a flood are not recorded and not counted above; the model learns from other checks of the same"
                + " time instead.",
            ("matches_not_recorded", gaps.matchesNotRecorded):
                "matches have no record of their check: the replay does not consume their clicks.",
            ("probabilities_not_known", gaps.probabilitiesNotKnown):
                "matches are from before probabilities above the limit of confidence were recorded: they count with that limit.",
        ]
    }

    /// The number of checks for each minimum confidence that the app demanded in its history.
    private var minimums: [(minimum: Double, count: Int)] {
        gaps.minimums.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Returns a line for each gap; none if the records are complete.
    func lines(current: ReplayPlan, proposed: ReplayPlan?) -> [String] {
        var lines = entries.filter { $0.key.count > 0 }.map { "\($0.key.count) \($0.value)" }
        let others = minimums.filter { $0.minimum != current.policy.minimumConfidence }
        if !others.isEmpty {
            let texts = others.map { "\($0.minimum) for \($0.count)" }
            lines.append(
                "The app demanded another minimum confidence earlier (\(texts.joined(separator: ", ")) checks);"
                    + " CURRENT applies \(current.policy.minimumConfidence) to all."
            )
        }
        guard let firstHeld else { return lines }
        lines.append(
            "Records from before \(firstHeld.iso8601) were deleted: what the model had learnt from them is unknown."
        )
        if let window = proposed?.window {
            let until = firstHeld.advanced(byMilliseconds: window.seconds * 1000)
            lines.append(
                "Under the proposed window, launches before \(until.iso8601) may have come from deleted clicks."
            )
        }
        return lines
    }

    func write(to json: inout JSONWriter) {
        for (gap, _) in entries { json.member(gap.name, gap.count) }
        json.member("nothing_before", firstHeld?.iso8601)
        json.objects("minimum_confidences", minimums) { json, entry in
            json.member("minimum_confidence", entry.minimum)
            json.member("launches", entry.count)
        }
    }
}
