internal import Attribution

/// The device of a click.
///
/// A first launch finds the click by the device's fingerprints. The device's signals decide how much the click counts
/// against other clicks with the same fingerprint.
struct ClickDevice {
    let platform: Platform
    /// The system's major and minor version as apps report it; nil if unknown.
    let osVersion: String?
    /// Whether a robot or a prefetching browser sent the click instead of a person.
    let isRobot: Bool
    /// The keyed fingerprints; empty if the click can be found only by its token or an advertising id.
    let fingerprints: [FingerprintEntry]
    /// The fingerprint in the response: the caller's, or otherwise the first one made from the signals; nil without
    /// any.
    let primary: Fingerprint?
    /// Whether the caller's fingerprint differs from all fingerprints that are made from the signals.
    let isContradictory: Bool
    /// The canonical values as a line, or only the platform for a click that is counted and never matched.
    ///
    /// Nil for a click without signals, unless ``ClickProvenance/basis`` limits the recognition.
    let canonicalText: String?
    /// Hashes of the values that a fingerprint may lack.
    let signals: SignalHashes
    /// The fingerprints themselves, in the order of ``fingerprints``.
    private let ownFingerprints: [Fingerprint]
    /// The members that the body lacks for a fingerprint; empty if there is a fingerprint, or if
    /// ``ClickProvenance/basis`` limits the recognition.
    let missing: [String]

    init(
        _ body: ClickBody,
        _ provenance: ClickProvenance,
        app: App,
        service: Service,
        key: ServerKey
    ) throws(APIError) {
        let devices = service.settings.devices
        let (reported, named) = (body.signals ?? DeviceSignals(), body.platform ?? Platform.unknown)
        let canonical = CanonicalSignals(reported, provenance.headers, platform: named, data: devices)
        platform = body.platform ?? canonical.platform
        osVersion = canonical.osVersion?.majorMinorText(for: canonical.platform)
        isRobot = provenance.isAutomatic || service.settings.robots.isRobot(provenance.userAgent)
        // For visitors who opted out, store nothing that identifies them.
        let isCounted = provenance.basis == .counted
        let hasSignals = !isCounted && (body.signals != nil || provenance.basis != nil)
        let line = isCounted ? platform.rawValue : hasSignals ? canonical.line : nil
        canonicalText = line.map { $0 + (provenance.basis?.suffix ?? "") }
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
        let first = own.map { [FingerprintEntry(form: nil, key: key.keyed($0), release: release)] } ?? []
        let others = made.map { made in
            let release = made.osVersion.map { OSRelease($0, on: canonical.platform) } ?? release
            let key = key.keyed(made.fingerprint)
            return FingerprintEntry(form: made.form, key: key, weight: made.weight, release: release)
        }
        fingerprints = first + others
    }

    /// Hashes the fingerprints under another server key.
    func keys(under key: ServerKey) -> [KeyedHash] { ownFingerprints.map(key.keyed) }

    /// Returns the members that the signals lack for a fingerprint; the click can still be found by its token.
    ///
    /// - Throws: 400 if there are no signals at all, so that the sender learns that its script failed.
    private static func missing(
        _ components: [SignalComponent]?,
        _ signals: DeviceSignals?,
        _ canonical: CanonicalSignals
    ) throws(APIError) -> [String] {
        guard let components else {
            let advice = "Send \"fingerprint\" or \"signals\", so that the first launch can be found"
            throw .missingField("fingerprint", advice)
        }
        let fields = components.flatMap(\.fields)
        guard canonical.hasComponent || signals?.hasReportedValue == true else {
            let problem = "No fingerprint can be made from the signals; missing or unknown: "
            throw .missingField("signals", problem + fields.joined(separator: ", "))
        }
        return fields
    }
}

extension CanonicalSignals {
    /// Whether any component of a fingerprint is known.
    fileprivate var hasComponent: Bool {
        model != nil || osVersion != nil || screen != nil || panelWidth != nil || timezone != nil
            || language != nil
    }
}

extension DeviceSignals {
    /// Whether any member of a fingerprint was sent, even with an unknown value.
    fileprivate var hasReportedValue: Bool {
        let texts = [model, osVersion, timezone, language, uaModel, uaPlatformVersion] + (languages ?? [])
        return screenWidth != nil || screenHeight != nil || texts.contains { $0?.trimmed.isEmpty == false }
    }
}
