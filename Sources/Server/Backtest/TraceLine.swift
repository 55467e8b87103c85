internal import Attribution

/// One line of a trace.
///
/// Members that are not listed are ignored; `null` and an empty text count as not there.
struct TraceLine {
    let body: JSONBody
    /// Under which all of a trace is hashed, as a server's clicks are under its own.
    let key: ServerKey
    let data: DeviceData
    let at: Timestamp
    let address: AddressHashes?
    /// Nil where it does not say.
    let network: NetworkAddress?
    let userAgent: String
    let platform: Platform?

    static let nameLength = 255
    static let textLength = 2048

    init(_ bytes: [UInt8], key: ServerKey, data: DeviceData) throws(APIError) {
        body = try JSONBody(parsing: bytes, named: "A line")
        self.key = key
        self.data = data
        at = try body.moment("at")
        network = try body.address()
        address = network.flatMap { key.addressHashes(of: $0) }
        userAgent = try body.text("user_agent", Self.textLength) ?? ""
        platform = try body.platform()
    }

    func event(_ robots: RobotAgents) throws(APIError) -> RecordedEvent {
        switch try body.text("event", Self.nameLength) {
        case "click": .click(try click(robots))
        case "launch": .launch(try launch())
        default: throw .invalidField("event", "must be \"click\" or \"launch\"")
        }
    }

    private func click(_ robots: RobotAgents) throws(APIError) -> RecordedClick {
        let signals = try signals()
        let fingerprints = try fingerprints(of: signals)
        let name = try body.name("id")
        guard name != nil || !fingerprints.isEmpty else { throw nothingToFindBy(signals) }
        let campaign = try body.text("campaign_key", Self.nameLength)
        let url = try body.text("deeplink_url", Self.textLength) ?? ""
        return RecordedClick(
            name: name,
            at: at,
            platform: platform ?? signals?.platform ?? .unknown,
            fingerprints: fingerprints,
            address: address,
            visitor: key.visitor(address, userAgent: userAgent),
            destination: CreditedDestination(
                url: RecordedEvent.hash("\(url) \(campaign ?? "")"),
                campaign: campaign.map { RecordedEvent.hash($0) } ?? 0
            ),
            window: try body.window(),
            signals: signals.map { SignalHashes($0.evidence(data: data)) } ?? .none,
            isRobot: robots.isRobot(userAgent),
            person: try body.name("person")
        )
    }

    /// From the words of a browser, or of the device itself.
    private func signals() throws(APIError) -> CanonicalSignals? {
        if let browser = try body.object("signals") {
            let headers = VisitHeaders(userAgent: userAgent)
            let signals = try SignalsBody.browser(browser)
            return CanonicalSignals(signals, headers, platform: platform ?? .unknown, data: data)
        }
        return try device()
    }

    private func device() throws(APIError) -> CanonicalSignals? {
        guard let device = try body.object("device") else { return nil }
        return CanonicalSignals(try SignalsBody.native(device, platform), data: data)
    }

    private func fingerprints(of signals: CanonicalSignals?) throws(APIError) -> [RecordedFingerprint] {
        let made = signals?.fingerprints(data: data) ?? []
        let release = signals.flatMap { OSRelease($0.system, on: $0.platform) }
        var all = made.map { made in
            RecordedFingerprint(
                key: key.keyed(made.fingerprint).index,
                form: made.form,
                weight: made.weight,
                release: made.osVersion.map { OSRelease($0, on: signals?.platform ?? .unknown) } ?? release
            )
        }
        if let own = try body.fingerprint(), !made.contains(where: { $0.fingerprint == own }) {
            all.insert(RecordedFingerprint(key: key.keyed(own).index, form: nil, release: release), at: 0)
        }
        return all
    }

    private func nothingToFindBy(_ signals: CanonicalSignals?) -> APIError {
        guard let signals else {
            return .missingField(
                "fingerprint",
                "a click needs fingerprint, signals or device, or else an id by which a launch's token names it"
            )
        }
        let missing = signals.missing(data: data).map(\.rawValue).joined(separator: ", ")
        return .missingField("signals", "no fingerprint can be made; missing or unknown: \(missing)")
    }
}

