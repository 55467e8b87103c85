internal import Attribution
internal import HTTPServer

/// `GET /v1/deferred-deeplink`: a first launch asks whether a click led to it, and consumes the click.
enum FindDeferredDeepLink {
    static func respond(_ exchange: inout Exchange, _ context: LoopContext) async throws(APIError) -> Response
    {
        let caller = try LaunchCaller(exchange)
        var evidence = LaunchEvidence(fingerprint: try fingerprint(exchange))
        // Hardly any launch brings more than a fingerprint, and then nothing else is looked at.
        if bringsMore(exchange.request) {
            let namesMore = LaunchFields.add(exchange.request, to: &evidence)
            guard namesMore || evidence.fingerprint != nil else { throw .invalidFingerprint }
        } else if evidence.fingerprint == nil {
            throw .invalidFingerprint
        }
        let launch = FirstLaunch(
            ladder: ladder(evidence, caller, exchange, context),
            evidence: evidence,
            installID: try LaunchFields.installID(exchange.request),
            platform: LaunchFields.platform(exchange.request),
            details: details(evidence.fingerprint, exchange, context)
        )
        return try await launch.answer(to: caller, &exchange, context)
    }

    /// Nil where the request has none.
    ///
    /// - Throws: 400 for what is none, and for several.
    private static func fingerprint(_ exchange: Exchange) throws(APIError) -> Fingerprint? {
        let item = exchange.withOnlyQueryItem("fingerprint") { Fingerprint(hexDigits: $0) }
        if let fingerprint = item ?? nil { return fingerprint }
        guard exchange.queryItem("fingerprint") == nil else { throw .invalidFingerprint }
        return nil
    }

    /// `fingerprint=` and 64 digits.
    private static let fingerprintItemLength = 76

    /// Whether there may be anything to recognise the launch by besides a fingerprint.
    private static func bringsMore(_ request: Request) -> Bool {
        request.withQueryBytes { $0.count != fingerprintItemLength } ?? true
            || request.hasField("x-install-referrer") || request.hasField("x-idfa")
            || request.hasField("x-gaid")
    }

    private static func ladder(
        _ evidence: LaunchEvidence,
        _ caller: LaunchCaller,
        _ exchange: Exchange,
        _ context: LoopContext
    ) -> MatchingLadder {
        let usesFingerprints = caller.app.settings.policy.usesFingerprints
        if let fingerprint = evidence.fingerprint, usesFingerprints, evidence.isFingerprintAlone {
            return MatchingLadder(fingerprint: context.service.serverKey.keyed(fingerprint))
        }
        let fingerprints = usesFingerprints ? [evidence.fingerprint].compactMap(\.self) : []
        return caller.ladder(evidence, fingerprints, exchange, context)
    }

    /// Read when something is to be weighed or recorded, which most launches end before.
    private static func details(
        _ fingerprint: Fingerprint?,
        _ exchange: Exchange,
        _ context: LoopContext
    ) -> Deferred<LaunchDetails> {
        let (request, address, requestID) = (exchange.request, exchange.address, exchange.requestID)
        let service = context.service
        return Deferred(madeBy: {
            let told = DeviceSignalsField.read(request, service.settings.devices).map { canonical in
                LaunchSignals(
                    canonical,
                    given: fingerprint,
                    isWeighedByGiven: true,
                    data: service.settings.devices
                )
            }
            // The agent of the app's own requests is written by the system, and tells the minor version.
            let agent = OSRelease(
                launchAgent: request.field("user-agent") ?? "",
                releases: service.settings.devices.releases
            )
            return LaunchDetails(
                address: service.addressHashes(of: address),
                release: agent ?? told?.release,
                signals: told.map { service.signals($0.beside) } ?? [],
                sdkVersion: LaunchFields.sdkVersion(request),
                requestID: requestID
            )
        })
    }
}
