internal import Attribution
internal import HTTPServer

/// `GET /v1/deferred-deeplink`: a first launch asks whether a click led to it, and consumes the click.
enum FindDeferredDeepLink {
    static func respond(_ exchange: inout Exchange, _ context: LoopContext) async throws(APIError) -> Response
    {
        guard let key = exchange.key, let app = key.app else { throw .invalidAPIKey }
        let item = exchange.withOnlyQueryItem("fingerprint") { Fingerprint(hexDigits: $0) }
        guard let fingerprint = item ?? nil else { throw .invalidFingerprint }
        let check = try self.check(exchange, context, key: key, app: app, fingerprint: fingerprint)
        let outcome: MatchOutcome
        do throws(StoreError) {
            outcome = try await FirstLaunchMatching(store: context.stores.clicks).match(check)
        } catch {
            throw APIError(error, requestID: exchange.requestID)
        }
        return answer(outcome, &exchange, context, tellsReason: key.kind == .test)
    }

    private static func check(
        _ exchange: Exchange,
        _ context: LoopContext,
        key: APIKey,
        app: AppID,
        fingerprint: Fingerprint
    ) throws(APIError) -> Check {
        let isTest = key.kind == .test
        let (request, address) = (exchange.request, exchange.address)
        let serverKey = context.service.serverKey
        return Check(
            app: app,
            isTest: isTest,
            ladder: MatchingLadder(fingerprint: serverKey.keyed(fingerprint)),
            caller: Caller {
                serverKey.caller(
                    key: key.id,
                    isTest: isTest,
                    fingerprint: fingerprint,
                    address: address,
                    userAgent: request.field("user-agent") ?? ""
                )
            },
            install: try LaunchFields.installID(request).map {
                serverKey.install(app: app, isTest: isTest, installID: $0)
            },
            at: exchange.now,
            firstByteAt: request.firstByteAt.nanoseconds,
            replayGrace: context.service.settings.replayGrace,
            platform: LaunchFields.platform(request)
        )
    }

    private static func answer(
        _ outcome: MatchOutcome,
        _ exchange: inout Exchange,
        _ context: LoopContext,
        tellsReason: Bool
    ) -> Response {
        switch outcome {
        case .match(let claim):
            exchange.outcome = "match"
            return delivered(claim, by: context.stores.clicks)
        case .replay(let claim):
            exchange.outcome = "replay"
            return delivered(claim, by: context.stores.clicks)
        case .noMatch(let reason):
            exchange.outcome = "no_match"
            let body = tellsReason ? MatchAnswer.noMatch(reason).bytes : MatchAnswer.plainNoMatch
            return Response(.ok, fields: [.noStore], contentType: .json, body: body)
        }
    }

    /// An answer that is seen to fail on its way goes to the next check.
    private static func delivered(_ claim: Claim, by clicks: any ClickStore) -> Response {
        var response = Response(.ok, json: MatchAnswer.match(claim))
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
}
