internal import Attribution
internal import HTTPServer
internal import JSON

/// `POST /v1/deferred-deeplink/click`: a landing page or a customer's own server reports a click.
///
/// The answer is given only when the click is on disk.
enum RecordClick {
    static func respond(_ exchange: inout Exchange, _ context: LoopContext) async throws(APIError) -> Response
    {
        let body = try ClickBody(exchange.request)
        let link = try await ClickLink.find(body, exchange, context)
        let app = try ClickOwner.app(of: body, link, exchange)
        exchange.app = app.id
        return answer(try await record(body, link, of: app, &exchange, context))
    }

    /// Whose click it was, and by what it can be found.
    struct Recorded {
        let click: Click
        /// False where it had been recorded before.
        let isNew: Bool
        /// Whether it is found by the fingerprint that came with it.
        let isOfFingerprint: Bool
        let device: ClickDevice
        /// Nil where nobody may be recognised by it.
        let token: ClickToken?
    }

    /// Records a click.
    ///
    /// - Throws: 410 where the link has had its last click, and what a store's failure means.
    static func record(
        _ body: ClickBody,
        _ link: TappedLink?,
        of app: App,
        _ exchange: inout Exchange,
        _ context: LoopContext
    ) async throws(APIError) -> Recorded {
        let claims = try ClickProvenance(body, exchange, window: window(body, link, app, context))
        let stated = try ClickDestination.stated(body, app: app, key: exchange.key)
        let keys = context.keys
        let serverKey = keys.server.current
        let device = try ClickDevice(body, claims, app, exchange.request, context.service, serverKey)
        let destination = try ClickDestination(stated: stated, link, body, app, device.platform) { link in
            serverKey.variantChoice(of: link, address: claims.address, userAgent: claims.userAgent)
        }
        let click = newClick(body, app, claims, destination, device, context, keys, exchange)
        let outcome: RecordOutcome
        do throws(StoreError) {
            outcome = try await context.stores.clicks.record(click)
        } catch {
            throw APIError(error, requestID: exchange.requestID)
        }
        return try recorded(outcome, device, isCounted: claims.basis == .counted, serverKey, &exchange)
    }

    private static func window(
        _ body: ClickBody,
        _ link: TappedLink?,
        _ app: App,
        _ context: LoopContext
    ) -> AttributionWindow {
        body.window ?? link?.settings.window ?? app.settings.window
            ?? context.service.settings.attributionWindow
    }

    private static func newClick(
        _ body: ClickBody,
        _ app: App,
        _ claims: ClickProvenance,
        _ destination: ClickDestination,
        _ device: ClickDevice,
        _ context: LoopContext,
        _ keys: Keyring,
        _ exchange: Exchange
    ) -> NewClick {
        let facts = facts(body, app, claims, destination, device, context, exchange)
        func visit(_ key: AddressKey) -> KeyedHash {
            key.visit(
                app: app.id,
                isTest: facts.isTest,
                fingerprint: device.primary,
                destinationOrLink: destination.visited,
                address: claims.address,
                userAgent: visitorAgent(claims, device)
            )
        }
        // A journey that the server made is new with each post.
        func post(_ key: AddressKey) -> KeyedHash {
            key.post(of: visit(key), campaignKey: facts.campaignKey, journeyID: body.journeyID)
        }
        func idempotency(_ key: ServerKey, _ text: String) -> KeyedHash {
            let text = idempotencyScope(claims, exchange) + text
            return key.idempotency(app: app.id, isTest: facts.isTest, key: text)
        }
        let addressKey = keys.addresses.key(at: exchange.now)
        var click = NewClick(
            facts: facts,
            fingerprints: device.fingerprints,
            visit: visit(addressKey),
            post: post(addressKey),
            evidence: evidence(body, facts, destination, claims, device, context.service, keys, addressKey),
            idempotency: body.idempotencyKey.map { idempotency(keys.server.current, $0) }
        )
        if let earlier = keys.addresses.previousDayKey(at: exchange.now) {
            click.earlier.visit = visit(earlier)
            click.earlier.post = post(earlier)
            let address = claims.addressHashes(context.service, earlier)
            click.earlier.visitor = earlier.visitor(address, userAgent: claims.userAgent)
        }
        if let text = body.idempotencyKey, !keys.server.others.isEmpty {
            click.earlier.idempotencies = keys.server.others.map { idempotency($0, text) }
            click.earlier.fingerprints = keys.server.others.map { device.keys(under: $0) }
        }
        return click
    }

    /// Two visitors without a fingerprint are told apart by what little their signals say.
    private static func visitorAgent(_ claims: ClickProvenance, _ device: ClickDevice) -> String {
        guard device.primary == nil, let signals = device.canonicalText else { return claims.userAgent }
        return claims.userAgent + "\n" + signals
    }

