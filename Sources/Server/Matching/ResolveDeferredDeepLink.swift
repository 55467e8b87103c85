internal import Attribution
internal import HTTPServer

/// `POST /v1/deferred-deeplink/resolve`: a first launch of a newer client sends its signals instead of their hash,
/// and consumes the click that led to it.
enum ResolveDeferredDeepLink {
    static func respond(_ exchange: inout Exchange, _ context: LoopContext) async throws(APIError) -> Response
    {
        let body = try ResolveBody(exchange.request).request
        let evidence = body.evidence
        let devices = context.service.settings.devices
        let settings = exchange.key?.app.flatMap { exchange.directory.app($0)?.settings }
        let localization = settings?.localization(devices.languages) ?? .unknown
        let canonical = signals(body, exchange.request, localization: localization, devices)
        let told = canonical.map { LaunchSignals($0, given: evidence.fingerprint, data: devices) }
        let launch = try FirstLaunch(
            exchange,
            context,
            fingerprint: evidence.fingerprint,
            evidence: evidence
        ) { $0.details(told, installedAt: body.firstInstalledAt) }
        let fingerprints = told?.fingerprints ?? evidence.fingerprint.map { [$0] } ?? []
        return try await launch.answer(
            launch.ladder(evidence, fingerprints, exchange.directory),
            installID: body.installID,
            platform: body.platform ?? canonical?.knownPlatform,
            told: told?.release,
            &exchange,
            context
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
        native = native.withLanguageOfClicks(
            localization,
            reported: body.localizations,
            languages: devices.languages
        )
        return CanonicalSignals(native, data: devices)
    }
}

extension FirstLaunch {
    fileprivate func details(_ told: LaunchSignals?, installedAt: Timestamp?) -> LaunchDetails {
        LaunchDetails(
            address: comparedAddress,
            release: told?.release ?? release,
            signals: told.map { SignalHashes($0.remainingValues) } ?? .none,
            sdkVersion: LaunchFields.sdkVersion(request),
            requestID: requestID,
            firstInstalledAt: installedAt
        )
    }
}

extension CanonicalSignals {
    fileprivate var knownPlatform: Platform? { platform == .unknown ? nil : platform }
}
