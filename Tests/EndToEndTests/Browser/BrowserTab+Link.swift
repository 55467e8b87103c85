import Foundation

/// The actions of a link's page, as the browser reports them.
extension BrowserTab {
<<<<<<< HEAD
    /// The click that a page has posted, with its response.
    struct ToldClick {
=======
    /// A click that a page has sent, with its response.
    struct SentClick {
>>>>>>> tests
        /// The request with its body.
        let request: DevToolsMessage
        let body: [String: Any]
        let status: Int
        let answer: [String: Any]

        var token: String? { answer["token"] as? String }
    }

    private static let path = "/v1/deferred-deeplink/click"

<<<<<<< HEAD
    /// Whether a message belongs to the request that posts the click.
    private static func isClick(_ message: DevToolsMessage) -> Bool { message.url?.hasSuffix(path) == true }

    /// The request that posts the click, with or without a response.
=======
    /// Whether a message belongs to the request that sends the click.
    private static func isClick(_ message: DevToolsMessage) -> Bool { message.url?.hasSuffix(path) == true }

    /// The request that sends the click, with or without a response.
>>>>>>> tests
    func clickRequest() throws -> DevToolsMessage {
        try event("Network.requestWillBeSent") {
            Self.isClick($0) && $0.string("request", "method") == "POST"
        }
    }

<<<<<<< HEAD
    /// Waits until the page has posted its click and has the response.
    func click() throws -> ToldClick {
=======
    /// Waits until the page has sent its click and got a response.
    func click() throws -> SentClick {
>>>>>>> tests
        let request = try clickRequest()
        let id = request.string("requestId")
        let response = try event("Network.responseReceived") { $0.string("requestId") == id }
        _ = try event("Network.loadingFinished") { $0.string("requestId") == id }
        let body = try call("Network.getResponseBody", ["requestId": id ?? ""]).string("body") ?? ""
        return SentClick(
            request: request,
            body: Self.members(of: request.string("request", "postData") ?? ""),
            status: response.value("response", "status") as? Int ?? 0,
            answer: Self.members(of: body)
        )
    }

    private static func members(of text: String) -> [String: Any] {
        (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [String: Any] ?? [:]
    }

<<<<<<< HEAD
    /// The number of clicks that the page has posted so far.
=======
    /// The number of clicks that the page has sent so far.
>>>>>>> tests
    var clickCount: Int {
        events("Network.requestWillBeSent").count {
            Self.isClick($0) && $0.string("request", "method") == "POST"
        }
    }

<<<<<<< HEAD
    /// Waits for the first address with this prefix that the page opens: by itself, by a tap, or by a redirect.
    func leaving(to beginning: String) throws -> DevToolsMessage {
        // The browser reports an app's address when the page requests it, and a redirect's address when it fetches that.
=======
    /// Returns the first address with this prefix to which the page leads: by itself, by a tap, or through the server.
    func leaving(to beginning: String) throws -> DevToolsMessage {
        // Another app's address appears as a requested navigation; the target of a redirect appears when it is fetched.
>>>>>>> tests
        try event(where: { message in
            ["Page.frameRequestedNavigation", "Fetch.requestPaused"].contains(message.name)
                && message.url?.hasPrefix(beginning) == true
        })
    }

<<<<<<< HEAD
    /// The addresses that the page has opened so far.
    var destinations: [String] { events("Page.frameRequestedNavigation").compactMap(\.url) }

    /// Waits as long as the page waits for the response to its click, so that its automatic actions are done.
    func outwait() throws {
        // Of two timers with one length, the later one ends later.
=======
    /// The addresses to which the page has led so far.
    var destinations: [String] { events("Page.frameRequestedNavigation").compactMap(\.url) }

    /// Waits as long as the page waits for the response to its click, and so for all its actions without a tap.
    func outwait() throws {
        // Of two timers with the same length, the one that started later ends later.
>>>>>>> tests
        try value(of: "afterlink.within(300, new Promise(function () {}), '')")
    }

    /// The ids of the visible buttons, from the top.
    func buttons() throws -> String {
        try value(
            of: """
                [...document.querySelectorAll('a.button, button')].filter(one => one.checkVisibility())
                .sort((a, b) => a.getBoundingClientRect().y - b.getBoundingClientRect().y).map(one => one.id).join()
                """
        )
    }

<<<<<<< HEAD
    /// The browser's reports: errors of scripts, and requests that the page's policy blocked.
    ///
    /// Apps that it did not launch are not among them: on a phone the system would have launched them.
=======
    /// The browser's complaints: errors of scripts, and requests that the page's policy blocked.
    ///
    /// Apps that it does not launch are left out, because a phone would launch them.
>>>>>>> tests
    var complaints: [String] {
        events("Runtime.exceptionThrown").compactMap {
            $0.string("exceptionDetails", "exception", "description")
        }
            + events("Log.entryAdded").filter { $0.string("entry", "source") != "network" }
            .compactMap { $0.string("entry", "text") }.filter { !$0.hasPrefix("Not allowed to launch") }
    }

    /// The hosts of all requests.
    var askedHosts: Set<String> {
        Set(
            events("Network.requestWillBeSent").compactMap { $0.url.flatMap { URL(string: $0) } }
                .filter { $0.scheme == "https" || $0.scheme == "http" }.compactMap { $0.host() }
        )
    }
}