extension JSONBody {
    /// A moment as ISO 8601 or as milliseconds since 1970.
    fileprivate func moment(_ name: String) throws(APIError) -> Timestamp {
        if let milliseconds = try? integer(name) { return Timestamp(milliseconds: milliseconds) }
        guard let text = try? text(name, TraceLine.nameLength), let moment = Timestamp(iso8601: text) else {
            throw .invalidField(
                name,
                "must be a moment such as \"2026-01-31T12:00:00.000Z\", or milliseconds since 1970"
            )
        }
        return moment
    }

    /// A hash of a name, which may be a text or a whole number.
    func name(_ name: String) throws(APIError) -> UInt64? {
        try anyName(name).map { RecordedEvent.hash($0) }
    }

    func anyName(_ name: String) throws(APIError) -> String? {
        if let number = try? integer(name) { return String(number) }
        do throws(APIError) {
            return try text(name, TraceLine.nameLength)
        } catch {
            throw .invalidField(
                name,
                "must be a text of at most \(TraceLine.nameLength) characters, or a whole number"
            )
        }
    }
}

/// What a launch's line says.
extension TraceLine {
    func launch() throws(APIError) -> RecordedLaunch {
        let given = try givenFingerprint()
        let told =
            try given.isOfDevice
            ? nil
            : device().map { canonical in
                // Values beside what the client has hashed itself tell clicks apart that this finds.
                LaunchSignals(canonical, given: given.hash, isWeighedByGiven: given.hash != nil, data: data)
            }
        let fingerprints = (told?.fingerprints ?? [given.hash].compactMap(\.self)).map { key.keyed($0).index }
        let token = try body.name("token")
        guard token != nil || !fingerprints.isEmpty else {
            throw .missingField(
                "fingerprint",
                "a launch needs fingerprint, fingerprint_input, device or token"
            )
        }
        let install = try body.text("install_id", Self.nameLength)
        let asker = "\(fingerprints.first ?? 0) \(network?.text ?? "") \(userAgent)"
        let agent = OSRelease(launchAgent: userAgent, releases: data.releases)
        return RecordedLaunch(
            at: at,
            fingerprints: fingerprints,
            address: address,
            caller: RecordedEvent.hash(install.map { "install \($0)" } ?? asker),
            hasInstallID: install != nil,
            release: agent ?? told?.release,
            signals: told.map { SignalHashes($0.remainingValues) } ?? .none,
            token: token,
            truth: try truth(),
            person: try body.name("person")
        )
    }

    /// What the client hashed, and whether it was made from the line's device, as the form says that it hashes.
    private func givenFingerprint() throws(APIError) -> (hash: Fingerprint?, isOfDevice: Bool) {
        if let fingerprint = try body.fingerprint() { return (fingerprint, false) }
        if let input = try body.text("fingerprint_input", Self.textLength) {
            return (Fingerprint(of: input), false)
        }
        guard let text = try body.text("form", Self.nameLength) else { return (nil, false) }
        guard let form = FingerprintForm(rawValue: text) else {
            let forms = FingerprintForm.allCases.map(\.rawValue).joined(separator: ", ")
            throw .invalidField("form", "must be one of \(forms)")
        }
        let inputs = try device()?.inputs(data: data) ?? []
        guard let input = inputs.first(where: { $0.form == form }) else {
            let components = form.components.map(\.rawValue).joined(separator: ", ")
            throw .invalidField("device", "lacks a value that form \(text) needs: \(components)")
        }
        return (input.fingerprint, true)
    }

    private func truth() throws(APIError) -> RecordedLaunch.Truth? {
        if let named = try? body.object("truth") {
            guard let click = try named.name("click") else {
                throw .invalidField("truth.click", "must be the id of a click")
            }
            return .click(click)
        }
        switch try body.anyName("truth") {
        case nil: return nil
        case "organic": return .organic
        case "reinstall": return .reinstall
        case "retry": return .retry
        case let id?: return .click(RecordedEvent.hash(id))
        }
    }
}
