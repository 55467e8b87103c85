#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The requests and responses of the server's API.
enum Wire {
    static let resolve = "v1/deferred-deeplink/resolve"
    static let events = "v1/events"
    static let erase = "v1/erase"

    /// The body of a first launch.
    struct Launch: Encodable {
        let platform: Signals.Platform
        let installID: String
        let signals: Signals
        let token: String?

        private enum CodingKeys: String, CodingKey {
            case platform, signals, token
            case installID = "install_id"
        }
    }

    /// Returns the body of a batch of events, each of which is JSON already.
    static func batch(_ lines: [Data]) -> Data {
        Data(#"{"events":["#.utf8) + Data(lines.joined(separator: Data(",".utf8))) + Data("]}".utf8)
    }

    static func request(_ call: String, body: Data, _ configuration: Configuration) -> ClientRequest {
        let headers = [
            "Authorization": "Bearer " + configuration.appKey,
            "Content-Type": "application/json",
            "X-SDK-Version": "afterlink-swift/1.0.0",
        ]
        return ClientRequest(url: configuration.address(of: call), headers: headers, body: body)
    }

    /// The outcome of a request.
    enum Outcome<Answer: Sendable>: Sendable {
        case answer(Answer)
        /// The request must be sent again.
        ///
        /// It failed, the status may be temporary, or another device responded, for example with the sign-in page of a
        /// network.
        case retry(reason: String, after: String?)
        /// The server refused the request, and will refuse it again.
        case refused(status: Int)
    }

    /// Reads the response to a first launch.
    ///
    /// A success counts only in the documented form. After any other response except a refusal, the client
    /// sends the request again.
    static func launchAnswer(_ response: ClientResponse) -> Outcome<LaunchAnswer> {
        outcome(response) { body in
            guard let answer = try? JSONDecoder().decode(LaunchBody.self, from: body) else { return nil }
            return answer.value
        }
    }

    /// Reads the response to a batch: the outcome of each event, in order.
    static func eventResults(_ response: ClientResponse) -> Outcome<[EventResult]> {
        outcome(response) { try? JSONDecoder().decode(EventResults.self, from: $0).results }
    }

    /// Reads the response to a request to erase: any object of JSON confirms it.
    static func confirmation(_ response: ClientResponse) -> Outcome<Bool> {
        outcome(response) {
            (try? JSONDecoder().decode([String: JSONValue].self, from: $0)) != nil ? true : nil
        }
    }

    private static func outcome<Answer>(_ response: ClientResponse, _ read: (Data) -> Answer?) -> Outcome<
        Answer
    > {
        switch response.status {
        case 200...299:
            guard let answer = read(response.body) else {
                return .retry(reason: "the response is not the server's", after: nil)
            }
            return .answer(answer)
        case 400..<500 where response.status != 429 && response.status != 408 && isError(response.body):
            return .refused(status: response.status)
        default: return .retry(reason: "status \(response.status)", after: response.retryAfter)
        }
    }

    /// Returns whether a body is an error of the server, and not of a device on the way to it.
    private static func isError(_ body: Data) -> Bool {
        (try? JSONDecoder().decode(ErrorBody.self, from: body)) != nil
    }

    private struct ErrorBody: Decodable {
        let code: String

        private enum CodingKeys: String, CodingKey { case code = "error_code" }
    }

    struct EventResult: Decodable, Sendable {
        enum Outcome: String, Decodable, Sendable {
            case accepted
            case duplicate
            case rejected
        }

        let outcome: Outcome
        let field: String?
    }

    private struct EventResults: Decodable {
        let results: [EventResult]
    }

    private struct LaunchBody: Decodable {
        enum Status: String, Decodable {
            case match
            case noMatch = "no_match"
        }

        let status: Status
        let url: String?
        let campaignKey: String?
        let campaignOnly: Bool?
        let jid: String?
        let clickID: String?
        let attributionMethod: String?
        let confidence: Double?
        let guaranteed: Bool?
        let clickTimestamp: String?
        let metadata: [String: JSONValue]?

        private enum CodingKeys: String, CodingKey {
            case status, url, campaignKey, campaignOnly, jid, attributionMethod, confidence, guaranteed
            case clickTimestamp, metadata
            case clickID = "click_id"
        }

        /// The result; nil if a match has no valid URL.
        var value: LaunchAnswer? {
            guard status == .match else { return LaunchAnswer.none }
            if campaignOnly == true { return campaignKey.map { .campaign($0) } ?? LaunchAnswer.none }
            guard let url = url.flatMap(URL.init(string:)) else { return nil }
            var link = Link(
                url: url,
                campaign: campaignKey,
                confidence: confidence ?? 0,
                isGuaranteed: guaranteed ?? false,
                metadata: metadata ?? [:]
            )
            (link.journey, link.clickID, link.method) = (jid, clickID, attributionMethod)
            link.clickedAt = clickTimestamp.flatMap(EventTime.date)
            return .match(link)
        }
    }
}

/// Times as the API writes them.
enum EventTime {
    private static let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    static func text(_ date: Date) -> String { style.format(date) }
    static func date(_ text: String) -> Date? { try? style.parse(text) }

    /// Reads a date of a header, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    static func headerDate(_ text: String) -> Date? {
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let parts = text.split(separator: " ").map(String.init)
        guard parts.count == 6, let month = months.firstIndex(of: parts[2]) else { return nil }
        return date("\(parts[3])-\(month < 9 ? "0" : "")\(month + 1)-\(parts[1])T\(parts[4]).000Z")
    }
}
