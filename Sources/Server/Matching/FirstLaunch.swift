internal import Attribution
internal import HTTPServer
internal import JSON
internal import Threads

/// One first launch's request, by GET or by POST, until its response is made.
///
/// This is a class, so that the values that most launches never need are computed on their first read.
///
/// It is sendable without a lock: only the event loop that created it reads its lazy values, and passes copies of them
/// to the store's writer thread.
final class FirstLaunch: LaunchSource, @unchecked Sendable {
    let request: Request
    let address: NetworkAddress
    let requestID: String
    let now: Timestamp
    let key: KeyID
    let app: AppID
    let isTest: Bool
    let policy: MatchPolicy
    let fingerprint: Fingerprint?
    let service: Service
    let keys: Keyring
    /// Everything that identifies the launch; nil if it sent only a fingerprint.
    private let evidence: LaunchEvidence?
    private let makeDetails: (FirstLaunch) -> LaunchDetails

    /// The launch's evidence in addition to its fingerprint, as one text; empty if there is none.
    private lazy var moreEvidence: String =
        evidence.map { keys.server.oldest.text(of: $0, app: app, isTest: isTest) } ?? ""

    /// The hash of the caller, which may request a lost response again.
    ///
    /// It includes tokens, ids and signals, because other launches may share the fingerprint, address and user agent.
    lazy var caller: KeyedHash = callerHash(under: keys.addresses.key(at: now))

    lazy var details: LaunchDetails = makeDetails(self)

    /// - Parameters:
    ///   - exchange: the request.
    ///   - fingerprint: the fingerprint that the request names; nil for none.
    ///   - evidence: everything that identifies the launch; nil if it sent only a fingerprint.
    ///   - makeDetails: makes the details; called once at most.
    /// - Throws: 401 for a request without the key of an app.
    init(
        _ exchange: Exchange,
        fingerprint: Fingerprint?,
        evidence: LaunchEvidence? = nil,
        details makeDetails: @escaping (FirstLaunch) -> LaunchDetails
    ) throws(APIError) {
        guard let key = exchange.key, let app = key.app, let policy = exchange.directory.policy(of: app)
        else { throw .invalidAPIKey }
        request = exchange.request
        address = exchange.address
        requestID = exchange.requestID
        now = exchange.now
        self.key = key.id
        self.app = app
        self.policy = policy
        self.fingerprint = fingerprint
        service = exchange.service
        keys = exchange.keys
        isTest = key.kind == .test
        self.evidence = evidence
        self.makeDetails = makeDetails
    }

    /// Creates the ladder (the ordered ways to recognise the launch), without fingerprints if the app uses none.
    func ladder(_ evidence: LaunchEvidence, _ fingerprints: [Fingerprint], _ directory: Directory)
        -> MatchingLadder
    {
        MatchingLadder(
            evidence,
            fingerprints: policy.usesFingerprints ? fingerprints : [],
            of: app,
            isTest: isTest,
            among: directory.apps.lazy.map { $0.id },
            keys: keys.server.all,
            at: now
        )
    }

    /// The caller's hashes under the address keys of earlier days, for the days within the replay grace.
    var earlierCallers: [KeyedHash] {
        let first = AddressKeys.day(of: now.advanced(byMilliseconds: -service.settings.replayGrace))
        let today = keys.addresses.key(at: now).day
        let days = (max(first, keys.addresses.firstDay)..<max(today, first, keys.addresses.firstDay))
            .suffix(Self.maximumDays)
        return days.reversed().map { callerHash(under: keys.addresses.key(on: $0)) }
    }

    /// The largest number of earlier days, enough for a grace of a month.
    private static let maximumDays = 31

    private func callerHash(under addressKey: AddressKey) -> KeyedHash {
        addressKey.secret.caller(
            key: key,
            isTest: isTest,
            fingerprint: fingerprint,
            evidence: moreEvidence,
            address: address,
            userAgent: agent
        )
    }

    /// The user agent; empty if the request has none.
    var agent: String { request.field("user-agent") ?? "" }

    /// The system release that the app's user agent names; nil if it names none.
    var release: OSRelease? { OSRelease(launchAgent: agent, releases: service.settings.devices.releases) }

