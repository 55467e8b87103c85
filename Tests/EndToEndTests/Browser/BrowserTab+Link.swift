import Foundation

/// The actions of a link's page, as the browser reports them.
extension BrowserTab {
    /// The click that a page has posted, with its body as JSON and its response.
    struct ToldClick {
        /// The request that posted the click.
        let request: DevToolsMessage
        let body: [String: Any]
        let status: Int
        let answer: [String: Any]

        var token: String? { answer["token"] as? String }
    }

    private static let path = "/v1/deferred-deeplink/click"

    /// Whether a message belongs to the request that posts the click.
    private static func isClick(_ message: DevToolsMessage) -> Bool { message.url?.hasSuffix(path) == true }

    /// The request that posts the click, with or without a response.
    func clickRequest() throws -> DevToolsMessage {
        try event("Network.requestWillBeSent") {
            Self.isClick($0) && $0.string("request", "method") == "POST"
        }
    }

    /// Waits until the page has posted its click and has the response.
    ///
    /// A page that continues before it has read the response ends the request: then the answer has no members.
    func click() throws -> ToldClick {
        let request = try clickRequest()
        let id = request.string("requestId")
        let response = try event("Network.responseReceived") { $0.string("requestId") == id }
        let end = try event {
            ["Network.loadingFinished", "Network.loadingFailed"].contains($0.name)
                && $0.string("requestId") == id
        }
        var body = ""
        if end.name == "Network.loadingFinished" {
            body = try call("Network.getResponseBody", ["requestId": id ?? ""]).string("body") ?? ""
        }
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

    /// The number of clicks that the page has posted so far.
    var clickCount: Int {
        events("Network.requestWillBeSent").count {
            Self.isClick($0) && $0.string("request", "method") == "POST"
        }
    }

    /// Waits for the first URL with this prefix that the page opens: by itself, by a tap, or by a redirect.
    func leaving(to beginning: String) throws -> DevToolsMessage {
        // The browser reports an app's URL when the page requests it, and a redirect's URL when the browser follows it.
        try event(where: { message in
            ["Page.frameRequestedNavigation", "Fetch.requestPaused"].contains(message.name)
                && message.url?.hasPrefix(beginning) == true
        })
    }

    /// The URLs that the page has opened so far.
    var destinations: [String] { events("Page.frameRequestedNavigation").compactMap(\.url) }

    /// Waits as long as the page waits for the response to its click, so that the page's automatic actions are done.
    func outwait() throws {
        // Of two timers with the same length, the one that was set later fires later.
        try value(of: "afterlink.within(300, new Promise(function () {}), '')")
    }

    /// Waits until a page with endless timers has ended them, so that its automatic actions are done.
    func awaitEndlessTimers() throws {
        try value(of: "timersEnd()")
        // The actions follow the end of the timers in the same turn of the page, and this script runs in a later one.
        try value(of: "''")
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

    /// The browser's reports: errors of scripts, and requests that the page's policy blocked.
    ///
    /// Reports of apps that could not be launched are left out: on a phone, the system would have launched the app.
    var complaints: [String] {
        events("Runtime.exceptionThrown").compactMap {
            $0.string("exceptionDetails", "exception", "description")
        }
            + events("Log.entryAdded").filter { $0.string("entry", "source") != "network" }
            .compactMap { $0.string("entry", "text") }.filter { !$0.hasPrefix("Not allowed to launch") }
    }

    /// The hosts of all requests.
    var askedHosts: Set<String> {
        let urls: [URL] = events("Network.requestWillBeSent").compactMap { event in
            event.url.flatMap { URL(string: $0) }
        }
        return Set(urls.filter { $0.scheme == "https" || $0.scheme == "http" }.compactMap { $0.host() })
    }
}
