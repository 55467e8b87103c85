/// A click's explanation in words.
extension ClickExplanation {
    /// What became of it, in one sentence or some.
    public var summary: String {
        let campaign = click.campaign.map { " of the campaign \"\($0.text)\"" } ?? ""
        let start = "No check is known that was answered with the click \(click.id.text)\(campaign)."
        return ([start, fate] + [hindrance, neighbours].compactMap(\.self)).joined(separator: " ")
    }

    private var fate: String {
        let window = ElapsedTime.text(milliseconds: click.expiresAt.milliseconds(since: click.clickedAt))
        switch state {
        case .open, .later, .answered:
            let left = Explanation.elapsed(from: now, to: click.expiresAt)
            return "It is live until \(click.expiresAt.iso8601), for \(left) more."
        case .expired:
            let ago = Explanation.elapsed(from: click.expiresAt, to: now)
            return "It expired at \(click.expiresAt.iso8601), \(ago) ago: its window was \(window)."
        case .claimed:
            let moment = click.claimedAt ?? click.clickedAt
            let method = click.claimedBy?.meaning ?? "the way is not known"
            return
                "A launch consumed it at \(moment.iso8601), \(Explanation.elapsed(from: click.clickedAt, to: moment))"
                + " after it: \(method). That check's own record is not among those that are kept."
        case .retired:
            return
                "It was taken out with another click of the same visitor on the same link, which led to a launch."
        case .robot:
            return
                "It is of a robot, a preview or a browser that fetches ahead: nobody has seen it, and no launch is"
                + " credited to it."
        }
    }

    /// What keeps launches from finding it.
    private var hindrance: String? {
        guard state != .robot else { return nil }
        if material.keyCount == 0 {
            return switch click.basis {
            case nil:
                "It has no fingerprint, because too little of its device was told: only its token leads to it."
            case .request:
                "It has no fingerprint, because its page ran no script: only its token leads to it."
            case .counted:
                "It was counted and nothing more: its visitor did not want to be tracked, and no launch is credited to it."
            }
        }
        if !material.isIndexed {
            return "No row of the index leads to it, so that no fingerprint can find it."
        }
        guard !usesFingerprints else { return nil }
        return "The app recognises nobody by a fingerprint: only its token or an advertising id leads to it."
    }

    private var neighbours: String? {
        guard state != .robot, state != .claimed else { return nil }
        let searched = material.hasSearchedAll ? "" : " among the first \(material.searchedChecks) records"
        guard let nearest = material.near.first else {
            return "No check with its fingerprint or from near its address came in its window\(searched)."
        }
        let (record, facts) = (nearest.record, nearest.record.facts)
        let elapsed = Explanation.elapsed(from: click.clickedAt, to: facts.at)
        let ending =
            switch facts.outcome {
            case .match: "was answered with another click"
            case .replay: "was given another click's answer again"
            case .noMatch: "found nothing (\(facts.reason?.rawValue ?? NoMatchReason.noClick.rawValue))"
            }
        return
            "The check that came nearest\(searched), \(record.id.text), \(elapsed) after it, \(nearest.relation.meaning)"
            + " and \(ending)."
    }

    /// What to do about it; empty where nothing is to be done.
    public var advice: [String] {
        var advice: [String] = []
        if state != .robot, !material.isIndexed, material.keyCount > 0 {
            advice.append("Run `afterlink verify`: it compares the index with the clicks.")
        }
        if state != .robot, material.keyCount == 0, click.basis == nil {
            advice.append(
                "Let the page send signals (see the API's article), or its token reach the first launch."
            )
        }
        if !usesFingerprints, material.keyCount > 0, state != .robot {
            advice.append("`afterlink apps set` switches fingerprints on.")
        }
        if let nearest = material.near.first {
            advice.append(
                "`afterlink explain \(nearest.record.id.text)` says why that check ended as it did."
            )
        } else if [.open, .expired].contains(state) {
            advice.append("Most clicks lead to no launch, and this is how they end.")
        }
        return advice
    }
}

extension RelatedCheck.Relation {
    /// As the middle of a sentence.
    public var meaning: String {
        switch self {
        case .weighed: "had it among its likeliest clicks"
        case .sameFingerprint: "had its fingerprint"
        case .sameAddress: "came from its address with another fingerprint"
        case .nearAddress: "came from near its address with another fingerprint"
        }
    }
}
