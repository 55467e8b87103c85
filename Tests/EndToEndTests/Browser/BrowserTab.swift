import Foundation
import Support

/// A page in its own browser context, without data of other visitors.
final class BrowserTab: Sendable {
    private let browser: Chromium
    private let context: String
    private let target: String
    private let session: String
    let runsScript: Bool

    init(in browser: Chromium, as visitor: BrowserVisitor) throws {
        (self.browser, runsScript) = (browser, visitor.runsScript)
        func made(_ name: String, _ method: String, _ parameters: [String: Any] = [:]) throws -> String {
            guard let id = try browser.call(method, parameters).string(name) else {
                throw Chromium.Failure(description: "\(method) gives no \(name)")
            }
            return id
        }
        context = try made("browserContextId", "Target.createBrowserContext")
        let blank = ["url": "about:blank", "browserContextId": context]
        target = try made("targetId", "Target.createTarget", blank)
        session = try made("sessionId", "Target.attachToTarget", ["targetId": target, "flatten": true])
        try dress(as: visitor)
    }

    deinit { close() }

    /// Makes the page appear as the visitor's device.
    private func dress(as visitor: BrowserVisitor) throws {
        for domain in ["Page", "Network", "Runtime", "Log"] { try call("\(domain).enable") }
        var agent: [String: Any] = [
            "userAgent": visitor.agent, "acceptLanguage": visitor.languages.joined(separator: ","),
        ]
        if let hints = visitor.hints {
            agent["userAgentMetadata"] = [
                "platform": hints.platform, "platformVersion": hints.platformVersion, "model": hints.model,
                "mobile": hints.isMobile, "architecture": "",
                "brands": [["brand": "Chromium", "version": "126"]],
            ]
        }
        try call("Emulation.setUserAgentOverride", agent)
        let (width, height) = visitor.screen
        let display: [String: Any] = [
            "width": width, "height": height, "screenWidth": width, "screenHeight": height,
            "deviceScaleFactor": visitor.pixelRatio, "mobile": visitor.isMobile,
        ]
        try call("Emulation.setDeviceMetricsOverride", display)
        if visitor.touchPoints > 0 {
            let touch: [String: Any] = ["enabled": true, "maxTouchPoints": visitor.touchPoints]
            try call("Emulation.setTouchEmulationEnabled", touch)
        }
        try call("Emulation.setTimezoneOverride", ["timezoneId": visitor.timezone])
        if let language = visitor.languages.first {
            try call("Emulation.setLocaleOverride", ["locale": language])
        }
        let scheme = ["name": "prefers-color-scheme", "value": visitor.isDark ? "dark" : "light"]
        try call("Emulation.setEmulatedMedia", ["features": [scheme]])
        try call("Network.setExtraHTTPHeaders", ["headers": visitor.fields])
        try call("Page.addScriptToEvaluateOnNewDocument", ["source": visitor.script])
        if !visitor.runsScript { try call("Emulation.setScriptExecutionDisabled", ["value": true]) }
        browser.answer(visitor.pages, in: session)
        let patterns = visitor.pages.keys.sorted().map { ["urlPattern": "\($0)*"] }
        try call("Fetch.enable", ["patterns": patterns])
    }

    @discardableResult
    func call(_ method: String, _ parameters: [String: Any] = [:]) throws -> DevToolsMessage {
        try browser.call(method, parameters, in: session)
    }

    /// Waits for the first event that fulfils a condition.
    func event(where isMeant: (DevToolsMessage) -> Bool) throws -> DevToolsMessage {
        try browser.event(of: session, where: isMeant)
    }

    /// Waits for the first event with a name that fulfils a condition.
    func event(_ name: String, where isMeant: (DevToolsMessage) -> Bool = { _ in true }) throws
        -> DevToolsMessage
    { try event { $0.name == name && isMeant($0) } }

    /// The events so far, of all names or of one.
    func events(_ name: String? = nil) -> [DevToolsMessage] {
        browser.events(of: session).filter { name == nil || $0.name == name }
    }

