/// The explanation of a click that no recorded check got.
public struct ClickExplanation: Equatable, Sendable {
    public let material: ClickExplanationInput
    /// Whether the app currently recognises launches by fingerprints.
    public let usesFingerprints: Bool
    public let now: Timestamp
    /// The app's windows by method.
    public let windows: MethodWindows

    public init(
        _ material: ClickExplanationInput,
        usesFingerprints: Bool,
        at now: Timestamp,
        windows: MethodWindows = MethodWindows()
    ) {
        (self.material, self.usesFingerprints) = (material, usesFingerprints)
        (self.now, self.windows) = (now, windows)
    }

    public var click: KnownClick { material.click }

    /// The state of the click for a check that came now; never ``KnownClick/State/answered``.
    public var state: KnownClick.State { click.state(at: now, isAnswer: false) }
}

/// The stored facts about a click, for its explanation.
public struct ClickExplanationInput: Equatable, Sendable {
    public var click: KnownClick
    public var app: AppID
    public var isTest: Bool
    /// The number of fingerprints and advertising ids that find the click; 0 if only its token does.
    public var keyCount: Int
    /// Whether the index contains the click, open or closed, under the first of these keys; true without a key.
    public var isIndexed: Bool
    /// Checks, from the click until a minute after its expiry, that have something in common with it; the
    /// nearest first.
    public var near: [RelatedCheck] = []
    /// The number of records that were searched for ``near``.
    public var searchedChecks = 0
    /// Whether all records from the click until a minute after its expiry were searched.
    public var hasSearchedAll = true

    /// The largest number of checks in ``near``.
    public static let nearLimit = 8

    public init(_ click: KnownClick, app: AppID, isTest: Bool, keyCount: Int, isIndexed: Bool) {
        (self.click, self.app, self.isTest) = (click, app, isTest)
        (self.keyCount, self.isIndexed) = (keyCount, isIndexed)
    }
}

/// A check that has something in common with a click but did not get it.
public struct RelatedCheck: Equatable, Sendable {
    /// What the check and the click have in common; the cases are ordered from the nearest to the farthest.
    public enum Relation: String, CaseIterable, Comparable, Sendable {
        /// The click was among the most likely ones.
        case weighed
        case sameFingerprint = "same_fingerprint"
        case sameAddress = "same_address"
        /// Both came from one network (IPv4 /24, IPv6 /48).
        case nearAddress = "near_address"

        private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }

        public static func < (left: Relation, right: Relation) -> Bool { left.rank < right.rank }
    }

    public let record: RecordedCheck
    public let relation: Relation

    public init(_ record: RecordedCheck, _ relation: Relation) {
        self.record = record
        self.relation = relation
    }
}

extension ClickExplanation {
    /// What happened to the click, in one or more sentences.
    public var summary: String {
        let start = "No check is known that got the click \(click.id.text)\(Explanation.of(click.campaign))."
        return ([start, fate] + [hindrance, nearestCheck].compactMap(\.self)).joined(separator: " ")
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
            let time = click.claimedAt ?? click.clickedAt
            let method = click.claimedBy?.meaning ?? "the method is not known"
            return
                "A launch consumed it at \(time.iso8601), \(Explanation.elapsed(from: click.clickedAt, to: time))"
                + " after the click: \(method). The record of that check is no longer stored."
        case .retired:
            return
                "It was retired when a launch consumed another click of the same visitor on the same link."
        case .robot:
            return
                "It comes from a robot, a preview or a browser that fetches ahead: no person has seen it, and no launch is"
                + " credited to it."
        }
    }

    /// What prevents launches from finding the click; nil if nothing does.
    private var hindrance: String? {
        guard state != .robot else { return nil }
        if material.keyCount == 0 {
            return switch click.basis {
            case nil:
                "It has no fingerprint, because its device sent too few values: only its token leads to it."
            case .request:
                "It has no fingerprint, because its page ran no script: only its token leads to it."
            case .counted:
                "It was only counted: its visitor opted out of tracking, and no launch is credited to it."
            }
        }
        if !material.isIndexed { return "No row of the index leads to it, so no fingerprint can find it." }
        guard !usesFingerprints else { return shorterWindow }
        return
            "The app recognises no launch by its fingerprint: only its token or an advertising id leads to it."
    }

    /// The windows of the app that are shorter than the click's; nil if none is.
    private var shorterWindow: String? {
        let sentences = [
            ("fingerprints", "--fingerprint-window", windows.fingerprint),
            ("tokens and ids", "--deterministic-window", windows.deterministic),
        ].compactMap { name, option, window -> String? in
            let end = click.limited(to: window).expiresAt
            guard let window, end < click.expiresAt else { return nil }
            return "For \(name), its window ended or ends at \(end.iso8601): the app's \(option) is"
                + " \(window.seconds) s."
        }
        return sentences.isEmpty ? nil : sentences.joined(separator: " ")
    }

    private var nearestCheck: String? {
        guard state != .robot, state != .claimed else { return nil }
        let searched = material.hasSearchedAll ? "" : " among the first \(material.searchedChecks) records"
        guard let nearest = material.near.first else {
            return "No check with its fingerprint or from near its address came in its window\(searched)."
        }
        let (record, facts) = (nearest.record, nearest.record.facts)
        let elapsed = Explanation.elapsed(from: click.clickedAt, to: facts.at)
        let ending =
            switch facts.outcome {
            case .match: "got another click"
            case .replay: "got the answer of another click again"
            case .noMatch: "found nothing (\(facts.reason?.rawValue ?? NoMatchReason.noClick.rawValue))"
            }
        return
            "The nearest check\(searched), \(record.id.text), \(elapsed) after the click, \(nearest.relation.meaning)"
            + " and \(ending)."
    }

    /// Advice on what to do: each text is one sentence.
    public var advice: [String] {
        var advice: [String] = []
        if state != .robot, !material.isIndexed, material.keyCount > 0 {
            advice.append("Run `afterlink verify`: it compares the index with the clicks.")
        }
        if state != .robot, material.keyCount == 0, click.basis == nil {
            advice.append(
                "Let the page send signals (see the article on the API), or let its token reach the first launch."
            )
        }
        if state != .robot, click.isContradictory {
            advice.append(
                "Its page sent a ready-made fingerprint that is none of those that the page's signals give: correct how the"
                    + " page makes it, or let the page send the signals alone."
            )
        }
        if !usesFingerprints, material.keyCount > 0, state != .robot {
            advice.append("`afterlink apps set --fingerprinting on` switches fingerprints on.")
        }
        if let nearest = material.near.first {
            advice.append(
                "`afterlink explain \(nearest.record.id.text)` says why that check ended as it did."
            )
        } else if [.open, .expired].contains(state) {
            advice.append("Most clicks lead to no launch and end like this.")
        }
        return advice
    }
}

extension RelatedCheck.Relation {
    /// The relation as the middle of a sentence.
    public var meaning: String {
        switch self {
        case .weighed: "had it among its most likely clicks"
        case .sameFingerprint: "had its fingerprint"
        case .sameAddress: "came from its address with another fingerprint"
        case .nearAddress: "came from near its address with another fingerprint"
        }
    }
}
