/// What can be done so that the next such launch ends better.
extension Explanation {
    /// One sentence each; empty where all is as it should be.
    public var advice: [String] {
        guard record.facts.outcome == .noMatch else { return [] }
        return switch record.facts.reason {
        case .noClick, nil: withoutClickAdvice
        case .expired:
            [
                "If people of this campaign take longer to install, give its clicks a longer window"
                    + " (attribution_window_seconds, or `afterlink apps set --attribution-window`)."
            ]
        case .alreadyClaimed:
            [
                "A reinstallation, or another device that looks the same; a click matches once. A new click makes a new"
                    + " match possible.",
                "Where an app asks again after it got an answer, let it send X-Install-ID: the same installation gets"
                    + " the same answer.",
            ]
        case .robotClick:
            [
                "Look whether the page posts the click from the visitor's own browser: a click that a server posts"
                    + " carries the server's agent."
            ]
        case .belowThreshold:
            [
                "Nothing is wrong where such launches come without a campaign: most people with this device do.",
                "A signed token (install referrer, pasteboard) makes matches certain; `afterlink apps set"
                    + " --minimum-confidence` lowers the bar, and gives organic launches to campaigns.",
            ]
        case .ambiguous:
            [
                "A signed token tells such people apart; `afterlink apps set --on-ambiguity campaignOnly` credits the"
                    + " campaign where that much is clear."
            ]
        case .otherApp: ["Look which app's links the campaign uses, and which app's key the client has."]
        case .tokenInvalid:
            [
                "Look what the store link or the page does with the token: it must arrive byte for byte, and first in"
                    + " the referrer."
            ]
        case .tokenUsed:
            ["A reinstallation, or a link that was shared after it was opened: each click has a token."]
        case .fingerprintDisabled:
            [
                "Only tokens and advertising ids count for this app; `afterlink apps set --fingerprinting on` lets"
                    + " fingerprints count."
            ]
        }
    }

    private var withoutClickAdvice: [String] {
        guard record.facts.fingerprint != nil else {
            return ["Let the client send what it knows: a fingerprint, its signals, or the install referrer."]
        }
        guard launch != nil else {
            return [
                "Look whether the click reached this app (`afterlink stats`), and whether the page sends signals: of a"
                    + " click without them nothing can be compared.",
                "Most launches come from no click, and this is how they end.",
            ]
        }
        guard let near = clicks.first(where: { !$0.differences.isEmpty }) else {
            return [
                "Most likely nobody clicked: the launch came from no campaign, or the page lost the click."
            ]
        }
        return near.differences.map(\.component.advice)
            + ["Where the nearest click is of other people, the launch came from no click."]
    }
}

extension SignalComponent {
    /// Why a click and its launch may differ in it, and what to do.
    var advice: String {
        switch self {
        case .model:
            "model: browsers that hide it tell it in client hints only; let the page ask for them (Accept-CH) and send"
                + " uaModel. On iOS it was another kind of device."
        case .osVersion:
            "osVersion: the device was updated in between, or its browser hides the version and the release is not"
                + " known yet; a newer table of releases is given with --device-data."
        case .screen: "screen: another device, or the page sends sides that are not the screen's own."
        case .width:
            "width: Display Zoom, or a panel that is not known yet; a newer table of panels is given with"
                + " --device-data."
        case .timezone:
            "timezone: the device changed its zone between click and launch, or page and app read it differently: both"
                + " should send the system's own name."
        case .language:
            "language: iOS tells an app one of the languages that it comes in; name those with `afterlink apps set"
                + " --localization`."
        }
    }
}
