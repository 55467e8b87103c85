internal import Attribution
internal import HTTPServer

/// `POST /v1/deferred-deeplink/resolve`: finds the click that led to a newer client's first launch, and consumes it.
///
/// The client sends its signals, and the server makes the fingerprints from them.
enum ResolveDeferredDeepLink {
    static func respond(_ exchange: inout Exchange) async throws(APIError) -> Response {
        let body = try ResolveBody(exchange.request)
        let evidence = body.evidence
        let devices = exchange.service.settings.devices
        let settings = exchange.key?.app.flatMap { exchange.directory.app($0)?.settings }
        let localization = settings?.localization(devices.languages) ?? .unknown
        var native = evidence.signals
        if native?.platform == .unknown { native?.platform = LaunchFields.platform(exchange.request) }
        let (reported, languages) = (body.localizations, devices.languages)
        native = native?.withLanguageOfClicks(localization, reported: reported, languages: languages)
        let canonical = native.map { CanonicalSignals($0, data: devices) }
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
}