    /// Opens a URL, as a tap in another app does, and waits until the document is loaded and its scripts have run.
    func open(_ url: String) throws {
        let former = events().last?.number ?? 0
        let reply = try call("Page.navigate", ["url": url])
        if let problem = reply.string("errorText") {
            throw Chromium.Failure(description: "\(url): \(problem)")
        }
        _ = try event("Page.domContentEventFired") { $0.number > former }
    }

    /// Returns the result of a script in the page as text; if the result is a promise, waits for its value.
    @discardableResult
    func value(of script: String) throws -> String {
        let parameters: [String: Any] = ["expression": script, "returnByValue": true, "awaitPromise": true]
        let reply = try call("Runtime.evaluate", parameters)
        if let problem = reply.string("exceptionDetails", "exception", "description") {
            throw Chromium.Failure(description: "\(script): \(problem)")
        }
        return reply.value("result", "value").map { "\($0)" } ?? ""
    }

    /// Touches the middle of the element with this id, or clicks the element on a device without touch.
    func tap(_ id: String) throws { try tap(first: "#\(id)") }

    /// Touches or clicks the middle of the first element that a selector finds.
    func tap(first selector: String) throws {
        let place = try value(
            of: """
                (() => { const element = document.querySelector('\(selector)'); element.scrollIntoView({block: 'center'});
                const box = element.getBoundingClientRect();
                return box.x + box.width / 2 + ' ' + (box.y + box.height / 2); })()
                """
        ).split(separator: " ").compactMap { Double($0) }
        guard place.count == 2 else { throw Chromium.Failure(description: "\(selector) has no place") }
        guard try value(of: "navigator.maxTouchPoints") != "0" else {
            for type in ["mousePressed", "mouseReleased"] {
                let click: [String: Any] = [
                    "type": type, "x": place[0], "y": place[1], "button": "left", "clickCount": 1,
                ]
                try call("Input.dispatchMouseEvent", click)
            }
            return
        }
        let finger = ["x": place[0], "y": place[1]]
        try call("Input.dispatchTouchEvent", ["type": "touchStart", "touchPoints": [finger]])
        try call("Input.dispatchTouchEvent", ["type": "touchEnd", "touchPoints": [Any]()])
    }

    /// Returns a picture of the page, as PNG.
    func screenshot() throws -> [UInt8] {
        let text = try call("Page.captureScreenshot", ["format": "png"]).string("data") ?? ""
        return Data(base64Encoded: text).map { Array($0) } ?? []
    }

    /// Hides the page during `action`, and shows it again.
    func whileHidden(_ action: () throws -> Void) throws {
        let window = try browser.call("Browser.getWindowForTarget", ["targetId": target]).value("windowId")
        func show(as state: String) throws {
            let bounds: [String: Any] = ["windowId": window ?? 0, "bounds": ["windowState": state]]
            try browser.call("Browser.setWindowBounds", bounds)
            try waitUntil(isHidden: state == "minimized")
        }
        try show(as: "minimized")
        try action()
        try show(as: "normal")
    }

    /// Waits until the page is hidden or shown, and its earlier listeners for that change have run.
    private func waitUntil(isHidden: Bool) throws {
        try value(
            of: """
                new Promise(resolve => { const look = () => { if (document.hidden === \(isHidden)) resolve(''); };
                document.addEventListener('visibilitychange', look); look(); })
                """
        )
    }

    func grant(_ permissions: [String], to origin: String) throws {
        let grant: [String: Any] = [
            "permissions": permissions, "origin": origin, "browserContextId": context,
        ]
        try browser.call("Browser.grantPermissions", grant)
    }

    /// Saves the page's downloads in a folder.
    func saveDownloads(in folder: String) throws {
        let behavior: [String: Any] = [
            "behavior": "allow", "browserContextId": context, "downloadPath": folder,
        ]
        try browser.call("Browser.setDownloadBehavior", behavior)
    }

    func close() {
        _ = try? browser.call("Target.disposeBrowserContext", ["browserContextId": context])
        browser.forget(session)
    }
}
