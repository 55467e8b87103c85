internal import Attribution
internal import HTTPServer

/// Whose launch it is: the key that it came with, and the key's app.
struct LaunchCaller {
    let key: APIKey
    let app: App

    var isTest: Bool { key.kind == .test }

    init(_ exchange: Exchange) throws(APIError) {
        guard let key = exchange.key, let id = key.app, let app = exchange.directory.app(id) else {
            throw .invalidAPIKey
        }
        self.key = key
        self.app = app
    }

    func ladder(
        _ evidence: LaunchEvidence,
        _ fingerprints: [Fingerprint],
        _ exchange: Exchange,
        _ context: LoopContext
    ) -> MatchingLadder {
        MatchingLadder(
            evidence,
            fingerprints: fingerprints,
            of: app.id,
            isTest: isTest,
            among: exchange.directory.apps.lazy.map { $0.id },
            keys: [context.service.serverKey],
            at: exchange.now
        )
    }
}

/// A first launch, whichever call it came by, on its way to its answer.
struct FirstLaunch {
    let ladder: MatchingLadder
    /// What it brought, by which the same caller is known again.
    let evidence: LaunchEvidence
    let installID: InstallID?
    let platform: Platform
    let details: Deferred<LaunchDetails>

    /// Looks for the click that led to the launch, and consumes it.
    func answer(
        to caller: LaunchCaller,
        _ exchange: inout Exchange,
        _ context: LoopContext
    ) async throws(APIError) -> Response {
        let outcome: MatchOutcome
        do throws(StoreError) {
            let check = check(caller, exchange, context)
            outcome = try await FirstLaunchMatching(store: context.stores.clicks).match(check)
        } catch {
            throw APIError(error, requestID: exchange.requestID)
        }
        switch outcome {
        case .match(let claim):
            exchange.outcome = "match"
            return Self.answer(claim, caller, context.stores.clicks)
        case .replay(let claim):
            exchange.outcome = "replay"
            return Self.answer(claim, caller, context.stores.clicks)
        case .noMatch(let reason):
            exchange.outcome = "no_match"
            return Self.noMatch(reason, caller)
        }
    }

    private func check(_ caller: LaunchCaller, _ exchange: Exchange, _ context: LoopContext) -> Check {
        let serverKey = context.service.serverKey
        return Check(
            app: caller.app.id,
            isTest: caller.isTest,
            ladder: ladder,
            caller: callerHash(caller, exchange, serverKey),
            install: installID.map {
                serverKey.install(app: caller.app.id, isTest: caller.isTest, installID: $0)
            },
            at: exchange.now,
            firstByteAt: exchange.request.firstByteAt.nanoseconds,
            replayGrace: context.service.settings.replayGrace,
            platform: platform,
            policy: caller.app.settings.followedPolicy,
            details: details
        )
    }

    private func callerHash(
        _ caller: LaunchCaller,
        _ exchange: Exchange,
        _ serverKey: ServerKey
    ) -> Caller {
        let (key, isTest, app) = (caller.key.id, caller.isTest, caller.app.id)
        let (request, address, evidence) = (exchange.request, exchange.address, evidence)
        return Caller(madeBy: {
            serverKey.caller(
                key: key,
                isTest: isTest,
                fingerprint: evidence.fingerprint,
                evidence: evidence.isFingerprintAlone
                    ? "" : serverKey.text(of: evidence, app: app, isTest: isTest),
                address: address,
                userAgent: request.field("user-agent") ?? ""
            )
        })
    }

    /// An answer that is seen to fail on its way goes to the next check.
    private static func answer(
        _ claim: Claim,
        _ caller: LaunchCaller,
        _ clicks: any ClickStore
    ) -> Response {
        guard let body = MatchAnswer.match(claim, defaultLink: caller.app.settings.defaultLink) else {
            // The link that was answered first is set no more, and the personal one is not for this caller.
            return noMatch(.ambiguous, caller)
        }
        var response = Response(.ok, json: body)
        // No more than this: who does not read has many answers under way.
        let click = claim.click.id
        response.onDelivery = { delivery in
            switch delivery {
            case .delivered: clicks.delivered(click)
            case .failed: clicks.deliveryFailed(of: click)
            }
        }
        return response
    }

    private static func noMatch(_ reason: NoMatchReason, _ caller: LaunchCaller) -> Response {
        let body = caller.isTest ? MatchAnswer.noMatch(reason).bytes : MatchAnswer.plainNoMatch
        return Response(.ok, fields: [.noStore], contentType: .json, body: body)
    }
}

extension LaunchEvidence {
    /// Whether nothing names a click or the device but a fingerprint.
    var isFingerprintAlone: Bool {
        fingerprint != nil && references.isEmpty && idfa == nil && gaid == nil && signals == nil
    }
}

extension ServerKey {
    /// What a launch brought besides a fingerprint, as one text: another launch that has the fingerprint, the address
    /// and the agent in common has other tokens, ids or signals.
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
