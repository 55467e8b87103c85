/// Why Google Play's report casts doubt on a launch that brought the right token or click id.
///
/// The match stays, without a guarantee. The raw value is the word on the wire and in the database.
public enum PlayFinding: String, CaseIterable, Sendable {
    /// The installation began before the store click.
    case clickInjection = "click_injection"
    /// Google saw the store click too long before or after Afterlink's click.
    case clickSpamming = "click_spamming"
    /// One of Google's two times is missing, or the installation began after the launch, so nothing can be
    /// compared with the click.
    case noServerTimes = "no_server_times"

    /// The probability that a match with a finding is right.
    public static let confidence = 0.5

    /// Advice for the operator, one text for each cause or remedy.
    public var advice: [String] {
        switch self {
        case .clickInjection:
            [
                "Look at the campaign's partners: another app on the device can send a click when it sees that an"
                    + " installation begins."
            ]
        case .clickSpamming:
            [
                "Look at the campaign's partners: they may open links for visitors who never tap them, or may open the"
                    + " same link again.",
                "If the landing page keeps people longer before the store, `--play-bounds` sets wider bounds.",
            ]
        case .noServerTimes:
            [
                "Let the app read the referrer with version 2 or later of the Play Install Referrer library, and send"
                    + " all values of the report. An old version of the Google Play app reports no server times. A time"
                    + " after the launch does not come from Google Play."
            ]
        }
    }
}

extension Explanation {
    /// A sentence about the finding, with the times that differ; nil without a finding.
    var playFinding: String? {
        guard let finding = record.facts.playFinding else { return nil }
        let install = record.facts.play ?? PlayInstall()
        let doubt = " (\(finding.rawValue)), so the match is not guaranteed."
        switch finding {
        case .clickInjection:
            // If Google's times cannot be compared, the finding comes from the times of the device.
            let isByServer = install[.storeClick] != nil && install.begin(before: record.facts.at) != nil
            let times =
                isByServer
                ? install.times(.installBegin, .storeClick)
                : install.times(.installBeginOnDevice, .storeClickOnDevice)
            let early = times.map { Self.elapsed(from: $0.0, to: $0.1) + " " } ?? ""
            return
                "According to Google Play the installation began \(early)before the click that led to the store\(doubt)"
        case .clickSpamming:
            let clicked = clicks.first { $0.state == .answered }?.click.clickedAt
            guard let clicked, let seen = install.at(.storeClick) else {
                return
                    "Google Play saw the click in the store too long before or after the link's click\(doubt)"
            }
            let (first, last) = (min(clicked, seen), max(clicked, seen))
            return "Google Play saw the click in the store \(Self.elapsed(from: first, to: last))"
                + " \(seen < clicked ? "before" : "after") the link's click\(doubt)"
        case .noServerTimes:
            guard let begin = install.at(.installBegin), begin.isAhead(of: record.facts.at) else {
                return
                    "Google Play did not report both of the server times that could confirm the click\(doubt)"
            }
            return "According to the report of Google Play the installation began"
                + " \(Self.elapsed(from: record.facts.at, to: begin)) after the launch, so the report's server"
                + " times confirm no click\(doubt)"
        }
    }
}

extension PlayInstall {
    fileprivate func times(_ first: Time, _ second: Time) -> (Timestamp, Timestamp)? {
        guard let first = at(first), let second = at(second) else { return nil }
        return (first, second)
    }
}
