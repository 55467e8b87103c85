public import Attribution
internal import JSON

/// The result of a trial: the server's responses, and the fingerprints that explain them.
public struct TrialResult: Sendable {
    public let trial: Trial
    public let reading: TrialAnalysis
    /// The server's response to the click.
    public let click: ClientResponse
    /// The server's response to the launch; nil if the click was refused, so that no launch was sent.
    public let launch: ClientResponse?
    /// The launch's time, if requests set the server's clock; nil otherwise.
    public let launchedAt: Timestamp?
    public let token: Token

    /// Whether the launch brought the click's token.
    public enum Token: Sendable {
        case notWanted
        case brought
        /// The launch should bring a token, but the server made none for the click.
        case missing
    }

    public init(
        _ trial: Trial,
        click: ClientResponse,
        launch: ClientResponse?,
        launchedAt: Timestamp? = nil,
        token: Token = .notWanted
    ) {
        self.trial = trial
        reading = TrialAnalysis(trial)
        (self.click, self.launch, self.launchedAt, self.token) = (click, launch, launchedAt, token)
    }

    /// Whether the launch got this click, or the earlier click that this one repeats.
    public var isMatched: Bool {
        launch?.isMatch == true && (launch?["jid"] == trial.journey || click.isRepeated)
    }

    /// Whether the launch got another live click with the same fingerprint.
    public var isMatchedByAnother: Bool { launch?.isMatch == true && !isMatched }

    /// Whether the launch came after the click's window.
    var isAfterWindow: Bool {
        guard let launchedAt, let expiresAt = click.expiresAt else { return false }
        return expiresAt < launchedAt
    }

    /// Whether the launch came within the click's window, and after the window that the app has for the method.
    ///
    /// Only the server knows an app's windows, so its reason decides; responses to test keys contain the reason.
    var isAfterWindowOfMethod: Bool { launchedAt != nil && !isAfterWindow && launch?["reason"] == "expired" }

    /// Whether the launch should get the click, judged by the values of both.
    public var isMatchExpected: Bool {
        !reading.isRobot && !isAfterWindow && !isAfterWindowOfMethod
            && (reading.hit != nil || token == .brought)
    }

    /// Whether the trial ended as the values of click and launch predict.
    public var isAsExpected: Bool {
        guard click.isRecorded else { return reading.made.isEmpty && click.status == 400 }
        guard let launch, launch.isMatch || launch.isNoMatch else { return false }
        // If this click should not match, a match with an older live click is as expected.
        return isMatched == isMatchExpected
    }

    /// The result in one or two words, for a table.
    public var word: String {
        if !click.isRecorded { return "click refused" }
        if isMatched { return "match" }
        if isMatchedByAnother { return "another click" }
        if launch?.isNoMatch == true { return "no match" }
        return "launch refused"
    }
}

/// The members of a server's responses to a trial's click and launch.
extension ClientResponse {
    /// A text member of the body; nil if the body has none of this name.
    subscript(_ name: String) -> String? { json?[name]?.string }

    /// The message of an error, or of the response to a click; nil without one.
    public var message: String? { self["message"] }
    /// Whether the server recorded the click, now or earlier.
    public var isRecorded: Bool { (200...201).contains(status) && self["click_id"] != nil }
    /// Whether the server had recorded the same click before.
    var isRepeated: Bool { isRecorded && status == 200 }
    var expiresAt: Timestamp? { self["expires_at"].flatMap { Timestamp(iso8601: $0) } }
    public var isMatch: Bool { status == 200 && self["status"] == "match" }
    public var isNoMatch: Bool { status == 200 && self["status"] == "no_match" }
    /// How the launch was recognised; nil without a match.
    public var method: String? { self["attributionMethod"] }
    public var confidence: Double? { json?["confidence"]?.double }
}

/// The fingerprints that a server makes from a trial's click, and whether the launch's fingerprint is among them.
///
/// The server runs the same code, but with other device data, or with the app's languages, it may make other
/// fingerprints.
public struct TrialAnalysis: Sendable {
    /// One of the fingerprints under which the click is found.
    public struct Made: Sendable {
        public let input: FingerprintInput
        public let weight: Double
    }

    /// One component of a fingerprint, with the values of the launch and of the click.
    public struct Component: Sendable {
        public let component: SignalComponent
        /// Whether the launch's form contains the component.
        public let isHashed: Bool
        /// The launch's value of the component; if its form lacks the component, the value that the device would hash.
        public let launch: String
        /// The values that apps may hash for this click; empty if the click does not report the component.
        public let click: [Spelling]

        /// Whether the launch's value is among the click's values.
        public var fits: Bool { click.contains { $0.text == launch } }
    }

    let canonical: CanonicalSignals
    public let made: [Made]
    public let launch: FingerprintInput
    public let components: [Component]
    /// The fingerprint by which the launch finds the click; nil if no fingerprint does.
    public let hit: Made?
    /// Whether the user agent is a known robot's.
    public let isRobot: Bool
    /// The components that the click lacks for its most complete form; empty if there is a fingerprint.
    public let missing: [SignalComponent]

    public init(_ trial: Trial) {
        let canonical = CanonicalSignals(trial.signals, trial.visit, platform: .unknown, data: .embedded)
        let launch = trial.launch
        self.canonical = canonical
        self.launch = launch
        let localization = trial.localization
        let inputs = canonical.fingerprintInputs(localization: localization)
        let formed = canonical.fingerprints(localization: localization)
        made = zip(inputs, formed).map { Made(input: $0, weight: $1.weight) }
        components = SignalComponent.allCases.map { component in
            Component(
                component: component,
                isHashed: launch.form.components.contains(component),
                launch: launch.value(of: component) ?? trial.device.value(of: component, for: trial.person),
                click: canonical.spellings(of: component, localization: localization)
            )
        }
        // The first matching input counts.
        hit =
            (trial.release.sendsRawSignals ? trial.inputsOfValues : [launch]).lazy
            .compactMap { [made] input in made.first { $0.input == input } }.first
        isRobot = RobotAgents.embedded.isRobot(trial.profile.agent)
        missing = made.isEmpty ? canonical.missing() : []
    }

    /// The components of the launch's form in which launch and click differ.
    public var differences: [Component] { components.filter { $0.isHashed && !$0.fits } }

    /// The canonical values of the click, in the order in which they are shown.
    public var values: [(name: String, value: String?)] {
        let system =
            switch canonical.system {
            case .unknown: nil as String?
            case .frozen(let frozen): "\(text(frozen)) in a frozen agent: the true version is unknown"
            case .major(let major): "\(major), the minor version unknown"
            case .minor(let version): "\(text(version)), the patch unknown"
            case .exact(let version): text(version)
            }
        let pixels = canonical.panelWidth.map { "\($0) pixels across" }
        return [
            ("platform", canonical.platform.rawValue), ("model", canonical.model), ("osVersion", system),
            ("screen", canonical.screen.map { "\($0.text) points" }),
            ("scale", canonical.scale.map { "\($0)" }), ("panel", pixels),
            ("timezone", canonical.timezone),
            ("languages", canonical.languages.isEmpty ? nil : canonical.languages.joined(separator: ", ")),
        ]
    }

    private func text(_ version: OSVersion) -> String { version.text(for: canonical.platform) }
}
