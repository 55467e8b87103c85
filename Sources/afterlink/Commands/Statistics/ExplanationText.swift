internal import Attribution
internal import Server

/// A check's explanation as text: the outcome, what to do, and the facts in tables.
struct ExplanationText {
    let explanation: Explanation

    var text: String {
        let advice = explanation.advice.map { "- \($0)" }.joined(separator: "\n")
        let parts = [Table.printable(explanation.summary), advice, check, clicks, differences]
        return parts.filter { !$0.isEmpty }.joined(separator: "\n\n")
    }

    private var check: String {
        let (record, facts) = (explanation.record, explanation.record.facts)
        return Table.text(
            facts: [
                ("at", facts.at.iso8601),
                ("outcome", facts.outcome.rawValue),
                ("reason", facts.reason?.rawValue),
                ("method", facts.method?.rawValue),
                ("confidence", facts.confidence.map(Explanation.percent)),
                ("demanded", Explanation.percent(facts.minimumConfidence)),
                ("came from no click", facts.organicShare.map(Explanation.percent)),
                ("live clicks", String(facts.candidates)),
                ("campaign", record.campaign?.text),
                ("form", explanation.launch?.form.rawValue ?? facts.platformForm?.form?.rawValue),
                ("fingerprint of", explanation.launch?.words),
                ("platform", facts.platform.rawValue),
                ("SDK", facts.sdkVersion),
                ("first installed", facts.firstInstalledAt.map(installed)),
                ("store click", facts.play?.at(.storeClick)?.iso8601),
                ("installation began", facts.play?.at(.installBegin)?.iso8601),
                ("installed version", facts.play?.version),
                ("doubt", facts.playFinding?.rawValue),
                ("request", facts.requestID),
                ("click ids", ClickIDsBody.words(clickIDs)),
                ("traffic", record.isTest ? "test" : nil),
            ],
            ("CHECK", record.id.text)
        )
    }

    /// The stored click ids of the click that the check got.
    private var clickIDs: String? { explanation.clicks.first { $0.state == .answered }?.click.clickIDs }

    private func installed(_ moment: Timestamp) -> String {
        let elapsed = explanation.record.facts.at.milliseconds(since: moment)
        let ago = elapsed >= 0 ? ", \(ElapsedTime.text(milliseconds: elapsed)) before" : ""
        return moment.iso8601 + ago
    }

    private var clicks: String {
        guard !explanation.clicks.isEmpty else { return "" }
        let at = explanation.record.facts.at
        return explanation.clicks.table([
            .left("CLICK", \.click.id.text),
            .left("CAMPAIGN") { $0.click.campaign?.text ?? "–" },
            .right("BEFORE") { ElapsedTime.text(milliseconds: at.milliseconds(since: $0.click.clickedAt)) },
            .left("STATE", state),
            .left("FINGERPRINT") { $0.hasSameFingerprint ? "same" : "other" },
            .right("SHARE") { $0.share.map(Explanation.percent) ?? "–" },
        ])
    }

    private func state(_ explained: ExplainedClick) -> String {
        let at = explanation.record.facts.at
        func ago(_ moment: Timestamp?) -> String {
            moment.map { " \(ElapsedTime.text(milliseconds: at.milliseconds(since: $0))) before" } ?? ""
        }
        return switch explained.state {
        case .expired: "expired" + ago(explained.click.expiresAt)
        case .claimed: "consumed by another launch" + ago(explained.click.claimedAt)
        case .retired: "retired with a later one"
        case .robot: "of a robot"
        case .answered: "this check's answer"
        case .open: "open"
        case .later: "came later"
        }
    }

    private var differences: String {
        let differences = explanation.clicks.flatMap { click in click.differences.map { (click.click, $0) } }
        guard !differences.isEmpty else { return "" }
        return differences.table([
            .left("CLICK", \.0.id.text),
            .left("DIFFERS IN", \.1.component.rawValue),
            .left("CLICK SAYS", \.1.click),
            .left("LAUNCH HASH FITS", \.1.launch),
        ])
    }
}

/// A click's explanation as text: its state, what to do, and the facts in tables.
struct ClickExplanationText {
    let explanation: ClickExplanation

    var text: String {
        let advice = explanation.advice.map { "- \($0)" }.joined(separator: "\n")
        let parts = [Table.printable(explanation.summary), advice, click, checks]
        return parts.filter { !$0.isEmpty }.joined(separator: "\n\n")
    }

    private var click: String {
        let (click, material) = (explanation.click, explanation.material)
        return Table.text(
            facts: [
                ("at", click.clickedAt.iso8601),
                ("state", explanation.state.rawValue),
                ("until", click.expiresAt.iso8601),
                ("campaign", click.campaign?.text),
                ("platform", click.platform.rawValue),
                ("found by", "\(material.keyCount) fingerprints and ids"),
                ("consumed", click.claimedAt?.iso8601),
                ("click ids", ClickIDsBody.words(click.clickIDs)),
                ("traffic", material.isTest ? "test" : nil),
            ],
            ("CLICK", click.id.text)
        )
    }

    private var checks: String {
        let (near, clickedAt) = (explanation.material.near, explanation.click.clickedAt)
        guard !near.isEmpty else { return "" }
        return near.table([
            .left("CHECK", \.record.id.text),
            .right("AFTER") {
                ElapsedTime.text(milliseconds: $0.record.facts.at.milliseconds(since: clickedAt))
            },
            .left("NEAR BECAUSE IT", \.relation.meaning),
            .left("OUTCOME", \.record.facts.outcome.rawValue),
            .left("REASON") { $0.record.facts.reason?.rawValue ?? "–" },
        ])
    }
}
