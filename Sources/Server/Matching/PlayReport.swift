internal import Attribution
internal import HTTPServer

/// What Google Play's install referrer service reports about an installation, with Play's own names.
///
/// It is the member `play` of a body, or the header field `X-Play-Referrer` with the same object in base64url. Any
/// value may be missing, but none may be malformed: a client must notice that its evidence does not count.
struct PlayReport {
    /// The install referrer in the report; nil if it has none.
    let referrer: String?
    let evidence: PlayEvidence

    private static let fieldName = "X-Play-Referrer"
    private static let referrerName = "installReferrer"
    private static let maximumVersionLength = 255

    static func isField(of request: Request) -> Bool { request.hasField("x-play-referrer") }

    /// Reads the member, or else the header field; nil if the request has neither.
    ///
    /// - Parameters:
    ///   - member: the body's member; nil if there is no body or it has none.
    ///   - request: the request with the field.
    ///   - other: the install referrer that the request sends in another place; nil for none.
    /// - Throws: 400 with the name of the wrong value, or for a referrer that differs from `other`.
    init?(_ member: JSONBody?, _ request: Request, besideReferrer other: String?) throws(APIError) {
        let field = member == nil ? try JSONBody(base64URLField: Self.fieldName, of: request) : nil
        guard let report = member ?? field else { return nil }
        referrer = try report.text(Self.referrerName, InstallReferrer.maximumLength)
        var install = PlayInstall()
        for time in PlayInstall.Time.allCases {
            install[time] = try report.integer(time.rawValue, in: PlayInstall.allowedSeconds)
        }
        install.version = try report.text(PlayInstall.versionName, Self.maximumVersionLength)
        install.isInstant = try report.flag(PlayInstall.instantName)
        let other = other.flatMap { $0.isEmpty ? nil : $0 }
        if let referrer, let other, referrer != other {
            let rule =
                "differs from the install referrer that the request also sends; send only one of them,"
                + " or the same text"
            throw report.refusal(of: Self.referrerName, rule)
        }
        evidence = PlayEvidence(install, referrer: referrer ?? other)
    }
}
