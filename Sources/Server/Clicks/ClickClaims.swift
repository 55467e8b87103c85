internal import Attribution
internal import HTTPServer

/// Whose address, agent and time a click counts with: what the caller says where its key is believed, what
/// the connection shows where it is not.
struct ClickClaims {
    let address: NetworkAddress
    let userAgent: String
    let clickedAt: Timestamp
    let window: AttributionWindow

    /// How far a believed clock may run ahead.
    private static let allowedAdvance: Int64 = 5 * 60 * 1000

    init(_ body: ClickBody, _ exchange: Exchange, window: AttributionWindow) throws(APIError) {
        self.window = window
        guard exchange.key?.kind == .server else {
            address = exchange.address
            userAgent = exchange.request.field("user-agent") ?? ""
            clickedAt = exchange.now
            return
        }
        address = body.address ?? exchange.address
        userAgent = body.userAgent ?? exchange.request.field("user-agent") ?? ""
        clickedAt = body.clickedAt ?? exchange.now
        guard clickedAt.milliseconds(since: exchange.now) <= Self.allowedAdvance else {
            throw .invalidField(
                "click_timestamp",
                "lies more than 5 minutes in the future: check the sender's clock, or leave it out"
            )
        }
        guard window.covers(clickedAt: clickedAt, now: exchange.now) else {
            throw .invalidField(
                "click_timestamp",
                "is older than the attribution window of \(window.seconds) s: the click could match nothing"
            )
        }
    }
}
