public import Attribution
public import Storage
import Support

/// Converts the events of a simulated world into the events that a server would record.
public struct EventRecorder {
    private var keys: [String: UInt64] = [:]
    /// The hashes of screens as web pages report them.
    private var screens: [Screen: SignalHashes] = [:]

    private struct Screen: Hashable {
        let width: Int
        let height: Int
        let scale: Int
    }

    public init() {}

    public mutating func recorded(_ event: TraceEvent) -> RecordedEvent {
        switch event {
        case .click(let click): .click(recorded(click))
        case .launch(let launch): .launch(recorded(launch))
        }
    }

    private mutating func recorded(_ click: TracedClick) -> RecordedClick {
        let device = click.device
        let release = device.platform == .android ? nil : OSRelease(device.os, on: device.platform)
        var fingerprints: [RecordedFingerprint] = []
        for form in device.forms {
            for (version, weight) in spellings(of: device, form) {
                let key = key(device.text(form: form, os: version))
                let named = FingerprintForm(rawValue: String(form))
                fingerprints.append(
                    RecordedFingerprint(key: key, form: named, weight: weight, release: release)
                )
            }
        }
        var recorded = RecordedClick(
            name: UInt64(click.number),
            at: click.at,
            platform: device.platform,
            fingerprints: fingerprints,
            visitor: Self.hash(click.userAgent, from: UInt64(click.address ?? 0)),
            destination: CreditedDestination(url: UInt64(click.url), campaign: UInt64(click.campaign + 1))
        )
        recorded.address = click.address.map(Self.address)
        recorded.signals = signals(of: device)
        recorded.person = click.person
        return recorded
    }

    private mutating func signals(of device: Device) -> SignalHashes {
        guard device.platform == .ios else { return .none }
        let screen = Screen(width: device.width, height: device.height, scale: device.scale)
        if let known = screens[screen] { return known }
        var canonical = CanonicalSignals(platform: .ios)
        canonical.screen = ScreenSize(Double(device.width), Double(device.height))
        canonical.scale = Double(device.scale)
        let hashes = SignalHashes(canonical.evidence())
        screens[screen] = hashes
        return hashes
    }

    /// Returns the versions that a click's fingerprint may contain, with weights: a browser reports no patch number.
    private func spellings(of device: Device, _ form: Character) -> [(OSVersion, Double)] {
        guard device.platform == .ios, form == "A" || form == "B" else { return [(device.os, 1)] }
        let (major, minor) = (device.os.major, device.os.minor)
        let fitting = Phones.releases.filter { $0.0.major == major && $0.0.minor == minor }
        let total = fitting.reduce(0) { $0 + $1.1 }
        return fitting.map { ($0.0, $0.1 / total) }
    }

    private mutating func recorded(_ launch: TracedLaunch) -> RecordedLaunch {
        let fingerprint = key(launch.fingerprintText)
        let address = Self.address(launch.address ?? 0)
        var recorded = RecordedLaunch(
            at: launch.at,
            fingerprints: [fingerprint] + launch.otherTexts.map { key($0) },
            caller: Self.hash(launch.userAgent, from: fingerprint ^ address.exact)
        )
        recorded.address = launch.address == nil ? nil : address
        recorded.release = launch.release
        if launch.sendsSignals { recorded.signals = signals(of: launch.device) }
        recorded.token = launch.token.map { UInt64($0) }
        recorded.truth = launch.truth.recorded
        recorded.person = launch.person
        return recorded
    }

    private mutating func key(_ text: String) -> UInt64 {
        if let key = keys[text] { return key }
        let key = Fingerprint(of: text).words.0
        keys[text] = key
        return key
    }

    private static func address(_ bits: UInt32) -> AddressHashes {
        AddressHashes(
            exact: SeededGenerator.mixed(UInt64(bits)) & AddressHashes.hashBits,
            near: SeededGenerator.mixed(UInt64(bits) >> 8 | 1 << 40) & AddressHashes.hashBits
        )
    }

    private static func hash(_ text: String, from seed: UInt64) -> UInt64 {
        text.utf8.reduce(seed) { SeededGenerator.mixed($0 &* 31 &+ UInt64($1)) }
    }
}

extension TracedLaunch.Truth {
    fileprivate var recorded: RecordedLaunch.Truth {
        switch self {
        case .click(let number): .click(UInt64(number))
        case .organic: .organic
        case .reinstall: .reinstall
        case .retry: .retry
        }
    }
}

extension Replay {
    /// Plays a world's events from the start.
    public static func played(_ events: [TraceEvent], _ plan: ReplayPlan) -> Replay {
        var recorder = EventRecorder()
        var replay = Replay(plan, began: TraceGenerator.beginning)
        for event in events { replay.play(recorder.recorded(event)) }
        return replay
    }
}
