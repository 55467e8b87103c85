/// The reason why a check got no click.
///
/// The raw value is the word in statistics, metrics and responses to test keys; `openapi.json` lists the words.
/// A new reason needs a case with its ``meaning`` here, and code at its ``Origin`` that reports it.
public enum NoMatchReason: String, CaseIterable, Sendable {
    case noClick = "no_click"
    case expired
    case alreadyClaimed = "already_claimed"
    case robotClick = "robot_click"
    case belowThreshold = "below_threshold"
    case ambiguous
    case otherApp = "other_app"
    case tokenInvalid = "token_invalid"
    case tokenUsed = "token_used"
    case fingerprintDisabled = "fingerprint_disabled"
    case organic

    public init(_ refusal: ClickTokenError) {
        self =
            switch refusal {
            case .malformed, .altered: .tokenInvalid
            case .otherApp: .otherApp
            case .expired: .expired
            }
    }

    /// The word as text for people: `no click`.
    public var name: String { String(rawValue.map { $0 == "_" ? " " : $0 }) }

    /// The reasons that a ``Verdict`` can have.
    public static let ofVerdicts = allCases.filter { [.probability, .setting].contains($0.meaning.origin) }
}

extension NoMatchReason {
    /// The part of a check that finds the reason; ``NoMatchReason/expired`` may also come from a token.
    public enum Origin: Sendable {
        /// `CheckReader` in `Storage/Checks`: the state of the newest click that the launch could have got.
        case click
        /// ``ClickTokenError`` for an invalid token, `CheckReader` for a token whose click cannot match.
        case token
        /// ``Verdict``: the probabilities of the live clicks. The explanation lists them after the sentence.
        case probability
        /// ``Verdict`` or ``MatchDecision``: the app's settings.
        case setting
        /// ``MatchDecision``: the install referrer of Google Play.
        case store
    }

    /// A reason in words for people.
    public struct Meaning: Sendable {
        public let origin: Origin
        /// What happened, as the end of a sentence: for the API's table of reasons and for `afterlink simulate`.
        public let clause: String
        /// What happened, in a sentence that is true for every launch with this reason.
        ///
        /// It has no full stop if its ``origin`` is ``Origin/probability``, because the probabilities follow it.
        public let sentence: String
        /// Advice on how to match the next such launch, one sentence each.
        public let advice: [String]

        fileprivate init(_ origin: Origin, _ clause: String, sentence: String, advice: [String]) {
            (self.origin, self.clause, self.sentence, self.advice) = (origin, clause, sentence, advice)
        }
    }

    public var meaning: Meaning {
        switch self {
        case .noClick:
            Meaning(
                .click,
                "no click that may match has the launch's fingerprint or id",
                sentence: "No click has the launch's fingerprint.",
                advice: [
                    "Check that the click reached this app (`afterlink stats`), and that the page sends signals: without"
                        + " them a click cannot be compared.",
                    "Most launches come from no click and end like this.",
                ]
            )
        case .expired:
            Meaning(
                .click,
                "the attribution window of the click, or of the token's click, had ended",
                sentence:
                    "The click that the launch named, or the last one with its fingerprint, had expired.",
                advice: [
                    "If people of this campaign take longer to install, give its clicks a longer window"
                        + " (attribution_window_seconds, or `afterlink apps set --attribution-window`)."
                ]
            )
        case .alreadyClaimed:
            Meaning(
                .click,
                "an earlier launch had consumed the click",
                sentence:
                    "The click that the launch named, or the last one with its fingerprint or advertising id, had"
                    + " already led to another launch.",
                advice: [
                    "This may be a reinstallation, or another device that looks the same: a click matches once, and a new"
                        + " click can match again.",
                    "If the app repeats a check after it got an answer, let it send X-Install-ID: the same installation"
                        + " gets the same answer.",
                ]
            )
        case .robotClick:
            Meaning(
                .click,
                "the click is a robot's",
                sentence:
                    "The click that the launch named, or the last one with its fingerprint, comes from a robot, a preview"
                    + " or a browser that fetches ahead: no person has seen it.",
                advice: [
                    "Check that the page posts the click from the visitor's own browser: a click that a server posts"
                        + " carries the server's agent."
                ]
            )
        case .belowThreshold:
            Meaning(
                .probability,
                "there are live clicks, but the probability that one of them led to the launch is below the app's"
                    + " minimum",
                sentence:
                    "There were live clicks with the launch's fingerprint, but the probability that one of them led to it"
                    + " is below the app's minimum",
                advice: [
                    "Such launches rightly get no campaign if most people with this device come without one.",
                    "A signed token (install referrer, pasteboard) makes matches certain; `afterlink apps set"
                        + " --minimum-confidence` lowers this minimum, and credits more launches to wrong campaigns.",
                ]
            )
        case .ambiguous:
            Meaning(
                .probability,
                "a click led to the launch, but several destinations compete",
                sentence: "A click led to this launch, but it is not clear which one",
                advice: [
                    "A signed token distinguishes such people; `afterlink apps set --on-ambiguity campaignOnly` credits"
                        + " the campaign if at least the campaign is clear."
                ]
            )
        case .otherApp:
            Meaning(
                .token,
                "the token is another app's",
                sentence: "The launch brought a click token of another app.",
                advice: ["Check which app's links the campaign uses, and which app's key the client has."]
            )
        case .tokenInvalid:
            Meaning(
                .token,
                "the token is malformed or was altered",
                sentence: "The launch brought a click token that is malformed or was altered on its way.",
                advice: [
                    "Check what the store link or the page does with the token: it must arrive unchanged, and first in the"
                        + " referrer."
                ]
            )
        case .tokenUsed:
            Meaning(
                .token,
                "an earlier launch had used the token",
                sentence: "The launch brought the token of a click that another launch had consumed before.",
                advice: [
                    "This may be a reinstallation, or a link that was shared after it was opened: a token belongs to one click."
                ]
            )
        case .fingerprintDisabled:
            Meaning(
                .setting,
                "the app does not use fingerprints, and the launch sent no token or id that names a click",
                sentence:
                    "The app recognises no launch by its fingerprint, and this one brought neither a token nor a known"
                    + " advertising id.",
                advice: [
                    "Only tokens and advertising ids count for this app; `afterlink apps set --fingerprinting on` lets"
                        + " fingerprints count."
                ]
            )
        case .organic:
            Meaning(
                .store,
                "no click that may match has the launch's fingerprint or id, and Google Play states that no campaign"
                    + " link led to the store",
                sentence: "Google Play states an organic installation: no campaign link led to the store.",
                advice: ["Such launches rightly get no campaign."]
            )
        }
    }
}
