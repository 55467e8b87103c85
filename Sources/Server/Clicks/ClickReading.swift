internal import Attribution

/// One request that posts a click, with all values that are derived from it before the click is stored.
///
/// The extension with its `facts` is in the file of ``ClickBody``.
struct ClickReading {
    let body: ClickBody
    let app: App
    let exchange: Exchange
    let provenance: ClickProvenance
    let device: ClickDevice
    let destination: ClickDestination
    private let keys: Keyring

    /// - Throws: 400 for wrong values in the body, 404 for a link without a destination for the platform.
    init(_ body: ClickBody, of link: TappedLink?, app: App, _ exchange: Exchange) throws(APIError) {
        self.app = app
        self.exchange = exchange
        let standard = exchange.service.settings.attributionWindow
        let window = body.window ?? link?.settings.window ?? app.settings.window ?? standard
        let provenance = try ClickProvenance(body, exchange, window: window)
        var body = body
        // The browser's Global Privacy Control means the same as a false `consent` in the body.
        if provenance.basis == .counted { body.hasConsent = false }
        self.body = body
        let stated = try ClickDestination.stated(body, app: app, key: exchange.key)
        keys = exchange.keys
        let key = keys.server.current
        device = try ClickDevice(body, provenance, app: app, service: exchange.service, key: key)
        destination = try ClickDestination(
            stated: stated,
            of: link,
            body,
            app: app,
            platform: device.platform
        ) { key.variantChoice(of: $0, address: provenance.address, userAgent: provenance.userAgent) }
        self.provenance = provenance
    }

    var isTest: Bool { exchange.key?.kind == .test }
    var isCounted: Bool { provenance.basis == .counted }
    var campaignKey: CampaignKey? { body.campaignKey ?? destination.link?.settings.campaignKey }

    /// The click, ready to be stored.
    var newClick: NewClick {
        let addressKey = keys.addresses.key(at: exchange.now)
        let visit = visit(under: addressKey)
        var click = NewClick(
            facts: facts,
            fingerprints: device.fingerprints,
            visit: visit,
            post: post(of: visit, under: addressKey)
        )
        click.evidence = evidence(under: addressKey)
        click.fingerprintWindow = app.settings.policy.windows.fingerprint
        click.idempotency = body.idempotencyKey.map { idempotency($0, under: keys.server.current) }
        if let earlier = keys.addresses.previousDayKey(at: exchange.now) {
            let visit = self.visit(under: earlier)
            click.earlier.visit = visit
            click.earlier.post = post(of: visit, under: earlier)
            let address = provenance.addressHashes(exchange.service, earlier)
            click.earlier.visitor = earlier.secret.visitor(address, userAgent: provenance.userAgent)
        }
        if let text = body.idempotencyKey, !keys.server.others.isEmpty {
            click.earlier.idempotencies = keys.server.others.map { idempotency(text, under: $0) }
            click.earlier.fingerprints = keys.server.others.map { device.keys(under: $0) }
        }
        return click
    }

    /// Creates the token that names a stored click; nil for a click that is counted and never matched.
    func token(for click: Click) -> ClickToken? {
        guard !isCounted else { return nil }
        let (app, expiresAt) = (click.facts.app, click.facts.expiresAt)
        return ClickToken(for: click.id, of: app, expiresAt: expiresAt, signedBy: keys.server.current)
    }

    private func visit(under key: AddressKey) -> KeyedHash {
        // If a visitor has no fingerprint, the few known signals distinguish the visitor.
        let signals = device.primary == nil ? device.canonicalText : nil
        return key.secret.visit(
            app: app.id,
            isTest: isTest,
            fingerprint: device.primary,
            destinationOrLink: destination.visited,
            address: provenance.address,
            userAgent: provenance.userAgent + (signals.map { "\n" + $0 } ?? "")
        )
    }

    /// Returns the hash of a post: the visit, the campaign and the journey that the body states.
    ///
    /// A journey id that the server generates is left out, because it differs in each post.
    private func post(of visit: KeyedHash, under key: AddressKey) -> KeyedHash {
        key.secret.post(of: visit, campaignKey: campaignKey, journeyID: body.journeyID)
    }

    /// Returns the hash of an idempotency key, which also contains the sender and whether the click is only counted.
    ///
    /// A stranger's idempotency key must not name a customer's click or another stranger's. A click that is only
    /// counted must not replace one that may be matched.
    private func idempotency(_ text: String, under key: ServerKey) -> KeyedHash {
        let sender = exchange.key?.kind == .server ? "server " : "\(provenance.address.text) "
        let scope = (isCounted ? "counted " : "") + sender
        return key.idempotency(app: app.id, isTest: isTest, key: scope + text)
    }

    private func evidence(under addressKey: AddressKey) -> ClickEvidence {
        var evidence = ClickEvidence()
        evidence.canonicalText = device.canonicalText
        guard !isCounted else { return evidence }
        let address = provenance.addressHashes(exchange.service, addressKey)
        var ids = body.advertisingIDs
        for id in AdvertisingID.ids(in: destination.urlItems + destination.query)
        where !ids.contains(where: { $0.kind == id.kind }) {
            ids.append(id)
        }
        evidence.address = address
        evidence.visitor = addressKey.secret.visitor(address, userAgent: provenance.userAgent)
        evidence.signals = device.signals
        evidence.advertisingIDs = ids.map { id in
            let key = keys.server.current.advertisingID(app: app.id, isTest: isTest, id: id)
            return AdvertisingIDEntry(id.kind, key: key)
        }
        return evidence
    }
}
