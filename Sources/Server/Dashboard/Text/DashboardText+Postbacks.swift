internal import Attribution

/// The sentences of the pages about postbacks.
extension DashboardText {
    static let postbacks = "Postbacks"
    static let endpoint = "Endpoint"
    static let endpoints: TableText = [
        "Endpoints": ["URL", "App", "State", "Waiting", "Waiting since", "Types"]
    ]
    static let noEndpoints =
        "No endpoint receives events yet. Create one here, or with `afterlink postbacks create`."
    static let newEndpoint = "New endpoint"
    static let aboutEndpoints =
        "Events are sent as Standard Webhooks specifies. An app's events are stored once it has an endpoint."
    static let endpointURL = "URL, with https"
    static let endpointTypes = "Types"
    static let endpointBody = "Own JSON body with macros; empty for the body of Standard Webhooks"
    static let endpointHeaders =
        "Up to \(PostbackDraft.maximumHeaders) header fields, one on each line, as in Authorization: Bearer x"
    static let endpointSince = "Also send the stored events from this day on (UTC)"
    static let wrongDay = "must be a day"
    static let macros = "Macros for the URL and the body"
    /// The sentence on macros, with their names.
    static let macrosExplained =
        "The path and the query of the URL, and the texts of the body, may have macros, which each event's values replace. If"
        + " there is a macro or an own body, requests are unsigned. The macros are "
        + PostbackTemplate.names.map { "{\($0)}" }.joined(separator: ", ") + "."
    static let endpointTraffics = [("", "live"), ("true", "test keys")]
    static let createEndpoint = "Create endpoint"
    static let endpointSecret = "Secret"
    static let secretShownOnce =
        "Copy the secret now: no other page shows it. The service signs with the secret, so it stores the secret encrypted."
    static func signing(_ endpoint: PostbackEndpoint) -> String {
        endpoint.isTemplate ? "none: requests from a template are unsigned" : "by the endpoint's secret"
    }
    static let pending = "Waiting"
    static let oldest = "Waiting since"
    static let deliveries: TableText = [
        "Deliveries": ["Time", "Type", "State", "Attempts", "Next attempt", "Last response", "Request"]
    ]
    static let noDeliveries = "No delivery matches these filters."
    static let olderDeliveries = "Older deliveries"
    static let baseString = "What the signatures cover"
    static let hidden = "(hidden)"
    static let sendAgain = "Send again"
    static let replaySince = "All events from this day on (UTC), also delivered ones"

    static func answered(_ milliseconds: Int64) -> String { "Response after \(milliseconds) ms" }

    static func endpointAction(_ word: String) -> String {
        switch word {
        case "enable": "Enable"
        case "disable": "Disable"
        case "test": "Send a sample"
        case "replay": "Send failed deliveries again"
        default: "Replace the secret"
        }
    }

    /// Returns the text of an endpoint's state, and the style of its cell.
    static func state(_ endpoint: PostbackEndpoint) -> (text: String, style: String?) {
        switch endpoint.state {
        case .enabled where endpoint.circuit.failures > 0:
            let since = endpoint.circuit.failingSince.map { " since \(time($0))" } ?? ""
            let failures = endpoint.circuit.failures
            let times = failures == 1 ? "once" : "\(count(failures)) times in a row"
            return ("fails\(since), \(times)", "bad")
        case .enabled: return ("enabled", "good")
        case .held: return ("held: \(endpoint.reason)", "bad")
        case .disabled: return ("disabled: \(endpoint.reason)", "bad")
        }
    }

    /// Returns the time of the oldest pending event, and how long it has waited.
    static func age(_ oldest: Timestamp?, at now: Timestamp) -> String {
        oldest.map { "\(time($0)), \(ElapsedTime.text(milliseconds: now.milliseconds(since: $0)))" } ?? "–"
    }

    /// Returns the sentence about an endpoint that failed; nil for any other endpoint.
    static func alarm(_ endpoint: PostbackEndpoint) -> String? {
        switch endpoint.state {
        case .enabled:
            endpoint.circuit.isOpen ? "The postback endpoint \(endpoint.url) \(state(endpoint).text)." : nil
        case .held, .disabled: "The postback endpoint \(endpoint.url) is \(state(endpoint).text)."
        }
    }
}
