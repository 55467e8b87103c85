internal import Attribution
internal import HTTPServer

/// What a click says about the device: the fingerprints under which the first launch may ask for it, and what it is
/// weighed by against other clicks that are found by them.
struct ClickDevice {
    let platform: Platform
    /// Major and minor version in native form, where known.
    let osVersion: String?
    /// Nobody tapped: a robot, or a browser that fetches ahead.
    let isRobot: Bool
    /// Empty for a click that can only be found by its token, or by an advertising id.
    let fingerprints: [FingerprintEntry]
    /// The one that is answered: the caller's own, else the first that its signals give.
    let primary: Fingerprint?
    /// Both were sent, and the caller's fingerprint is none of those made from its signals.
    let isContradictory: Bool
    /// The canonical values as a line; nil for a click that brought no signals.
    let canonicalText: String?
    /// Values that a fingerprint may not hold.
    let signals: SignalHashes
    /// The fingerprints themselves, in the order of ``fingerprints``.
    private let ownFingerprints: [Fingerprint]
    /// What is lacking for any fingerprint, by the names of the body's members; empty where there is one.
    let missing: [String]

    init(
        _ body: ClickBody,
        _ provenance: ClickProvenance,
        app: App,
        service: Service,
        key: ServerKey
    ) throws(APIError) {
        let devices = service.settings.devices
        let canonical = CanonicalSignals(
            body.signals ?? DeviceSignals(),
            provenance.headers,
            platform: body.platform ?? .unknown,
            data: devices
        )
        platform = body.platform ?? canonical.platform
        osVersion = canonical.osVersion?.majorMinorText(for: canonical.platform)
        isRobot = provenance.isAutomatic || service.settings.robots.isRobot(provenance.userAgent)
        // Of who is counted alone nothing is kept by which he could be told from others.
        let isCounted = provenance.basis == .counted
        let hasSignals = !isCounted && (body.signals != nil || provenance.basis != nil)
        let line = isCounted ? platform.rawValue : hasSignals ? canonical.line : nil
        canonicalText = line.map { $0 + (provenance.basis?.mark ?? "") }
        signals = hasSignals ? SignalHashes(canonical.evidence(data: devices)) : .none
        let localization = app.settings.localization(devices.languages)
        let made = hasSignals ? canonical.fingerprints(localization: localization, data: devices) : []
        let given = isCounted ? nil : body.fingerprint
        let primary = given ?? made.first?.fingerprint
        self.primary = primary
        missing =
            primary == nil && provenance.basis == nil
            ? try Self.missing(hasSignals ? canonical.missing(data: devices) : nil, body.signals, canonical)
            : []
        let isKnown = made.contains { $0.fingerprint == primary }
        isContradictory = !made.isEmpty && !isKnown
        let release = OSRelease(canonical.system, on: canonical.platform)
        let own = isKnown ? nil : given
        ownFingerprints = (own.map { [$0] } ?? []) + made.map(\.fingerprint)
        fingerprints =
            (own.map { [FingerprintEntry(form: nil, key: key.keyed($0), release: release)] } ?? [])
            + made.map { made in
                FingerprintEntry(
                    form: made.form,
                    key: key.keyed(made.fingerprint),
                    weight: made.weight,
                    release: made.osVersion.map { OSRelease($0, on: canonical.platform) } ?? release
                )
            }
    }

    /// The fingerprints as they would be stored under another server key.
    func keys(under key: ServerKey) -> [KeyedHash] {
        ownFingerprints.map(key.keyed)
    }

    /// The members that are lacking in signals of which some say something, be it in words that nobody here knows: such
    /// a click is found by its token.
    ///
    /// - Throws: 400 where there is nothing at all: then the sender's script failed, and is to be told.
    private static func missing(
        _ components: [SignalComponent]?,
        _ signals: DeviceSignals?,
        _ canonical: CanonicalSignals
    ) throws(APIError) -> [String] {
        guard let components else {
            throw .missingField(
                "fingerprint",
                "Send \"fingerprint\" or \"signals\", so that the first launch can be found"
            )
        }
        let fields = components.flatMap(\.fields)
        guard canonical.tellsSomething || signals?.saysSomething == true else {
            throw .missingField(
                "signals",
                "No fingerprint can be made from the signals; missing or unknown: "
                    + fields.joined(separator: ", ")
            )
        }
        return fields
    }
}

extension CanonicalSignals {
    /// Whether anything is known that goes into a fingerprint.
    fileprivate var tellsSomething: Bool {
        model != nil || osVersion != nil || screen != nil || panelWidth != nil || timezone != nil
            || language != nil
    }
}

extension DeviceSignals {
    /// Whether there is a value that could go into a fingerprint, understood or not.
    fileprivate var saysSomething: Bool {
        let texts = [model, osVersion, timezone, language, uaModel, uaPlatformVersion] + (languages ?? [])
        return screenWidth != nil || screenHeight != nil
            || texts.contains { $0?.trimmed.isEmpty == false }
    }
}
