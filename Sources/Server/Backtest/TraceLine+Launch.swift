internal import Attribution

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

    private func device() throws(APIError) -> CanonicalSignals? {
        guard let device = try body.object("device") else { return nil }
        return CanonicalSignals(try SignalsBody.native(device, platform), data: data)
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
