internal import Attribution
internal import HTTPServer
internal import JSON

/// `POST /v1/deferred-deeplink/click`: a landing page or a customer's own server reports a click.
///
/// The service responds only after the click is on disk.
enum RecordClick {
    static func respond(_ exchange: inout Exchange) async throws(APIError) -> Response {
        let body = try ClickBody(exchange.request)
        let link = try await exchange.link(of: body)
        let app = try exchange.owner(of: body, link)
        exchange.app = app.id
        return response(to: try await record(body, of: link, app: app, &exchange))
    }

    /// A stored click, and the values that its response depends on.
    struct Recorded {
        let click: Click
        /// False for a click that an earlier post recorded.
        let isNew: Bool
        /// Whether the stored click can be found by the fingerprint of this post.
        let sharesFingerprint: Bool
        let device: ClickDevice
        /// Nil for a click that is counted and never matched.
        let token: ClickToken?
    }

    /// Records a click.
    ///
    /// - Throws: 410 for a link that no longer leads anywhere; 400 and 404 for wrong values in the body; 500 or 503 for
    ///   a store's failure.
    static func record(
        _ body: ClickBody,
        of link: TappedLink?,
        app: App,
        _ exchange: inout Exchange
    ) async throws(APIError) -> Recorded {
        let reading = try ClickReading(body, of: link, app: app, exchange)
        let click: Click
        var (isNew, sharesFingerprint) = (true, true)
        switch try await exchange.store(await exchange.stores.clicks.record(reading.newClick)) {
        case .recorded(let recorded): click = recorded
        case .duplicate(let first, let isFound):
            click = first
            (isNew, sharesFingerprint) = (false, isFound)
        case .linkEnded(let ending):
            exchange.outcome = ending.rawValue
            throw .linkEnded(ending)
        }
        exchange.outcome = isNew ? "recorded" : "duplicate"
        return Recorded(
            click: click,
            isNew: isNew,
            sharesFingerprint: sharesFingerprint,
            device: reading.device,
            token: reading.token(for: click)
        )
    }

    private static func response(to recorded: Recorded) -> Response {
        Response(recorded.isNew ? .created : .ok) { json in
            json.member("status", "success")
            json.member("click_id", recorded.click.id.text)
            // If the click is stored under another fingerprint, the store has only a keyed hash of it.
            if recorded.sharesFingerprint { json.member("fingerprint", recorded.device.primary?.hex) }
            json.member("expires_at", recorded.click.facts.expiresAt.iso8601)
            json.member("token", recorded.token?.text)
            json.member("message", message(to: recorded))
        }
    }

    private static func message(to recorded: Recorded) -> String {
        guard recorded.isNew else { return "This click was recorded before" }
        guard recorded.token != nil else {
            return "Click counted; it never matches, because its visitor does not want to be tracked"
        }
        let missing = recorded.device.missing
        guard !missing.isEmpty else { return "Click recorded" }
        return "Click recorded; only its token can find it. Missing or unknown for a fingerprint: "
            + missing.joined(separator: ", ")
    }
}
