internal import Attribution
internal import HTTPServer

/// `POST /v1/deferred-deeplink/resolve`: a first launch of a newer client tells what it knows instead of a hash of it,
/// and consumes the click that led to it.
enum ResolveDeferredDeepLink {
    static func respond(_ exchange: inout Exchange, _ context: LoopContext) async throws(APIError) -> Response
    {
        let caller = try LaunchCaller(exchange)
        let request = try ResolveBody(exchange.request).request
        let devices = context.service.settings.devices
        let canonical = signals(request, caller.app, exchange.request, devices)
        let told = canonical.map { LaunchSignals($0, given: request.evidence.fingerprint, data: devices) }
        let fingerprints = told?.fingerprints ?? [request.evidence.fingerprint].compactMap(\.self)
        let usesFingerprints = caller.app.settings.policy.usesFingerprints
        let launch = FirstLaunch(
            ladder: caller.ladder(request.evidence, usesFingerprints ? fingerprints : [], exchange, context),
            evidence: request.evidence,
            installID: request.installID,
            platform: request.platform ?? canonical?.knownPlatform
                ?? LaunchFields.platform(exchange.request),
            details: details(request, told, exchange, context.service)
        )
        return try await launch.answer(to: caller, &exchange, context)
    }

    private static func signals(
        _ request: ResolveRequest,
        _ app: App,
        _ bytes: Request,
        _ devices: DeviceData
    ) -> CanonicalSignals? {
        guard var native = request.evidence.signals else { return nil }
        if native.platform == .unknown { native.platform = LaunchFields.platform(bytes) }
        native = native.withLanguageOfClicks(
            app.settings.localization(devices.languages),
            told: request.localizations,
            languages: devices.languages
        )
        return CanonicalSignals(native, data: devices)
    }

    private static func details(
        _ request: ResolveRequest,
        _ told: LaunchSignals?,
        _ exchange: Exchange,
        _ service: Service
    ) -> Deferred<LaunchDetails> {
        let (bytes, address, requestID) = (exchange.request, exchange.address, exchange.requestID)
        return Deferred(madeBy: {
            let agent = { () -> OSRelease? in
                OSRelease(
                    launchAgent: bytes.field("user-agent") ?? "",
                    releases: service.settings.devices.releases
                )
            }
            return LaunchDetails(
                address: service.addressHashes(of: address),
                release: told?.release ?? agent(),
                signals: told.map { service.signals($0.beside) } ?? [],
                sdkVersion: LaunchFields.sdkVersion(bytes),
                requestID: requestID,
                firstInstalledAt: request.firstInstalledAt
            )
        })
    }
}

extension CanonicalSignals {
    fileprivate var knownPlatform: Platform? { platform == .unknown ? nil : platform }
}
