internal import Attribution
internal import HTTPServer

/// `POST /v1/deferred-deeplink/resolve`: a first launch of a newer client sends its signals instead of their hash,
/// and consumes the click that led to it.
enum ResolveDeferredDeepLink {
    static func respond(_ exchange: inout Exchange) async throws(APIError) -> Response {
        let body = try ResolveBody(exchange.request).request
        let evidence = body.evidence
        let devices = exchange.service.settings.devices
        let settings = exchange.key?.app.flatMap { exchange.directory.app($0)?.settings }
        let localization = settings?.localization(devices.languages) ?? .unknown
        let canonical = signals(body, exchange.request, localization: localization, devices)
        let found = canonical.map { LaunchSignals($0, given: evidence.fingerprint, data: devices) }
        let launch = try FirstLaunch(exchange, fingerprint: evidence.fingerprint, evidence: evidence) {
            $0.details(of: found, release: found?.release ?? $0.release, installedAt: body.firstInstalledAt)
        }
        let fingerprints = found?.fingerprints ?? evidence.fingerprint.map { [$0] } ?? []
        return try await launch.answer(
            launch.ladder(evidence, fingerprints, exchange.directory),
            installID: body.installID,
            platform: body.platform ?? canonical.flatMap { $0.platform == .unknown ? nil : $0.platform },
            release: found?.release,
            &exchange
        )
    }

    private static func signals(
        _ body: ResolveRequest,
        _ request: Request,
        localization: AppLocalization,
        _ devices: DeviceData
    ) -> CanonicalSignals? {
        guard var native = body.evidence.signals else { return nil }
        if native.platform == .unknown { native.platform = LaunchFields.platform(request) }
        let (reported, languages) = (body.localizations, devices.languages)
        native = native.withLanguageOfClicks(localization, reported: reported, languages: languages)
        return CanonicalSignals(native, data: devices)
    }
}
