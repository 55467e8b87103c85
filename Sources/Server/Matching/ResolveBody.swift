package import Attribution
package import HTTPServer

/// The body of `POST …/resolve`, a newer client's first launch, with validated types, lengths and forms.
///
/// Unlisted members are ignored; `null` and an empty text count as not sent.
package struct ResolveBody {
    package let evidence: LaunchEvidence
    /// The languages that the app is localised in; nil if the client does not send them.
    package let localizations: [String]?
    package let installID: InstallID?
    /// When the app was first installed, according to the system; nil if not sent.
    ///
    /// An update of the app does not change it.
    package let firstInstalledAt: Timestamp?
    package let platform: Platform?

    private static let maximumNameLength = 255
    private static let maximumCount = 1000

    /// Reads the body, and adds evidence from the header fields and the query of the same request.
    ///
    /// - Throws: 400 with the name of the wrong member; 415 for another media type.
    package init(_ request: Request) throws(APIError) {
        let body = try JSONBody(request)
        var evidence = LaunchEvidence(fingerprint: try body.fingerprint())
        platform = try body.platform()
        let signals = try body.object("signals")
        if let signals { evidence.signals = try SignalsBody.native(signals, platform) }
        let play = try Self.play(of: body, request)
        let isNamed = try Self.addReferences(of: body, play?.referrer, to: &evidence)
        let hasID = try Self.addAdvertisingIDs(of: body, to: &evidence)
        LaunchFields.add(request, to: &evidence)
        guard isNamed || hasID || !evidence.isEmpty else {
            let advice =
                "Send what the launch can be recognised by: \"signals\", \"fingerprint\", \"token\", \"click_id\", "
                + "\"referrer\", \"play\" with a referrer, \"pasteboard\", \"idfa\" or \"gaid\""
            throw .missingField("signals", advice)
        }
        evidence.play = play?.evidence
        self.evidence = evidence
        localizations = try signals?.texts("localizations", Self.maximumNameLength, count: Self.maximumCount)
        installID = try Self.installID(body, request)
        firstInstalledAt = try body.time("first_install_time")
    }

    /// Adds the values that may name a click, and returns whether the body has any; not every referrer names a click.
    ///
    /// `installReferrer` is the referrer in Google Play's report. If the body has a referrer too, the two are equal.
    private static func addReferences(
        of body: JSONBody,
        _ installReferrer: String?,
        to evidence: inout LaunchEvidence
    ) throws(APIError) -> Bool {
        let token = try body.text("token", ClickReference.maximumLength)
        let clickID = try body.text("click_id", ClickReference.maximumLength)
        let referrer = try body.text("referrer", InstallReferrer.maximumLength) ?? installReferrer
        let pasteboard = try body.text("pasteboard", PasteboardText.maximumLength)
        evidence.add(token: token, clickID: clickID, referrer: referrer, pasteboard: pasteboard)
        return token != nil || clickID != nil || referrer != nil || pasteboard != nil
    }

    private static func play(of body: JSONBody, _ request: Request) throws(APIError) -> PlayReport? {
        let referrer =
            try body.text("referrer", InstallReferrer.maximumLength) ?? request.field("x-install-referrer")
        return try PlayReport(try body.object("play"), request, besideReferrer: referrer)
    }

    /// Adds the advertising ids, and returns whether the body has any, including withheld ids of zeros.
    private static func addAdvertisingIDs(of body: JSONBody, to evidence: inout LaunchEvidence)
        throws(APIError) -> Bool
    {
        var isThere = false
        for kind in AdvertisingID.Kind.allCases {
            guard let text = try body.text(kind.rawValue, maximumNameLength) else { continue }
            isThere = true
            switch AdvertisingID.reading(text, as: kind) {
            case .id(let id): evidence.add(id)
            case .withheld: continue
            case .malformed:
                let rule =
                    "is not a UUID such as 6D92078A-8246-4BA4-AE5B-76104861E7DC; leave it out where there is none"
                throw .invalidField(kind.rawValue, rule)
            }
        }
        return isThere
    }

    private static func installID(_ body: JSONBody, _ request: Request) throws(APIError) -> InstallID? {
        // A malformed header field is refused, even if the body has an id, which would take precedence.
        let sent = try LaunchFields.installID(request)
        guard let text = try body.text("install_id", maximumNameLength) else { return sent }
        return try LaunchFields.installID(text, from: "install_id")
    }
}
