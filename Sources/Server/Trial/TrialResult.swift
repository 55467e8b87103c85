public import Attribution
internal import JSON

/// How a trial ended, and why.
public struct TrialResult: Sendable {
    public let trial: Trial
    public let reading: TrialAnalysis
    public let click: TrialClickResponse
    /// Nil if the click was refused, so that no launch was sent.
    public let launch: TrialLaunchResponse?
    /// When the launch happened, on a server whose clock is set by its requests.
    public let launchedAt: Timestamp?
    public let token: Token

    /// Whether the launch brought the click's token.
    public enum Token: Sendable {
        case notWanted
        case brought
        /// It was to, but the server made none for the click.
        case missing
    }

    public init(
        _ trial: Trial,
        click: TrialClickResponse,
        launch: TrialLaunchResponse?,
        launchedAt: Timestamp? = nil,
        token: Token = .notWanted
    ) {
        self.trial = trial
        reading = TrialAnalysis(trial)
        self.click = click
        self.launch = launch
        self.launchedAt = launchedAt
        self.token = token
    }

    /// Whether the launch got this click, or the one that it counts as a repetition of.
    public var isMatched: Bool {
        launch?.isMatch == true && (launch?.journey == trial.journey || click.isRepeated)
    }

    /// Whether the launch got another click, which has the same fingerprint and was still open.
    public var isMatchedByAnother: Bool { launch?.isMatch == true && !isMatched }

    var isExpired: Bool {
        guard let launchedAt, let expiresAt = click.expiresAt else { return false }
        return expiresAt < launchedAt
    }

    /// Whether the launch has to get the click, by the values of both.
    public var isMatchExpected: Bool {
        !reading.isRobot && !isExpired && (reading.hit != nil || token == .brought)
    }

    /// Whether it ended as the values say that it must.
    public var isAsExpected: Bool {
        guard click.isRecorded else { return reading.made.isEmpty && click.status == 400 }
        guard let launch, launch.isMatch || launch.isNoMatch else { return false }
        // An older click that was still open is no matter of this one, if this one was not to be found.
        return isMatched == isMatchExpected
    }

    /// One or two words for a table.
    public var word: String {
        if !click.isRecorded { return "click refused" }
        if isMatched { return "match" }
        if isMatchedByAnother { return "another click" }
        if launch?.isNoMatch == true { return "no match" }
        return "launch refused"
    }
}

/// A server's response to a trial's click.
public struct TrialClickResponse: Sendable {
    public let status: Int
    public let statusText: String
    public let body: String
    public let clickID: String?
    let fingerprint: String?
    let expiresAt: Timestamp?
    /// The click's own token, if the server made one.
    public let token: String?
    public let message: String?
    let field: String?

    public init(_ response: ClientResponse) {
        (status, statusText, body) = (response.status, response.statusText, response.body)
        let members = response.json
        clickID = members?["click_id"]?.string
        fingerprint = members?["fingerprint"]?.string
        expiresAt = (members?["expires_at"]?.string).flatMap { Timestamp(iso8601: $0) }
        token = members?["token"]?.string
        message = members?["message"]?.string
        field = members?["field"]?.string
    }

    public var isRecorded: Bool { (200...201).contains(status) && clickID != nil }
    /// Whether the server already had a click like it.
    var isRepeated: Bool { isRecorded && status == 200 }
}

/// A server's response to a trial's launch.
public struct TrialLaunchResponse: Sendable {
    public let statusText: String
    public let status: Int
    public let body: String
    public let isMatch: Bool
    public let isNoMatch: Bool
    let url: String?
    let journey: String?
    public let method: String?
    public let confidence: Double?
    let isGuaranteed: Bool?
    let competingClicks: Int64?
    /// Why nothing matched; the server states it to test keys only.
    let reason: String?
    let message: String?

    public init(_ response: ClientResponse) {
        (status, statusText, body) = (response.status, response.statusText, response.body)
        let members = response.json
        let word = members?["status"]?.string
        isMatch = response.status == 200 && word == "match"
        isNoMatch = response.status == 200 && word == "no_match"
        url = members?["url"]?.string
        journey = members?["jid"]?.string
        method = members?["attributionMethod"]?.string
        confidence = members?["confidence"]?.double
        isGuaranteed = members?["guaranteed"]?.bool
        competingClicks = members?["competingClicks"]?.int64
        reason = members?["reason"]?.string
        message = members?["message"]?.string
    }
}

/// The fingerprints that a server makes of a trial's click, and whether the launch's hash is among them.
///
/// Computed by the code that servers run; a server with other tables, or that knows the app's languages, may make more.
public struct TrialAnalysis: Sendable {
    /// One of the fingerprints under which the click is found.
    public struct Made: Sendable {
        public let input: FingerprintInput
        public let weight: Double
    }

    /// One property of the device, as both sides have it.
    public struct Component: Sendable {
        public let component: SignalComponent
        /// Whether it goes into the launch's form.
        public let isHashed: Bool
        /// What the device hashes, or would hash in another form; or what the server makes of its values.
        public let launch: String
        /// What apps may hash by what the click says; empty when it does not say it.
        public let click: [Spelling]

        /// Whether the click may be found by what the device hashes.
        public var fits: Bool { click.contains { $0.text == launch } }
    }

    let canonical: CanonicalSignals
    public let made: [Made]
    public let launch: FingerprintInput
    public let components: [Component]
    /// The one that the launch asks for; nil where there is none.
    public let hit: Made?
    /// Whether the agent is one of the known robots'.
    public let isRobot: Bool
    /// What the click lacks for any form.
    public let missing: [SignalComponent]

    public init(_ trial: Trial) {
        let canonical = CanonicalSignals(trial.signals, trial.visit, platform: .unknown, data: .embedded)
        let launch = trial.launch
        self.canonical = canonical
        self.launch = launch
        let localization = trial.localization
        made = zip(
            canonical.fingerprintInputs(localization: localization),
            canonical.fingerprints(localization: localization)
        ).map { input, formed in Made(input: input, weight: formed.weight) }
        components = SignalComponent.allCases.map { component in
            Component(
                component: component,
                isHashed: launch.form.components.contains(component),
                launch: launch.value(of: component) ?? trial.device.value(of: component, for: trial.person),
                click: canonical.spellings(of: component, localization: localization)
            )
        }
        // Of several, the one that comes first counts.
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
            case .frozen(let told): "\(text(told)), as frozen agents say: the true one is unknown"
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
