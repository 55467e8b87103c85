/// The explanation of a check: why it matched or did not match.
public struct Explanation: Equatable, Sendable {
    public let record: RecordedCheck
    /// The values of the launch's fingerprint, if the search found them.
    public var launch: FingerprintInput?
    /// The number of combinations of values that the search tried; nil without a search.
    public var triedCombinations: Int?
    /// The clicks that concern the check, the nearest to a match first.
    public var clicks: [ExplainedClick] = []
    /// The app's windows by method, which may be shorter than the clicks' own windows.
    public var windows = MethodWindows()

    public init(record: RecordedCheck) { self.record = record }
}

/// One click of an explanation.
public struct ExplainedClick: Equatable, Sendable {
    /// A component in which a click and a launch differ.
    public struct Difference: Equatable, Sendable {
        public let component: SignalComponent
        public let click: String
        public let launch: String

        public init(_ component: SignalComponent, click: String, launch: String) {
            self.component = component
            self.click = click
            self.launch = launch
        }
    }

    public let click: KnownClick
    public let state: KnownClick.State
    public let hasSameFingerprint: Bool
    /// The probability that the launch came for the click's destination, 0…1; nil if it was not recorded.
    public var share: Double?
    /// Whether click and launch reported the same screen width or, if a width is unknown, the same screen; nil if a
    /// screen is unknown too.
    public var hasSameScreen: Bool?
    /// Empty if the fingerprint is the same, or the values of one of the two are unknown.
    public var differences: [Difference] = []

    public init(_ click: KnownClick, _ state: KnownClick.State, hasSameFingerprint: Bool) {
        self.click = click
        self.state = state
        self.hasSameFingerprint = hasSameFingerprint
    }
}

extension Explanation {
    /// What happened, in one or more sentences.
    public var summary: String {
        let text =
            switch record.facts.outcome {
            case .match: matched
            case .replay:
                "The check got an earlier answer: its caller's own, or one that could not be delivered. \(matched)"
            case .noMatch: unmatched
            }
        return [text, playFinding, installed].compactMap(\.self).joined(separator: " ")
    }

    /// A sentence about a device that already had the app a day before the credited click; nil for any other device.
    ///
    /// If no credited click is known, the time of the launch takes the place of the click's time.
    private var installed: String? {
        let facts = record.facts
        guard let installed = facts.firstInstalledAt else { return nil }
        let answered = clicks.first { $0.state == .answered }?.click
        if let answered, answered.clickedAt.milliseconds(since: installed) >= Self.longInstalled {
            return
                "The device says that it had the app \(Self.elapsed(from: installed, to: answered.clickedAt)) before"
                + " that click: the person who clicked already had the app."
        }
        guard answered == nil, facts.at.milliseconds(since: installed) >= Self.longInstalled
        else { return nil }
        return
            "The device says that it has had the app for \(Self.elapsed(from: installed, to: facts.at)): this was"
            + " hardly its first launch."
    }

    /// A day in milliseconds: hardly any person waits longer from the installation to the first launch.
    private static let longInstalled: Int64 = 86_400_000

    private var matched: String {
        let facts = record.facts
        guard let click = facts.click else { return "The answer was a click that is no longer known." }
        var text = "The launch was credited to the click \(click.text)\(Self.of(record.campaign))"
        if let answered = clicks.first(where: { $0.state == .answered })?.click {
            text += ", \(Self.elapsed(from: answered.clickedAt, to: facts.at)) after the click"
        }
        text += ": \(facts.method?.meaning ?? "recognised")"
        if let confidence = facts.confidence {
            text += "; the probability that this is right is \(Self.percent(confidence))"
        }
        text += "."
        // The minimum applies only to matches by fingerprint.
        if let confidence = facts.confidence, facts.method?.confidence == nil,
            confidence < min(facts.minimumConfidence, Verdict.highestConfidence)
        {
            text +=
                " That is less than the \(Self.percent(facts.minimumConfidence)) that the app demands. The newest click"
                + " matches all the same if the app is set so, or while the server has learnt from too few launches."
        }
        if facts.candidates > 1 {
            let others = facts.candidates - 1
            text += others == 1 ? " Another live click" : " \(others) other live clicks"
            text += " had the same fingerprint."
        }
        if let isSame = clicks.first(where: { $0.state == .answered })?.hasSameScreen {
            text +=
                isSame
                ? " The launch reported the same screen as the click's page."
                : " The launch reported another screen than the click's page."
        }
        if facts.isCampaignOnly {
            text +=
                " It was not clear which of the campaign's links was meant, so the answer was the app's default link."
        }
        return text
    }

