/// An explanation in words, for whoever made the campaign and for whoever builds the app.
extension Explanation {
    /// What happened, in one sentence or some.
    public var summary: String {
        let text =
            switch record.facts.outcome {
            case .match: matched
            case .replay:
                "This was a repetition: the same answer as before, given to the same caller again. \(matched)"
            case .noMatch: unmatched
            }
        return installed.map { "\(text) \($0)" } ?? text
    }

    /// A device that has had the app for long came from no click of now, or was set up anew.
    private var installed: String? {
        let facts = record.facts
        guard let installed = facts.firstInstalledAt else { return nil }
        let answered = clicks.first { $0.state == .answered }?.click
        if let answered, answered.clickedAt.milliseconds(since: installed) >= Self.longInstalled {
            return
                "The device says that it had the app \(Self.elapsed(from: installed, to: answered.clickedAt)) before"
                + " that click: who clicked was a user already."
        }
        guard answered == nil, facts.at.milliseconds(since: installed) >= Self.longInstalled else {
            return nil
        }
        return
            "The device says that it has had the app for \(Self.elapsed(from: installed, to: facts.at)): this was"
            + " hardly its first launch."
    }

    /// In milliseconds: nobody takes longer from the store to the first launch, or hardly anybody.
    private static let longInstalled: Int64 = 86_400_000

    private var matched: String {
        let facts = record.facts
        guard let click = facts.click else { return "A click was answered that is not known any more." }
        var text = "The launch was credited to the click \(click.text)"
        if let campaign = record.campaign { text += " of the campaign \"\(campaign.text)\"" }
        if let answered = clicks.first(where: { $0.state == .answered })?.click {
            text += ", \(Self.elapsed(from: answered.clickedAt, to: facts.at)) after it"
        }
        text += ": \(facts.method?.meaning ?? "recognised")"
        if let confidence = facts.confidence { text += ", which is right with \(Self.percent(confidence))" }
        text += "."
        if let confidence = facts.confidence,
            confidence < min(facts.minimumConfidence, Verdict.highestConfidence)
        {
            text +=
                " That is less than the \(Self.percent(facts.minimumConfidence)) that the app demands: the newest click is"
                + " answered where the app says so, and as long as there is hardly any traffic to learn from."
        }
        if facts.candidates > 1 {
            text += " \(facts.candidates - 1) other live clicks had the same fingerprint."
        }
        if let isSame = clicks.first(where: { $0.state == .answered })?.hasSameScreen {
            text +=
                isSame
                ? " The screen that the launch told is the one that the click's page told."
                : " The launch told another screen than the click's page."
        }
        if facts.isCampaignOnly {
            text +=
                " Which of its links was meant was not clear, so that the app's default link was answered."
        }
        return text
    }

    private var unmatched: String {
        switch record.facts.reason {
        case .noClick, nil: withoutClick
        case .expired:
            fate(.expired, "No live click has the launch's fingerprint, and the last one had expired.")
        case .alreadyClaimed:
            fate(.claimed, "Every click with the launch's fingerprint had led to another launch before.")
        case .robotClick:
            "The only clicks with the launch's fingerprint are of robots, previews or browsers that fetch ahead:"
                + " nobody has seen those."
        case .belowThreshold:
            "There were live clicks with the launch's fingerprint, but that one of them led to it is not as likely"
                + " as the app demands: \(likelihoods)"
        case .ambiguous:
            "A click led to this launch, but it is not clear which one: \(likelihoods)"
        case .otherApp: "The launch brought a click token of another app."
        case .tokenInvalid: "The launch brought a click token that is none, or was altered on its way."
        case .tokenUsed: "The launch brought a click token that another launch had brought before."
        case .fingerprintDisabled:
            "The app recognises nobody by a fingerprint, and the launch brought neither a token nor an"
                + " advertising id that is known."
        }
    }

    private var likelihoods: String {
        let facts = record.facts
        let words = [
            facts.confidence.map { "the likeliest has \(Self.percent($0))" },
            "the app demands \(Self.percent(facts.minimumConfidence))",
            facts.organicShare.map { "that it came from no click has \(Self.percent($0))" },
            "live clicks: \(facts.candidates)",
        ]
        return words.compactMap(\.self).joined(separator: ", ") + "."
    }

    /// What became of the last click of a kind.
    private func fate(_ state: KnownClick.State, _ otherwise: String) -> String {
        let facts = record.facts
        guard let told = clicks.first(where: { $0.state == state && $0.hasSameFingerprint })?.click else {
            return otherwise
        }
        var text = "The click \(told.id.text)"
        if let campaign = told.campaign { text += " of the campaign \"\(campaign.text)\"" }
        if state == .expired {
            let window = ElapsedTime.text(milliseconds: told.expiresAt.milliseconds(since: told.clickedAt))
            text +=
                " has the launch's fingerprint, and had expired \(Self.elapsed(from: told.expiresAt, to: facts.at))"
            return text + " before: its window was \(window)."
        }
        let claimedAt = told.claimedAt ?? facts.at
        text += " has the launch's fingerprint, and had been consumed by another launch"
        return text + " \(Self.elapsed(from: claimedAt, to: facts.at)) before."
    }

    private var withoutClick: String {
        guard record.facts.fingerprint != nil else {
            return record.facts.namesClick
                ? "The launch named a click that is not there, and brought no fingerprint."
                : "The launch brought nothing that a click could be found by."
        }
        let start = "No click has the launch's fingerprint"
        guard let launch else {
            guard let triedCombinations, triedCombinations > 0 else { return start + "." }
            return start + ", and none of \(triedCombinations) combinations of known values makes it."
        }
        let made = "\(start), which is of form \(launch.form.rawValue) and made of \(launch.told)."
        guard let near = clicks.first(where: { !$0.differences.isEmpty }) else {
            return "\(made) No recent click is near it."
        }
        let differences = near.differences.map { "click says \($0.click), launch hash fits \($0.launch)" }
        var text = "\(made) The nearest click, \(near.click.id.text)"
        if let campaign = near.click.campaign { text += " of the campaign \"\(campaign.text)\"" }
        text += ", \(Self.elapsed(from: near.click.clickedAt, to: record.facts.at)) before, differs: "
        return text + differences.joined(separator: "; ") + "."
    }

    static func elapsed(from start: Timestamp, to end: Timestamp) -> String {
        ElapsedTime.text(milliseconds: end.milliseconds(since: start))
    }

    /// As `83 %`; nothing that is less than certain shows as `100 %`.
    public static func percent(_ probability: Double) -> String {
        guard probability.isFinite else { return "– %" }
        let percent = Int(min(max(probability, 0), 1) * 100 + 0.5)
        guard percent == 100, probability < 1 else { return "\(percent) %" }
        return "99.\(min(Int(probability * 1000) - 990, 9)) %"
    }
}

extension FingerprintInput {
    /// Its components and their values, as `model iPhone, timezone Asia/Dubai, language tr`.
    public var told: String {
        zip(form.components, values).map { "\($0.rawValue) \($1)" }.joined(separator: ", ")
    }
}

extension AttributionMethod {
    /// How the launch was recognised, as the end of a sentence.
    public var meaning: String {
        switch self {
        case .signedToken: "it brought the click's own signed token"
        case .clickID: "it brought the click's identifier"
        case .idfa: "it has the IDFA that an ad network put on the click"
        case .gaid: "it has the Google advertising id that an ad network put on the click"
        case .probabilistic: "its fingerprint, and its address or signals, make the click likely"
        case .fingerprint: "its fingerprint makes the click likely"
        }
    }
}
