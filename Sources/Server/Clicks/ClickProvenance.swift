internal import Attribution
package import HTTPServer

/// The address, user agent and time of a click, from the request; with a server key, from the body if it has them.
struct ClickProvenance {
    let address: NetworkAddress
    /// Whether ``address`` is the visitor's; false if a customer's server sent the click and its body states
    /// no address.
    let isVisitorsAddress: Bool
    /// The header fields of the visitor's browser, from the visitor's own request; with a server key, only the agent.
    let headers: VisitHeaders
    let clickedAt: Timestamp
    let window: AttributionWindow
    /// The limits on recognising the visitor; nil if all signals of their device may be used.
    let basis: ClickBasis?
    /// Whether the request announces that no person waits for its response.
    let isAutomatic: Bool

    init(_ body: ClickBody, _ exchange: Exchange, window: AttributionWindow) throws(APIError) {
        self.window = window
        basis = Self.basis(body, exchange)
        isAutomatic = AutomaticVisit.isAnnounced(by: exchange.request)
        guard exchange.key?.kind == .server else {
            address = exchange.address
            isVisitorsAddress = true
            headers = Self.visitHeaders(of: exchange.request)
            clickedAt = exchange.now
            return
        }
        address = body.address ?? exchange.address
        isVisitorsAddress = body.address != nil
        // The header fields describe the customer's server, not the visitor. Only its user agent is used, and only if
        // the body states none.
        headers = VisitHeaders(userAgent: body.userAgent ?? exchange.request.field("user-agent") ?? "")
        clickedAt = body.clickedAt ?? exchange.now
        guard !clickedAt.isAhead(of: exchange.now) else {
            let rule = "lies more than 5 minutes in the future: check the sender's clock, or leave it out"
            throw .invalidField("click_timestamp", rule)
        }
        guard window.covers(clickedAt: clickedAt, now: exchange.now) else {
            let rule =
                "is older than the attribution window of \(window.seconds) s: the click could match nothing"
            throw .invalidField("click_timestamp", rule)
        }
    }

    var userAgent: String { headers.userAgent }

    /// Returns the hashes that are stored instead of the visitor's address; nil if it is unknown or a relay's.
    func addressHashes(_ service: Service, _ key: AddressKey) -> AddressHashes? {
        isVisitorsAddress && !service.settings.relays.contains(address) ? key.addressHashes(of: address) : nil
    }

    private static func basis(_ body: ClickBody, _ exchange: Exchange) -> ClickBasis? {
        // A customer's server forwards no header field of the visitor's browser, but may state `consent`.
        let asksNotTo = exchange.key?.kind != .server && exchange.request.field("sec-gpc") == "1"
        if asksNotTo || body.hasConsent == false { return .counted }
        return body.isRequestAlone ? .request : nil
    }

    /// Reads the header fields that describe the browser of a visitor's own request.
    static func visitHeaders(of request: Request) -> VisitHeaders { VisitHeaders { request.field($0) } }
}

extension VisitHeaders {
    /// Reads the header fields that describe a browser; `field` returns the value of a field by its lower-case name.
    init(_ field: (String) -> String?) {
        let (agent, language) = (field("user-agent") ?? "", field("accept-language"))
        self.init(userAgent: agent, hints: ClientHints(fields: field), acceptLanguage: language)
    }
}

/// Requests that announce that no person waits for their response.
package enum AutomaticVisit {
    /// Returns whether a request is a HEAD, as link checkers send, or announces a prefetch.
    package static func isAnnounced(by request: Request) -> Bool {
        request.method == .head
            || Prefetching.fieldNames.contains { name in
                request.withFieldBytes(name) { Prefetching.isAnnounced(by: $0) } ?? false
            }
    }
}