    private var unmatched: String {
        let reason = record.facts.reason ?? .noClick
        let meaning = reason.meaning
        return switch reason {
        case .noClick: withoutClick
        case .organic where record.facts.fingerprint != nil: "\(meaning.sentence) \(withoutClick)"
        case .expired: fate(.expired) ?? meaning.sentence + (limit.map { " The app's \($0)." } ?? "")
        case .alreadyClaimed: fate(.claimed) ?? meaning.sentence
        default: meaning.origin == .probability ? "\(meaning.sentence): \(probabilities)" : meaning.sentence
        }
    }

    /// The app's setting that limits the window of the expired click, with its value; nil if none does.
    private var limit: String? {
        let click = clicks.first { $0.state == .expired && $0.hasSameFingerprint }?.click
        // If no click has the launch's fingerprint, the token or the named click had expired.
        let isNamed = click == nil && record.facts.namesClick
        guard let window = isNamed ? windows.deterministic : windows.fingerprint else { return nil }
        if let click, window.end(ofClickAt: click.clickedAt) > click.expiresAt { return nil }
        return "\(isNamed ? "--deterministic-window" : "--fingerprint-window") is \(window.seconds) s"
    }

    private var probabilities: String {
        let facts = record.facts
        let words = [
            facts.confidence.map { "the most likely click has \(Self.percent($0))" },
            "the app demands \(Self.percent(facts.minimumConfidence))",
            facts.organicShare.map { "a launch from no click has \(Self.percent($0))" },
            "live clicks: \(facts.candidates)",
        ]
        return words.compactMap(\.self).joined(separator: ", ") + "."
    }

    /// Returns what happened to the first listed click with this state and the launch's fingerprint; nil if
    /// there is none.
    private func fate(_ state: KnownClick.State) -> String? {
        let facts = record.facts
        guard let click = clicks.first(where: { $0.state == state && $0.hasSameFingerprint })?.click
        else { return nil }
        var text = "The click \(click.id.text)\(Self.of(click.campaign))"
        if state == .expired {
            let window = ElapsedTime.text(milliseconds: click.expiresAt.milliseconds(since: click.clickedAt))
            text +=
                " has the launch's fingerprint, and had expired \(Self.elapsed(from: click.expiresAt, to: facts.at))"
            return text + " before: its window was \(window)\(limit.map { ", as the app's \($0)" } ?? "")."
        }
        let claimedAt = click.claimedAt ?? facts.at
        text += " has the launch's fingerprint, and had been consumed by another launch"
        return text + " \(Self.elapsed(from: claimedAt, to: facts.at)) before."
    }

    private var withoutClick: String {
        guard record.facts.fingerprint != nil else {
            return record.facts.namesClick
                ? "The launch named a click that does not exist, and brought no fingerprint."
                : "The launch brought nothing that could find a click."
        }
        let start = "No click has the launch's fingerprint"
        guard let launch else {
            guard let triedCombinations, triedCombinations > 0 else { return start + "." }
            return start + ", and none of \(triedCombinations) combinations of known values makes it."
        }
        let made = "\(start), which is of form \(launch.form.rawValue) and made of \(launch.words)."
        guard let near = clicks.first(where: { !$0.differences.isEmpty })
        else { return "\(made) No recent click is near it." }
        let differences = near.differences.map { "click says \($0.click), launch hash fits \($0.launch)" }
        let elapsed = Self.elapsed(from: near.click.clickedAt, to: record.facts.at)
        let click = near.click.id.text + Self.of(near.click.campaign)
        return "\(made) The nearest click, \(click), \(elapsed) before, differs: "
            + differences.joined(separator: "; ") + "."
    }

    /// Advice on how to match the next such launch, one text for each cause or remedy.
    ///
    /// For a match or a replay, the advice about its ``PlayFinding``; empty without one.
    public var advice: [String] {
        guard record.facts.outcome == .noMatch else { return record.facts.playFinding?.advice ?? [] }
        let reason = record.facts.reason ?? .noClick
        if reason == .expired, let option = limit?.prefix(while: { $0 != " " }) {
            return [
                "If people take longer to install, set a longer window with `afterlink apps set \(option)`."
            ]
        }
        guard reason == .noClick else { return reason.meaning.advice }
        guard record.facts.fingerprint != nil else {
            return ["Let the client send what it knows: a fingerprint, its signals, or the install referrer."]
        }
        guard launch != nil else { return reason.meaning.advice }
        guard let near = clicks.first(where: { !$0.differences.isEmpty })
        else { return ["Most likely the launch came from no campaign, or the page lost the click."] }
        return near.differences.map(\.component.advice)
            + ["If the nearest click is another person's, the launch came from no click."]
    }

    /// Returns the campaign as a part of a sentence; empty without one.
    static func of(_ campaign: CampaignKey?) -> String {
        campaign.map { " of the campaign \"\($0.text)\"" } ?? ""
    }

    static func elapsed(from start: Timestamp, to end: Timestamp) -> String {
        ElapsedTime.text(milliseconds: end.milliseconds(since: start))
    }