    private static func evidence(
        _ body: ClickBody,
        _ facts: Click.Facts,
        _ destination: ClickDestination,
        _ claims: ClickProvenance,
        _ device: ClickDevice,
        _ service: Service,
        _ keys: Keyring,
        _ addressKey: AddressKey
    ) -> ClickEvidence {
        guard claims.basis != .counted else {
            return ClickEvidence(visitor: 0, canonicalText: device.canonicalText)
        }
        let address = claims.addressHashes(service, addressKey)
        var ids = body.advertisingIDs
        for id in AdvertisingID.ids(in: facts.destination.queryItems + destination.query)
        where !ids.contains(where: { $0.kind == id.kind }) {
            ids.append(id)
        }
        return ClickEvidence(
            address: address,
            visitor: addressKey.visitor(address, userAgent: claims.userAgent),
            signals: device.signals,
            canonicalText: device.canonicalText,
            advertisingIDs: ids.map { id in
                let key = keys.server.current.advertisingID(app: facts.app, isTest: facts.isTest, id: id)
                return AdvertisingIDEntry(id.kind, key: key)
            }
        )
    }

    private static func facts(
        _ body: ClickBody,
        _ app: App,
        _ claims: ClickProvenance,
        _ destination: ClickDestination,
        _ device: ClickDevice,
        _ context: LoopContext,
        _ exchange: Exchange
    ) -> Click.Facts {
        let link = destination.link
        let source = SourceSignals(
            linkItems: destination.sourceItems,
            source: body.source,
            utmSource: body.utmSource ?? link?.settings.utm.first { $0.name == "utm_source" }?.value,
            referer: ClickReferer.text(body, isOfLink: link != nil, of: app, exchange, context),
            userAgent: claims.userAgent
        ).reading
        return Click.Facts(
            app: app.id,
            isTest: exchange.key?.kind == .test,
            destination: destination.url,
            campaignKey: body.campaignKey ?? link?.settings.campaignKey,
            journeyID: body.journeyID ?? link?.settings.journeyID
                ?? JourneyID(at: exchange.now, random: context.service.random),
            clickedAt: claims.clickedAt,
            recordedAt: exchange.now,
            window: claims.window,
            source: source.token,
            rawSource: source.raw,
            platform: device.platform,
            osVersion: device.osVersion,
            browser: BrowserFamily(userAgent: claims.userAgent),
            metadata: link.map { LinkMetadata.merged(body.metadata, $0.settings) } ?? body.metadata,
            isRobot: device.isRobot,
            isContradictory: device.isContradictory,
            link: link?.id,
            variant: destination.variant?.name
        )
    }

    /// Whose idempotency keys may meet: a stranger's key must not stand for a customer's own click, nor for
    /// another stranger's; nor does a click that is counted alone stand for one that may be matched.
    private static func idempotencyScope(_ claims: ClickProvenance, _ exchange: Exchange) -> String {
        (claims.basis == .counted ? "counted " : "")
            + (exchange.key?.kind == .server ? "server " : "\(claims.address.text) ")
    }

    private static func recorded(
        _ outcome: RecordOutcome,
        _ device: ClickDevice,
        isCounted: Bool,
        _ serverKey: ServerKey,
        _ exchange: inout Exchange
    ) throws(APIError) -> Recorded {
        let click: Click
        var (isNew, isOfFingerprint) = (true, true)
        switch outcome {
        case .recorded(let recorded): click = recorded
        case .duplicate(let first, let sharesFingerprint):
            click = first
            (isNew, isOfFingerprint) = (false, sharesFingerprint)
        case .linkEnded(let ending):
            exchange.outcome = ending.rawValue
            throw .linkEnded(ending)
        }
        exchange.outcome = isNew ? "recorded" : "duplicate"
        let (app, expiresAt) = (click.facts.app, click.facts.expiresAt)
        return Recorded(
            click: click,
            isNew: isNew,
            isOfFingerprint: isOfFingerprint,
            device: device,
            token: isCounted
                ? nil : ClickToken(for: click.id, of: app, expiresAt: expiresAt, signedBy: serverKey)
        )
    }

    private static func answer(_ recorded: Recorded) -> Response {
        var json = JSONWriter()
        json.object { json in
            json.member("status", "success")
            json.member("click_id", recorded.click.id.text)
            // The answer tells of the click that stands, whose own fingerprint is kept as a keyed hash alone.
            if recorded.isOfFingerprint { json.member("fingerprint", recorded.device.primary?.hex) }
            json.member("expires_at", recorded.click.facts.expiresAt.iso8601)
            if let token = recorded.token { json.member("token", token.text) }
            json.member("message", message(recorded))
        }
        return Response(recorded.isNew ? .created : .ok, json: json)
    }

    private static func message(_ recorded: Recorded) -> String {
        guard recorded.isNew else { return "This click was recorded before" }
        guard recorded.token != nil else {
            return "Click counted, and nothing more: its visitor does not want to be tracked"
        }
        let missing = recorded.device.missing
        guard !missing.isEmpty else { return "Click recorded" }
        return "Click recorded, to be found by its token alone. For a fingerprint are missing or unknown: "
            + missing.joined(separator: ", ")
    }
}
