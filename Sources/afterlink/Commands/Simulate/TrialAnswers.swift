internal import Attribution
internal import Server

/// What the server said to a trial's click.
package struct ClickAnswer: Sendable {
    let status: Int
    let statusText: String
    let body: String
    package let clickID: String?
    let fingerprint: String?
    let expiresAt: Timestamp?
    /// The click's own token, where the server makes such.
    package let token: String?
    let message: String?
    let field: String?

    init(_ answer: ClientResponse) {
        (status, statusText, body) = (answer.status, answer.statusText, answer.body)
        let members = (try? JSONValue(parsing: Array(answer.body.utf8)))?.object
        clickID = members?["click_id"]?.string
        fingerprint = members?["fingerprint"]?.string
        expiresAt = (members?["expires_at"]?.string).flatMap { Timestamp(iso8601: $0) }
        token = members?["token"]?.string
        message = members?["message"]?.string
        field = members?["field"]?.string
    }

    package init(status: Int, body: String) {
        self.init(ClientResponse(status: status, body: body))
    }

    package var isRecorded: Bool { (200...201).contains(status) && clickID != nil }
    /// Whether a click like it was there already.
    var isRepeated: Bool { isRecorded && status == 200 }
}

/// What the server said to a trial's launch.
package struct LaunchAnswer: Sendable {
    let status: Int
    let statusText: String
    let body: String
    package let isMatch: Bool
    package let isNoMatch: Bool
    let url: String?
    let journey: String?
    let method: String?
    let confidence: Double?
    let isGuaranteed: Bool?
    let competingClicks: Int64?
    /// Why nothing matched: told to test keys only.
    let reason: String?
    let message: String?

    init(_ answer: ClientResponse) {
        (status, statusText, body) = (answer.status, answer.statusText, answer.body)
        let members = (try? JSONValue(parsing: Array(answer.body.utf8)))?.object
        let word = members?["status"]?.string
        isMatch = answer.status == 200 && word == "match"
        isNoMatch = answer.status == 200 && word == "no_match"
        url = members?["url"]?.string
        journey = members?["jid"]?.string
        method = members?["attributionMethod"]?.string
        confidence = members?["confidence"]?.double
        isGuaranteed = members?["guaranteed"]?.bool
        competingClicks = members?["competingClicks"]?.int64
        reason = members?["reason"]?.string
        message = members?["message"]?.string
    }

    package init(status: Int, body: String) {
        self.init(ClientResponse(status: status, body: body))
    }
}
