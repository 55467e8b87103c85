internal import Attribution
internal import HTTPServer

/// `GET /v1/deferred-deeplink`: finds the click that led to a first launch, and consumes it.
enum FindDeferredDeepLink {
    static func respond(_ exchange: inout Exchange) async throws(APIError) -> Response {
        let launch: FirstLaunch
        let ladder: MatchingLadder
        // Nearly every launch sends a fingerprint and no other evidence, so this path looks for no other evidence.
        if let fingerprint = onlyFingerprint(exchange.request), !bringsMore(exchange.request) {
            launch = try FirstLaunch(exchange, fingerprint: fingerprint) { $0.detailsOfHeader }
            ladder =
                launch.policy.usesFingerprints
                ? MatchingLadder(fingerprintUnderEachKey: launch.keys.keyed(fingerprint))
                : launch.ladder(LaunchEvidence(), [], exchange.directory)
        } else {
            (launch, ladder) = try readEverything(try fingerprint(exchange), exchange)
        }
        let installID = try LaunchFields.installID(exchange.request)
        return try await launch.answer(ladder, installID: installID, &exchange)
    }

    /// Reads the fingerprint; nil if the request has none.
    ///
    /// - Throws: 400 for a malformed fingerprint, and for more than one.
    private static func fingerprint(_ exchange: Exchange) throws(APIError) -> Fingerprint? {
        let item = exchange.withOnlyQueryItem("fingerprint") { Fingerprint(hexDigits: $0) }
        if let fingerprint = item ?? nil { return fingerprint }
        guard exchange.queryItem("fingerprint") == nil else { throw .invalidFingerprint }
        return nil
    }

    /// Returns the fingerprint if the query has no other parameter; nil for every other query.
    private static func onlyFingerprint(_ request: Request) -> Fingerprint? {
        let found = request.withQueryBytes { query -> Fingerprint? in
            let name = "fingerprint=".utf8.span
            guard query.count > name.count else { return nil }
            for index in name.indices where query[index] != name[index] { return nil }
            return Fingerprint(hexDigits: query.extracting(droppingFirst: name.count))
        }
        return found ?? nil
    }

    /// Returns whether a header field has evidence in addition to the fingerprint.
    private static func bringsMore(_ request: Request) -> Bool {
        request.hasField("x-install-referrer") || request.hasField("x-idfa") || request.hasField("x-gaid")
            || PlayReport.isField(of: request)
    }

    private static func readEverything(_ fingerprint: Fingerprint?, _ exchange: Exchange) throws(APIError)
        -> (FirstLaunch, MatchingLadder)
    {
        var evidence = LaunchEvidence(fingerprint: fingerprint)
        var namesMore = LaunchFields.add(exchange.request, to: &evidence)
        let other = exchange.request.field("x-install-referrer")
        if let play = try PlayReport(nil, exchange.request, besideReferrer: other) {
            evidence.add(referrer: play.referrer)
            evidence.play = play.evidence
            namesMore = namesMore || play.referrer != nil
        }
        guard namesMore || fingerprint != nil else { throw .invalidFingerprint }
        let launch = try FirstLaunch(exchange, fingerprint: fingerprint, evidence: evidence) {
            $0.detailsOfHeader
        }
        return (launch, launch.ladder(evidence, fingerprint.map { [$0] } ?? [], exchange.directory))
    }
}

extension FirstLaunch {
    /// The details of a launch whose signals are in a header field.
    fileprivate var detailsOfHeader: LaunchDetails {
        let devices = service.settings.devices
        let signals = DeviceSignalsField.read(request, devices).map {
            LaunchSignals($0, given: fingerprint, isWeighedByGiven: true, data: devices)
        }
        // Prefer the release in the user agent, because the system writes it, and it includes the minor version.
        return details(of: signals, release: release ?? signals?.release)
    }
}
