/// The meaning of a reason for no match, in words for people.
///
/// Explanations, trials and statistics use them; a new ``NoMatchReason`` needs a row in its `words`.
public struct ReasonWords: Sendable {
    /// What happened, in a sentence that is true for every launch with this reason.
    public let sentence: String
    /// Advice on how to match the next such launch, one sentence each.
    public let advice: [String]
    /// The finding of a trial of `afterlink simulate`, as the end of a sentence.
    public let trial: String
}

extension NoMatchReason {
    /// The reason's name in tables: `no click`.
    public var name: String { String(rawValue.map { $0 == "_" ? " " : $0 }) }

    public var words: ReasonWords {
        switch self {
        case .noClick:
            ReasonWords(
                sentence: "No click has the launch's fingerprint.",
                advice: [
                    "Check that the click reached this app (`afterlink stats`), and that the page sends signals: without"
                        + " them a click cannot be compared.",
                    "Most launches come from no click and end like this.",
                ],
                trial: "no open click of this app has the fingerprint"
            )
        case .expired:
            ReasonWords(
                sentence: "No live click has the launch's fingerprint, and the last one had expired.",
                advice: [
                    "If people of this campaign take longer to install, give its clicks a longer window"
                        + " (attribution_window_seconds, or `afterlink apps set --attribution-window`)."
                ],
                trial: "the click's attribution window had passed"
            )
        case .alreadyClaimed:
            ReasonWords(
                sentence: "Every click with the launch's fingerprint had already led to another launch.",
                advice: [
                    "This may be a reinstallation, or another device that looks the same: a click matches once, and a new"
                        + " click can match again.",
                    "If the app repeats a check after it got an answer, let it send X-Install-ID: the same installation"
                        + " gets the same answer.",
                ],
                trial: "the click was used up by an earlier launch"
            )
        case .robotClick:
            ReasonWords(
                sentence:
                    "The only clicks with the launch's fingerprint come from robots, previews or browsers that fetch"
                    + " ahead: no person has seen them.",
                advice: [
                    "Check that the page posts the click from the visitor's own browser: a click that a server posts"
                        + " carries the server's agent."
                ],
                trial: "the click is a robot's"
            )
        case .belowThreshold:
            ReasonWords(
                sentence:
                    "There were live clicks with the launch's fingerprint, but it is less likely than the app demands"
                    + " that one of them led to it",
                advice: [
                    "Such launches rightly get no campaign if most people with this device come without one.",
                    "A signed token (install referrer, pasteboard) makes matches certain; `afterlink apps set"
                        + " --minimum-confidence` lowers the bar, and gives organic launches to campaigns.",
                ],
                trial: "the click is less likely the right one than the app asks for"
            )
        case .ambiguous:
            ReasonWords(
                sentence: "A click led to this launch, but it is not clear which one",
                advice: [
                    "A signed token distinguishes such people; `afterlink apps set --on-ambiguity campaignOnly` credits"
                        + " the campaign if that much is clear."
                ],
                trial: "several clicks are about as likely"
            )
        case .otherApp:
            ReasonWords(
                sentence: "The launch brought a click token of another app.",
                advice: ["Check which app's links the campaign uses, and which app's key the client has."],
                trial: "the token is another app's"
            )
        case .tokenInvalid:
            ReasonWords(
                sentence: "The launch brought a click token that is malformed or was altered on its way.",
                advice: [
                    "Check what the store link or the page does with the token: it must arrive unchanged, and first in the"
                        + " referrer."
                ],
                trial: "the token is altered, expired, or none"
            )
        case .tokenUsed:
            ReasonWords(
                sentence: "The launch brought a click token that another launch had brought before.",
                advice: [
                    "This may be a reinstallation, or a link that was shared after it was opened: each click has a token."
                ],
                trial: "the token's click was used up by an earlier launch"
            )
        case .fingerprintDisabled:
            ReasonWords(
                sentence:
                    "The app recognises no launch by its fingerprint, and this one brought neither a token nor a known"
                    + " advertising id.",
                advice: [
                    "Only tokens and advertising ids count for this app; `afterlink apps set --fingerprinting on` lets"
                        + " fingerprints count."
                ],
                trial: "the app's settings allow no fingerprints"
            )
        }
    }
}

extension AttributionMethod {
    /// The way in which the launch was recognised, as the end of a sentence.
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
