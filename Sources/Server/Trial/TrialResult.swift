public import Attribution
internal import JSON

/// How a trial ended, and why.
public struct TrialResult: Sendable {
    public let trial: Trial
    public let reading: TrialAnalysis
    public let click: TrialClickResponse
    /// Nil if the click was refused, so that no launch was sent.
    public let launch: TrialLaunchResponse?
    /// When the launch happened, on a server whose clock is set by its requests.
    public let launchedAt: Timestamp?
    public let token: Token

    /// Whether the launch brought the click's token.
    public enum Token: Sendable {
        case notWanted
        case brought
        /// It was to, but the server made none for the click.
        case missing
    }

    public init(
        _ trial: Trial,
        click: TrialClickResponse,
        launch: TrialLaunchResponse?,
        launchedAt: Timestamp? = nil,
        token: Token = .notWanted
    ) {
        self.trial = trial
        reading = TrialAnalysis(trial)
        self.click = click
        self.launch = launch
        self.launchedAt = launchedAt
        self.token = token
    }

    /// Whether the launch got this click, or the one that it counts as a repetition of.
    public var isMatched: Bool {
        launch?.isMatch == true && (launch?.journey == trial.journey || click.isRepeated)
    }

    /// Whether the launch got another click, which has the same fingerprint and was still open.
    public var isMatchedByAnother: Bool { launch?.isMatch == true && !isMatched }

    var isExpired: Bool {
        guard let launchedAt, let expiresAt = click.expiresAt else { return false }
        return expiresAt < launchedAt
    }

    /// Whether the launch has to get the click, by the values of both.
    public var isMatchExpected: Bool {
        !reading.isRobot && !isExpired && (reading.hit != nil || token == .brought)
    }

    /// Whether it ended as the values say that it must.
    public var isAsExpected: Bool {
        guard click.isRecorded else { return reading.made.isEmpty && click.status == 400 }
        guard let launch, launch.isMatch || launch.isNoMatch else { return false }
        // An older click that was still open is no matter of this one, if this one was not to be found.
        return isMatched == isMatchExpected
    }

    /// One or two words for a table.
    public var word: String {
        if !click.isRecorded { return "click refused" }
        if isMatched { return "match" }
        if isMatchedByAnother { return "another click" }
        if launch?.isNoMatch == true { return "no match" }
        return "launch refused"
    }
}

/// A server's response to a trial's click.
public struct TrialClickResponse: Sendable {
    public let status: Int
    public let statusText: String
    public let body: String
    public let clickID: String?
    let fingerprint: String?
    let expiresAt: Timestamp?
    /// The click's own token, if the server made one.
    public let token: String?
    public let message: String?
    let field: String?

    public init(_ response: ClientResponse) {
        (status, statusText, body) = (response.status, response.statusText, response.body)
        let members = response.json
        clickID = members?["click_id"]?.string
        fingerprint = members?["fingerprint"]?.string
        expiresAt = (members?["expires_at"]?.string).flatMap { Timestamp(iso8601: $0) }
        token = members?["token"]?.string
        message = members?["message"]?.string
        field = members?["field"]?.string
    }

    public var isRecorded: Bool { (200...201).contains(status) && clickID != nil }
    /// Whether the server already had a click like it.
    var isRepeated: Bool { isRecorded && status == 200 }
}

/// A server's response to a trial's launch.
public struct TrialLaunchResponse: Sendable {
    public let statusText: String
    public let status: Int
    public let body: String
    public let isMatch: Bool
    public let isNoMatch: Bool
    let url: String?
    let journey: String?
    public let method: String?
    public let confidence: Double?
    let isGuaranteed: Bool?
    let competingClicks: Int64?
    /// Why nothing matched; the server states it to test keys only.
    let reason: String?
    let message: String?

    public init(_ response: ClientResponse) {
        (status, statusText, body) = (response.status, response.statusText, response.body)
        let members = response.json
        let word = members?["status"]?.string
        isMatch = response.status == 200 && word == "match"
        isNoMatch = response.status == 200 && word == "no_match"
        url = members?["url"]?.string
        journey = members?["jid"]?.string
        method = members?["attributionMethod"]?.string
        confidence = members?["confidence"]?.double
        isGuaranteed = members?["guaranteed"]?.bool
        competingClicks = members?["competingClicks"]?.int64
        reason = members?["reason"]?.string
        message = members?["message"]?.string
    }
}
