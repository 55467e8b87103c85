internal import Attribution

/// What a launch's line says.
extension TraceLine {
    func launch() throws(APIError) -> RecordedLaunch {
        let fingerprints = try launchFingerprints()
        let token = try body.name("token")
        guard token != nil || !fingerprints.isEmpty else {
            throw .missingField(
                "fingerprint",
                "a launch needs fingerprint, fingerprint_input, device or token"
            )
        }
        let install = try body.text("install_id", Self.nameLength)
        let asker = "\(fingerprints.first ?? 0) \(addressText) \(userAgent)"
        return RecordedLaunch(
            at: at,
            fingerprints: fingerprints,
            address: address,
            caller: RecordedEvent.hash(install.map { "install \($0)" } ?? asker),
            hasInstallID: install != nil,
            release: OSRelease(launchAgent: userAgent, releases: data.releases),
            token: token,
            truth: try truth(),
            person: try body.name("person")
        )
    }

    /// What the client hashed; for a device whose form is not told, what it could, the form of most components first.
    private func launchFingerprints() throws(APIError) -> [UInt64] {
        if let fingerprint = try body.fingerprint() { return [fingerprint.words.0] }
        if let input = try body.text("fingerprint_input", Self.textLength) {
            return [Fingerprint(of: input).words.0]
        }
        guard let device = try body.object("device") else { return [] }
        let signals = CanonicalSignals(try ResolveBody.signals(device, platform), data: data)
        let inputs = signals.inputs(data: data)
        guard let text = try body.text("form", Self.nameLength) else {
            return inputs.sorted { $0.values.count > $1.values.count }.map { $0.fingerprint.words.0 }
        }
        guard let form = FingerprintForm(rawValue: text) else {
            let forms = FingerprintForm.allCases.map(\.rawValue).joined(separator: ", ")
            throw .invalidField("form", "must be one of \(forms)")
        }
        guard let input = inputs.first(where: { $0.form == form }) else {
            let components = form.components.map(\.rawValue).joined(separator: ", ")
            throw .invalidField("device", "lacks a value that form \(text) needs: \(components)")
        }
        return [input.fingerprint.words.0]
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
