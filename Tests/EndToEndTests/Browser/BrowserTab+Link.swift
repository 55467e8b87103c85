import Foundation

/// What a page of a link does, as the browser tells it.
extension BrowserTab {
    /// The click that a page has told, once it is answered.
    struct ToldClick {
        /// The request with its body.
        let request: DevToolsMessage
        let body: [String: Any]
        let status: Int
        let answer: [String: Any]

        var token: String? { answer["token"] as? String }
    }

    private static let path = "/v1/deferred-deeplink/click"

    /// Whether a message is of the request that tells the click.
    private static func isClick(_ message: DevToolsMessage) -> Bool { message.url?.hasSuffix(path) == true }

    /// The request that tells the click, answered or not.
    func clickRequest() throws -> DevToolsMessage {
        try event("Network.requestWillBeSent") {
            Self.isClick($0) && $0.string("request", "method") == "POST"
        }
    }

    /// Waits until the page has told its click and was answered.
    func click() throws -> ToldClick {
        let request = try clickRequest()
        let id = request.string("requestId")
        let response = try event("Network.responseReceived") { $0.string("requestId") == id }
        _ = try event("Network.loadingFinished") { $0.string("requestId") == id }
        let body = try call("Network.getResponseBody", ["requestId": id ?? ""]).string("body") ?? ""
        return ToldClick(
            request: request,
            body: Self.members(of: request.string("request", "postData") ?? ""),
            status: response.value("response", "status") as? Int ?? 0,
            answer: Self.members(of: body)
        )
    }

    private static func members(of text: String) -> [String: Any] {
        (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [String: Any] ?? [:]
    }

    /// How many clicks the page has told so far.
    var clickCount: Int {
        events("Network.requestWillBeSent").count {
            Self.isClick($0) && $0.string("request", "method") == "POST"
        }
    }

    /// The first address that begins so and to which the page leads: by itself, by a tap, or by way of the server.
    func leaving(to beginning: String) throws -> DevToolsMessage {
        // An address of another app is seen when it is asked for alone, one that the server leads to when it is fetched.
        try event(where: { message in
            ["Page.frameRequestedNavigation", "Fetch.requestPaused"].contains(message.name)
                && message.url?.hasPrefix(beginning) == true
        })
    }

    /// Where the page has led so far.
    var destinations: [String] { events("Page.frameRequestedNavigation").compactMap(\.url) }

    /// Waits as long as the page waits for the answer to its click: what it does by itself, it has done.
    func outwait() throws {
        // Of two timers of one length the later one ends later.
        try value(of: "afterlink.within(300, new Promise(function () {}), '')")
    }

    /// The ids of the buttons that are seen, from the top.
    func buttons() throws -> String {
        try value(
            of: """
                [...document.querySelectorAll('a.button, button')].filter(one => one.checkVisibility())
                .sort((a, b) => a.getBoundingClientRect().y - b.getBoundingClientRect().y).map(one => one.id).join()
                """
        )
    }

    /// What the browser has to complain about: errors of scripts, and what the page's policy has kept from it.
    ///
    /// Not what it does not launch: on a phone the system would have.
    var complaints: [String] {
        events("Runtime.exceptionThrown").compactMap {
            $0.string("exceptionDetails", "exception", "description")
        }
            + events("Log.entryAdded").filter { $0.string("entry", "source") != "network" }
            .compactMap { $0.string("entry", "text") }.filter { !$0.hasPrefix("Not allowed to launch") }
    }

    /// The hosts that were asked for anything.
    var askedHosts: Set<String> {
        Set(
            events("Network.requestWillBeSent").compactMap { $0.url.flatMap { URL(string: $0) } }
                .filter { $0.scheme == "https" || $0.scheme == "http" }.compactMap { $0.host() }
        )
    }
}