    /// Returns a probability as `83 %`, and a value below 1 never as `100 %`; `– %` for NaN and infinity.
    public static func percent(_ probability: Double) -> String {
        guard probability.isFinite else { return "– %" }
        let percent = Int(min(max(probability, 0), 1) * 100 + 0.5)
        guard percent == 100, probability < 1 else { return "\(percent) %" }
        return "99.\(min(Int(probability * 1000) - 990, 9)) %"
    }
}

extension FingerprintInput {
    /// The components with their values, as `model iPhone, timezone Asia/Dubai, language tr`.
    public var words: String {
        zip(form.components, values).map { "\($0.rawValue) \($1)" }.joined(separator: ", ")
    }
}

extension SignalComponent {
    /// Why a click and its launch may differ in the component, and what to do.
    var advice: String {
        switch self {
        case .model:
            "model: browsers that hide it reveal it only in client hints; let the page ask for them (Accept-CH) and send"
                + " uaModel. On iOS it was another kind of device."
        case .osVersion:
            "osVersion: the device was updated in between, or its browser hides the version and the release is not"
                + " known yet; give a newer table of releases with --device-data."
        case .screen: "screen: another device, or the page sends sides that are not the screen's own."
        case .width:
            "width: Display Zoom, or a panel that is not known yet; give a newer table of panels with --device-data."
        case .timezone:
            "timezone: the device changed its zone between click and launch, or page and app read it differently: both"
                + " should send the system's own name."
        case .language:
            "language: iOS gives an app one of the languages that it comes in; name those with `afterlink apps set"
                + " --localization`."
        }
    }
}

/// The facts about a click that an explanation needs.
public struct KnownClick: Equatable, Sendable {
    public let id: ClickID
    public var clickedAt: Timestamp
    public var expiresAt: Timestamp
    public var campaign: CampaignKey?
    public var platform = Platform.unknown
    public var isRobot = false
    /// Whether the click came with a ready-made fingerprint that is none of those that its signals give.
    public var isContradictory = false
    /// When a launch consumed the click, and how that launch was recognised; both are nil if none did.
    public var claimedAt: Timestamp?
    public var claimedBy: AttributionMethod?
    /// Whether checks no longer find the click because a launch consumed a later click of the same visit.
    public var isRetired = false
    /// How the click's address compares with the launch's.
    public var agreement = AddressAgreement.missing
    /// The click's values as text, as in ``ClickEvidence/canonicalText``; nil for a click without values.
    public var canonicalText: String?
    /// The click ids of ad networks, as in ``Click/Facts/clickIDs``.
    public var clickIDs: String?

    public init(id: ClickID, clickedAt: Timestamp, expiresAt: Timestamp, campaign: CampaignKey? = nil) {
        (self.id, self.clickedAt, self.expiresAt, self.campaign) = (id, clickedAt, expiresAt, campaign)
    }

    /// Returns the click with its expiry shortened to a window, if the window is shorter than the click's own.
    func limited(to window: AttributionWindow?) -> KnownClick {
        var click = self
        if let window { click.expiresAt = min(expiresAt, window.end(ofClickAt: clickedAt)) }
        return click
    }

    /// The reason why the click contains little about its visitor; nil for a complete click.
    public var basis: ClickBasis? { canonicalText.flatMap { ClickBasis(suffixOf: $0) } }

    /// The relation of the click to a check.
    public enum State: String, CaseIterable, Sendable {
        /// The check got the click.
        case answered
        /// The check could have got the click.
        case open
        /// Another launch had consumed the click.
        case claimed
        /// The click's visitor clicked the same link again, and a launch consumed that later click.
        case retired
        case expired
        case robot
        /// The click came after the check.
        case later
    }

    /// Returns the relation of the click to a check at a time; `isAnswer` is whether the check got the click.
    public func state(at time: Timestamp, isAnswer: Bool) -> State {
        if isAnswer { return .answered }
        if isRobot { return .robot }
        if clickedAt > time { return .later }
        if let claimedAt, claimedAt <= time { return .claimed }
        if expiresAt < time { return .expired }
        return isRetired ? .retired : .open
    }
}

/// The stored facts about a check, for its explanation.
public struct ExplanationInput: Sendable {
    public var record: RecordedCheck
    /// Clicks with the check's fingerprint, live or not, newest first.
    public var sameFingerprint: [KnownClick] = []
    /// Clicks that the check got or weighed; clicks of ``sameFingerprint`` may be among them.
    public var named: [KnownClick] = []
    /// The app's newest clicks that have signals, newest first.
    ///
    /// They were recorded at most a second after the check, and none is a robot's.
    public var recent: [KnownClick] = []

    /// The largest number of live clicks in ``sameFingerprint``, and also the largest number of closed clicks.
    public static let sameFingerprintLimit = 20
    /// The largest number of clicks in ``recent``.
    public static let recentLimit = 2000

    public init(record: RecordedCheck) { self.record = record }
}
