/// L(h): launches a second with one fingerprint that no click explains.
struct OrganicIntensity {
    /// What answers count with.
    ///
    /// It starts at nothing and is believed more and more over six hours: a server that has seen no organic launches
    /// answers as the plain rule does.
    let stated: Double
    /// What learning counts with.
    ///
    /// It starts with a guess: from nothing, every launch with a candidate would be explained by it for ever.
    let learning: Double

    /// After so many seconds of observation it is believed for 63 parts in a hundred.
    static let priorSeconds = 6 * 3600.0

    /// - Parameters:
    ///   - organic: the fingerprint's own launches that no click explains.
    ///   - clicks: the live clicks with the fingerprint, their weights added up.
    ///   - span: the seconds that they come from.
    ///   - share: the share of launches that send a fingerprint of this form.
    ///   - model: what the app's traffic has taught.
    init(organic: Double, clicks: Double, span: Double, share: Double, model: MatchingModel) {
        let observed = model.epoch.observedSeconds(.organic, at: model.at)
        let seen = max(0, organic)
        // Clicks tell how frequent the device is, and the app how many launches without a click there are for each.
        let rate = share * clicks / max(span, 3600)
        let activity = model.presentActivity
        let seconds = Double(model.at.milliseconds(since: model.epoch.began)) / 1000
        let known = 1 - LearningEpoch.decay(seconds / Self.priorSeconds)
        stated = activity * known * Self.intensity(seen, observed, expected: model.organicPerClick * rate)
        learning = activity * Self.intensity(seen, observed, expected: model.organicPerClickGuess * rate)
    }

    /// The mean of a gamma distribution: one launch of prior knowledge, at the expected rate.
    private static func intensity(_ seen: Double, _ observed: Double, expected: Double) -> Double {
        guard expected > 0 else { return observed > 0 ? seen / observed : 0 }
        return (seen + 1) / (observed + 1 / expected)
    }
}
