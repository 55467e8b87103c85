import Foundation

/// A document of the DevTools Protocol: an event, or the reply to a command.
struct DevToolsMessage: Sendable {
    /// The name of an event, such as `Network.responseReceived`; empty for a reply.
    let name: String
    /// The session of the page that the message is about.
    let session: String?
    /// The message's position among all messages.
    let number: Int
    let id: Int?
    private let document: Data

    init(_ document: Data, number: Int) {
        self.document = document
        self.number = number
        let members = Self.members(of: document)
        name = members["method"] as? String ?? ""
        session = members["sessionId"] as? String
        id = members["id"] as? Int
    }

    private static func members(of document: Data) -> [String: Any] {
        (try? JSONSerialization.jsonObject(with: document)) as? [String: Any] ?? [:]
    }

    /// Returns the value at a path in `params`, or in `result` without `params`, or in the message without both.
    func value(_ path: String...) -> Any? { value(path) }

    /// Returns the text at a path of names; nil if there is no value, or one of another type.
    func string(_ path: String...) -> String? { value(path) as? String }

    private func value(_ path: [String]) -> Any? {
        let members = Self.members(of: document)
        var value: Any? = members["params"] ?? members["result"] ?? members
        for name in path { value = (value as? [String: Any])?[name] }
        return value
    }

    /// The URL of the request, the response or the page that the message is about; nil for other messages.
    var url: String? { string("request", "url") ?? string("response", "url") ?? string("url") }
}

/// The response of another host's page in a test.
enum OutsidePage: Sendable {
    /// The status 204: the page does not change, as if another app opened.
    case nothing
    case file(type: String, text: String)
    /// There is never a response.
    case silence
    /// The host cannot be reached.
    case unreachable

    /// Returns the command that responds to a request; nil for no response.
    func command(_ request: String) -> (method: String, parameters: [String: Any])? {
        switch self {
        case .nothing:
            return ("Fetch.fulfillRequest", ["requestId": request, "responseCode": 204])
        case .file(let type, let text):
            let parameters: [String: Any] = [
                "requestId": request, "responseCode": 200,
                "responseHeaders": [["name": "Content-Type", "value": type]],
                "body": Data(text.utf8).base64EncodedString(),
            ]
            return ("Fetch.fulfillRequest", parameters)
        case .silence: return nil
        case .unreachable:
            return ("Fetch.failRequest", ["requestId": request, "errorReason": "ConnectionRefused"])
        }
    }
}
