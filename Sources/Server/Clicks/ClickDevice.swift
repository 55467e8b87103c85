internal import Attribution
internal import HTTPServer

/// What a click says about the device: the fingerprints under which the first launch may ask for it.
struct ClickDevice {
    let platform: Platform
    /// Major and minor version in native form, where known.
    let osVersion: String?
    /// Nobody tapped: a robot, or a browser that fetches ahead.
    let isRobot: Bool
    let fingerprints: [FingerprintEntry]
    /// The one that is answered: the caller's own, else the first that its signals give.
    let primary: Fingerprint
    /// Both were sent, and the caller's fingerprint is none of those made from its signals.
    let isContradictory: Bool

    init(
        _ body: ClickBody,
        _ claims: ClickClaims,
        _ app: App,
        _ request: Request,
        _ service: Service
    ) throws(APIError) {
        let (serverKey, devices) = (service.serverKey, service.settings.devices)
        let canonical = CanonicalSignals(
            body.signals ?? DeviceSignals(),
            claims.headers,
            platform: body.platform ?? .unknown,
            data: devices
        )
        platform = body.platform ?? canonical.platform
        osVersion = canonical.osVersion?.majorMinorText(for: canonical.platform)
        isRobot = service.settings.robots.isRobot(claims.userAgent) || AutomaticVisit.isAnnounced(by: request)
        let localization = app.settings.localization(devices.languages)
        let made =
            body.signals == nil ? [] : canonical.fingerprints(localization: localization, data: devices)
        guard let primary = body.fingerprint ?? made.first?.fingerprint else {
            throw Self.nothingToFindBy(body, canonical.missing(data: devices))
        }
        self.primary = primary
        let isKnown = made.contains { $0.fingerprint == primary }
        isContradictory = !made.isEmpty && !isKnown
        let own = isKnown ? [] : [FingerprintEntry(form: nil, key: serverKey.keyed(primary))]
        fingerprints =
            own
            + made.map {
                FingerprintEntry(form: $0.form, key: serverKey.keyed($0.fingerprint), weight: $0.weight)
            }
    }

    private static func nothingToFindBy(_ body: ClickBody, _ missing: [SignalComponent]) -> APIError {
        guard body.signals != nil else {
            return .missingField(
                "fingerprint",
                "Send \"fingerprint\" or \"signals\", so that the first launch can be found"
            )
        }
        let fields = missing.flatMap(\.fields).joined(separator: ", ")
        return .missingField(
            "signals",
            "No fingerprint can be made from the signals; missing or unknown: \(fields)"
        )
    }
}