    /// Makes the details of a launch with these signals and this system release.
    func details(of signals: LaunchSignals?, release: OSRelease?, installedAt: Timestamp? = nil)
        -> LaunchDetails
    {
        var details = LaunchDetails()
        // Many people share the address of a relay, so it distinguishes no visitors.
        if !service.settings.relays.contains(address) {
            details.address = keys.addresses.address(address, at: now)
        }
        details.release = release
        details.signals = signals.map { SignalHashes($0.remainingValues) } ?? .none
        details.sdkVersion = LaunchFields.sdkVersion(request)
        details.requestID = requestID
        details.firstInstalledAt = installedAt
        details.play = evidence?.play
        details.play?.bounds = service.settings.playBounds
        return details
    }

    /// Finds the click that led to the launch, and consumes it; `platform` and `release` come from the body.
    func answer(
        _ ladder: MatchingLadder,
        installID: InstallID?,
        platform: Platform? = nil,
        release: OSRelease? = nil,
        _ exchange: inout Exchange
    ) async throws(APIError) -> Response {
        let counted = exchange.loop.launches.counted(request, on: platform, release, service.settings.devices)
        var check = Check(
            app: app,
            isTest: isTest,
            ladder: ladder,
            source: self,
            installs: installID.map(installs) ?? [],
            at: now,
            firstByteAt: request.firstByteAt.nanoseconds,
            replayGrace: service.settings.replayGrace,
            platform: counted.platform,
            policy: policy,
            launch: counted
        )
        let matching = FirstLaunchMatching(store: exchange.stores.clicks)
        switch try await exchange.store(await matching.match(&check)) {
        case .match(let claim):
            exchange.outcome = "match"
            return answer(claim, exchange)
        case .replay(let claim):
            exchange.outcome = "replay"
            return answer(claim, exchange)
        case .noMatch(let reason):
            exchange.outcome = "no_match"
            return noMatch(reason, exchange)
        }
    }

    /// Returns the installation's hashes under all server keys, the hash under the current key first.
    private func installs(_ installID: InstallID) -> [KeyedHash] {
        keys.server.all.map { $0.install(app: app, isTest: isTest, installID: installID) }
    }

    /// Creates the response of a match; if its delivery fails, the next check with the same fingerprint, token or id
    /// gets the match.
    private func answer(_ claim: Claim, _ exchange: Exchange) -> Response {
        let settings = exchange.directory.app(app)?.settings
        guard let body = MatchResponse.match(claim, settings, policy.windows) else {
            // The default link was removed after the first response, and this caller may not get the click's link.
            return noMatch(.ambiguous, exchange)
        }
        var response = Response(.ok, json: body)
        // The closure captures only the receipt, to save memory: many responses wait if a client does not read them.
        let receipt = exchange.stores.clicks.receipt(for: claim)
        response.onDelivery = { $0 == .delivered ? receipt.delivered() : receipt.failed() }
        return response
    }

    private func noMatch(_ reason: NoMatchReason, _ exchange: Exchange) -> Response {
        // The handler adds the request id.
        var fields: [FieldLine] = []
        fields.reserveCapacity(2)
        fields.append(.noStore)
        let body = isTest ? MatchResponse.noMatch(reason).bytes : exchange.loop.plainNoMatch
        return Response(.ok, fields: fields, contentType: .json, body: body)
    }
}

extension ServerKey {
    /// Returns, as one text, the evidence that a launch sent in addition to its fingerprint.
    fileprivate func text(of evidence: LaunchEvidence, app: AppID, isTest: Bool) -> String {
        var parts = evidence.references.map { reference in
            switch reference {
            case .token(let text): "token " + text
            case .click(let id): "click " + id.text
            }
        }
        for case let id? in [evidence.idfa, evidence.gaid] {
            parts.append("\(id.kind.rawValue) \(advertisingID(app: app, isTest: isTest, id: id).rest)")
        }
        if let signals = evidence.signals { parts.append("signals " + CanonicalSignals(signals).line) }
        return parts.joined(separator: "\n")
    }
}
