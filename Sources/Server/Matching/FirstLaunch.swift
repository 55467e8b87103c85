internal import Attribution
internal import HTTPServer
internal import Threads

/// A first launch, whichever call it came by, on its way to its answer.
///
/// A class, because what most launches end without is read of it later, and a reference is all that is kept for that.
final class FirstLaunch: Sendable {
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
    /// What it brought besides a fingerprint, as one text; nil for nothing.
    private let moreEvidence: (@Sendable () -> String)?

    /// - Throws: 401 for a request without the key of an app.
    init(
        _ exchange: Exchange,
        _ context: LoopContext,
        fingerprint: Fingerprint?,
        evidence: LaunchEvidence? = nil
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
        service = context.service
        let keys = context.keys
        self.keys = keys
        let isTest = key.kind == .test
        self.isTest = isTest
        if let evidence {
            moreEvidence = { keys.server.oldest.text(of: evidence, app: app, isTest: isTest) }
        } else {
            moreEvidence = nil
        }
    }

    /// A ladder of everything that was brought; fingerprints are none where the app does without.
    func ladder(
        _ evidence: LaunchEvidence,
        _ fingerprints: [Fingerprint],
        _ directory: Directory
    ) -> MatchingLadder {
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

    /// Another launch that has the fingerprint, the address and the agent in common has other tokens, ids or signals.
    private var caller: Caller {
        Caller(madeBy: { [self] in caller(keys.addresses.key(at: now)) })
    }

    /// Who it was on the days before, as far as an answer of then may be given again.
    private var earlierCallers: Deferred<[KeyedHash]> {
        Deferred(madeBy: { [self] in
            let first = AddressKeys.day(of: now.advanced(byMilliseconds: -service.settings.replayGrace))
            let present = keys.addresses.key(at: now).day
            let days = (max(first, keys.addresses.firstDay)..<max(present, first, keys.addresses.firstDay))
                .suffix(Self.mostDays)
            return days.reversed().map { caller(keys.addresses.key(on: $0)) }
        })
    }

    /// For a grace of a month.
    private static let mostDays = 31

    private func caller(_ addressKey: AddressKey) -> KeyedHash {
        addressKey.caller(
            key: key,
            isTest: isTest,
            fingerprint: fingerprint,
            evidence: moreEvidence?() ?? "",
            address: address,
            userAgent: agent
        )
    }

    /// What is compared and recorded instead of its address.
    var comparedAddress: LaunchAddress? { service.launchAddress(address, keys, at: now) }

    /// Empty where there is none.
    var agent: String { request.field("user-agent") ?? "" }

    /// The system that the app's own requests come from, as far as their agent tells.
    var release: OSRelease? {
        OSRelease(launchAgent: agent, releases: service.settings.devices.releases)
    }

    /// Looks for the click that led to the launch, and consumes it; `platform` and `told` are what its body says.
    func answer(
        _ ladder: MatchingLadder,
        installID: InstallID?,
        platform: Platform? = nil,
        told: OSRelease? = nil,
        details: Deferred<LaunchDetails>,
        _ exchange: inout Exchange,
        _ context: LoopContext
    ) async throws(APIError) -> Response {
        let devices = service.settings.devices
        let counted = context.launches.counted(request, on: platform, told: told, devices)
        var check = Check(
            app: app,
            isTest: isTest,
            ladder: ladder,
            caller: caller,
            install: installID.map { keys.server.present.install(app: app, isTest: isTest, installID: $0) },
            earlier: HashesUnderFormerKeys(callers: earlierCallers, installs: earlierInstalls(installID)),
            at: now,
            firstByteAt: request.firstByteAt.nanoseconds,
            replayGrace: service.settings.replayGrace,
            platform: counted.platform,
            policy: policy,
            details: details,
            launch: counted
        )
        let matching = FirstLaunchMatching(store: context.stores.clicks)
        switch try await exchange.store(await matching.match(&check)) {
        case .match(let claim):
            exchange.outcome = "match"
            return answer(claim, exchange.directory, context)
        case .replay(let claim):
            exchange.outcome = "replay"
            return answer(claim, exchange.directory, context)
        case .noMatch(let reason):
            exchange.outcome = "no_match"
            return noMatch(reason, context)
        }
    }

    /// The installation as it was stored under other server keys.
    private func earlierInstalls(_ installID: InstallID?) -> [KeyedHash] {
        guard let installID, !keys.server.others.isEmpty else { return [] }
        return keys.server.others.map { $0.install(app: app, isTest: isTest, installID: installID) }
    }

    /// An answer that is seen to fail on its way goes to the next check.
    private func answer(_ claim: Claim, _ directory: Directory, _ context: LoopContext) -> Response {
        let defaultLink = directory.app(app)?.settings.defaultLink
        guard let body = MatchResponse.match(claim, defaultLink: defaultLink) else {
            // The link that was answered first is set no more, and the personal one is not for this caller.
            return noMatch(.ambiguous, context)
        }
        var response = Response(.ok, json: body)
        // No more than this: who does not read has many answers under way.
        let (click, clicks) = (claim.click.id, context.stores.clicks)
        response.onDelivery = { delivery in
            switch delivery {
            case .delivered: clicks.delivered(click)
            case .failed: clicks.deliveryFailed(of: click)
            }
        }
        return response
    }

    private func noMatch(_ reason: NoMatchReason, _ context: LoopContext) -> Response {
        // The handler adds the request id.
        var fields: [FieldLine] = []
        fields.reserveCapacity(2)
        fields.append(.noStore)
        let body = isTest ? MatchResponse.noMatch(reason).bytes : context.plainNoMatch
        return Response(.ok, fields: fields, contentType: .json, body: body)
    }
}

extension ServerKey {
    /// What a launch brought besides a fingerprint, as one text.
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
        if let signals = evidence.signals {
            parts.append("signals " + CanonicalSignals(signals).line)
        }
        return parts.joined(separator: "\n")
    }
}
