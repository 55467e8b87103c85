internal import Attribution

/// A click's explanation for people: what became of it, what to do, and the facts in tables.
struct ClickExplanationText {
    private let explanation: ClickExplanation

    init(_ explanation: ClickExplanation) {
        self.explanation = explanation
    }

    var text: String {
        let advice = explanation.advice.map { "- \($0)" }.joined(separator: "\n")
        let parts = [Table.printable(explanation.summary), advice, click, checks]
        return parts.filter { !$0.isEmpty }.joined(separator: "\n\n")
    }

    private var click: String {
        let (click, material) = (explanation.click, explanation.material)
        var table = Table([("CLICK", .left), (click.id.text, .left)])
        table.add(["at", click.clickedAt.iso8601])
        table.add(["state", explanation.state.rawValue])
        table.add(["until", click.expiresAt.iso8601])
        if let campaign = click.campaign { table.add(["campaign", campaign.text]) }
        table.add(["platform", click.platform.rawValue])
        table.add(["found by", "\(material.keyCount) fingerprints and ids"])
        if let moment = click.claimedAt { table.add(["consumed", moment.iso8601]) }
        if material.isTest { table.add(["traffic", "test"]) }
        return table.text
    }

    private var checks: String {
        guard !explanation.material.near.isEmpty else { return "" }
        var table = Table([
            ("CHECK", .left), ("AFTER", .right), ("NEAR BECAUSE IT", .left), ("OUTCOME", .left),
            ("REASON", .left),
        ])
        for near in explanation.material.near {
            let facts = near.record.facts
            let elapsed = facts.at.milliseconds(since: explanation.click.clickedAt)
            table.add([
                near.record.id.text, ElapsedTime.text(milliseconds: elapsed), near.relation.meaning,
                facts.outcome.rawValue, facts.reason?.rawValue ?? "–",
            ])
        }
        return table.text
    }
}
