public import Attribution

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
