import Foundation
import Support
import Testing

/// A server with its dashboard, and a browser that reaches the dashboard as `http://localhost`.
final class DashboardStage: Sendable {
    let installation: Installation
    let server: AfterlinkProcess
    let browser: Chromium
    /// The address and port of the dashboard, as the server printed them at its start.
    let address: String

    /// Starts the server; `prepare` runs before, and returns further arguments of `afterlink serve`.
    init(_ prepare: (Installation) throws -> [String] = { _ in [] }) throws {
        let installation = try Installation()
        self.installation = installation
        server = try AfterlinkProcess(
            installation,
            try prepare(installation),
            environment: ["AFTERLINK_DASHBOARD_LISTEN": "127.0.0.1:0"]
        )
        let start = "dashboard at http://"
        // The server logs the dashboard's address later than the address that its starter waits for.
        _ = Polling.until { installation.log.contains(start) }
        let line = installation.log.split(separator: "\n").first { $0.contains(start) } ?? ""
        let named = line.firstRange(of: start).map { line[$0.upperBound...].prefix { $0 != "\"" } } ?? ""
        address = String(named)
        guard let port = named.split(separator: ":").last.flatMap({ UInt16($0) }) else {
            throw ChildProcess.Failure(description: "the start names no dashboard: \(installation.log)")
        }
        browser = try Chromium(hosts: ["localhost"], port: port)
    }

    deinit {
        browser.close()
        server.kill()
    }

    /// Sends a click and two first launches, of which the second one finds no click.
    func makeTraffic() throws {
        let connection = try server.connect()
        let hex = String(repeating: "ab", count: 32)
        let body = #"{"fingerprint":"\#(hex)","deeplink_url":"myapp://promo/item","campaign_key":"SUMMER25"}"#
        let json = ["Content-Type": "application/json"]
        let click = try connection.call("POST", "/v1/deferred-deeplink/click", fields: json, body: body)
        #expect(click.status == 201)
        for fingerprint in [hex, String(repeating: "cd", count: 32)] {
            let fields = ["Authorization": "Bearer \(installation.keys.app)"]
            let path = "/v1/deferred-deeplink?fingerprint=\(fingerprint)"
            #expect(try connection.call("GET", path, fields: fields).status == 200)
        }
    }

    /// Makes a one-time link, as the operator does; returns its path.
    func signInPath() throws -> String {
        let output = try installation.run(["dashboard", "--dashboard-listen", address])
        let url = output.text.trimmingCharacters(in: .whitespacesAndNewlines)
        let start = "http://\(address)"
        guard output.status == 0, url.hasPrefix(start + "/enter/") else {
            throw ChildProcess.Failure(description: "\(url) \(output.errors)")
        }
        return String(url.dropFirst(start.count))
    }

    func tab(runsScript: Bool = true) throws -> BrowserTab {
        var visitor = BrowserVisitor(
            agent:
                "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Safari/537.36",
            screen: (1440, 900),
            pixelRatio: 1,
            touchPoints: 0,
            isMobile: false,
            languages: ["en-GB"],
            timezone: "Europe/Istanbul"
        )
        visitor.runsScript = runsScript
        return try BrowserTab(in: browser, as: visitor)
    }
}

extension BrowserTab {
    /// Presses a key; if `opens` is true, waits until the page that the key opens is loaded.
    func press(_ key: String, opens: Bool = false) throws {
        let former = events().last?.number ?? 0
        let codes = ["Enter": 13, "Tab": 9, "Escape": 27, "ArrowDown": 40]
        var stroke: [String: Any] = ["key": key, "code": key]
        if let code = codes[key] {
            stroke["windowsVirtualKeyCode"] = code
            if key == "Enter" { stroke["text"] = "\r" }
        } else {
            stroke["text"] = key
        }
        try call("Input.dispatchKeyEvent", stroke.merging(["type": "keyDown"]) { $1 })
        stroke["text"] = nil
        try call("Input.dispatchKeyEvent", stroke.merging(["type": "keyUp"]) { $1 })
        if opens { _ = try event("Page.domContentEventFired") { $0.number > former } }
    }

    /// Presses Tab until the focused element has this text, as a person without a mouse does.
    func focus(_ text: String) throws {
        try focus(text, by: "(document.activeElement.textContent || '').trim()")
    }

    /// Presses Tab until the field with this name has the focus.
    func focus(field name: String) throws { try focus(name, by: "document.activeElement.name") }

    private func focus(_ meant: String, by property: String) throws {
        for _ in 0..<90 {
            if try value(of: property) == meant { return }
            try press("Tab")
        }
        throw Chromium.Failure(description: "Tab does not reach \(meant)")
    }

    /// Moves to a field of a form with Tab, which selects its text, and types another text.
    func fill(_ name: String, _ text: String) throws {
        try focus(field: name)
        try call("Input.insertText", ["text": text])
    }

    /// Opens a page of the navigation by its keys or, without script, with Tab.
    func openPage(_ title: String, key: String) throws {
        if runsScript {
            try press("g")
            try press(key, opens: true)
        } else {
            try focus(title)
            try press("Enter", opens: true)
        }
    }

    /// Waits until an expression has a value on the live page, which changes by itself; without script, reloads it.
    func awaitLive(_ meant: String, of expression: String) throws -> Bool {
        try Polling.until {
            if try value(of: expression) == meant { return true }
            if !runsScript {
                try focus("Reload")
                try press("Enter", opens: true)
            }
            return false
        }
    }

    var heading: String {
        get throws { try value(of: "document.querySelector('h1').textContent") }
    }
}

@Suite("The dashboard in a browser", .blocking, .inBrowser)
struct DashboardJourneys {
    @Test(
        "the keyboard alone leads from a one-time link to the reason for a launch without a match",
        arguments: [true, false]
    )
    func reason(runsScript: Bool) throws {
        let stage = try DashboardStage()
        try stage.makeTraffic()
        let tab = try stage.signedIn(runsScript: runsScript)
        #expect(try tab.heading == "Overview")
        let figures = "[...document.querySelectorAll('.figure')].slice(0, 4).map(e => e.textContent).join()"
        #expect(try tab.value(of: figures) == "1,2,1,50 %")
        try tab.openPage("Launches", key: "l")
        #expect(try tab.heading == "Launches")
        let first = "document.querySelector('tbody a').textContent"
        if runsScript { try tab.press("j") } else { try tab.focus(try tab.value(of: first)) }
        try tab.press("Enter", opens: true)
        #expect(try tab.heading.hasPrefix("No match: no click"))
        #expect(try tab.value(of: "document.querySelector('.answer').textContent").contains("No click has"))
        #expect(tab.complaints.isEmpty, "\(tab.complaints)")
    }

    @Test(
        "a click and a launch appear on the live page by themselves; without script, after a reload",
        arguments: [true, false]
    )
    func live(runsScript: Bool) throws {
        let stage = try DashboardStage()
        let tab = try stage.signedIn(runsScript: runsScript)
        try tab.open("http://localhost/live?period=7d")
        let rows =
            "[...document.querySelectorAll('#live tbody tr')].map(e => e.children[1].textContent).sort().join()"
        #expect(try tab.value(of: rows) == "")
        let note = "document.getElementById('live-note').textContent"
        #expect(try tab.value(of: note).contains("Without script, reload"))
        try stage.makeTraffic()
        #expect(try tab.awaitLive("Click,Match,No match: no click", of: rows))
        let queries =
            "[...document.querySelectorAll('#live tbody a')].map(e => e.getAttribute('href').split('?')[1]).join()"
        #expect(try tab.value(of: queries) == "period=7d,period=7d,period=7d")
        let columns =
            "[...document.querySelectorAll('#live-chart .chart > rect')].filter(e => +e.getAttribute('height')).length"
        #expect(try tab.value(of: columns) >= "3")
        let sum =
            "[...document.querySelectorAll('#live-chart td')].reduce((sum, e) => sum + +e.textContent, 0)"
        #expect(try tab.value(of: sum) == "4")
        let scale = "[...document.querySelectorAll('#live-chart .scale span')].map(e => e.textContent).join()"
        #expect(try ["2,1,0", "1,0"].contains(tab.value(of: scale)))
        let titles = "[...document.querySelectorAll('#live-chart g > title')].map(e => e.textContent).join()"
        #expect(try tab.value(of: titles).contains("Matches 1"))
        #expect(tab.complaints.isEmpty, "\(tab.complaints)")
    }

    @Test("pages fit every width in light and dark, also with long words, and no part needs another site")
    func widths() throws {
        let stage = try DashboardStage()
        try stage.makeTraffic()
        let tab = try stage.signedIn()
        for page in [
            "/", "/launches", "/live", "/links", "/campaigns", "/campaigns/one?campaign=SUMMER25",
            "/events", "/postbacks", "/matching", "/apple", "/domains", "/system", "/settings",
            "/settings/audit", "/settings/held", "/try", "/sign-in",
        ] {
            try tab.checkWidths(of: page)
        }
        let foreign = tab.events("Network.requestWillBeSent").compactMap { $0.string("request", "url") }
            .filter { !$0.hasPrefix("http://localhost/") && !$0.hasPrefix("data:") }
        #expect(foreign.isEmpty && tab.complaints.isEmpty, "\(foreign) \(tab.complaints)")
    }
}

extension BrowserTab {
    /// Opens a page of the dashboard, and checks that no width makes a person scroll sideways.
    ///
    /// If AFTERLINK_SCREENSHOTS names a folder, it gets a picture of every look.
    func checkWidths(of page: String) throws {
        try open("http://localhost\(page)")
        let surplus = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        let wide = """
            [...document.querySelectorAll('main *, header *')].filter(e => !e.closest('.scroll')
            && e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 80)).join()
            """
        for theme in ["dark", "light"] {
            try setTheme(theme)
            for width in [320, 390, 1440, 2560] {
                try resize(to: width)
                let widest = try value(of: wide)
                #expect(try value(of: surplus) == "0", "\(page) at \(width), \(theme): \(widest)")
                try photograph("\(page)-\(width)-\(theme)")
            }
        }
        // The button to sign out is beside the navigation, and not below it; the page before a session has no button.
        try resize(to: 1280)
        let place = """
            (([nav, button]) => !button || button.top < nav.bottom && button.height < 50 ? 'beside' : 'below')(
            [...document.querySelectorAll('nav, header button')].map(e => e.getBoundingClientRect()))
            """
        #expect(try value(of: place) == "beside", "\(page)")
        // Identifiers and addresses can be longer than those of this installation.
        try value(of: "document.querySelectorAll('main p').forEach(e => e.append(' ' + 'W'.repeat(60)))")
        try resize(to: 320)
        #expect(try value(of: surplus) == "0", "\(page) with long words")
    }

    private func resize(to width: Int, height: Int = 900) throws {
        let size: [String: Any] = ["width": width, "height": height, "deviceScaleFactor": 1, "mobile": false]
        try call("Emulation.setDeviceMetricsOverride", size)
    }

    private func setTheme(_ theme: String) throws {
        let feature = ["name": "prefers-color-scheme", "value": theme]
        try call("Emulation.setEmulatedMedia", ["features": [feature]])
    }

    /// Saves a picture of the whole page.
    private func photograph(_ name: String) throws {
        guard let folder = ProcessInfo.processInfo.environment["AFTERLINK_SCREENSHOTS"] else { return }
        let width = Int(try value(of: "innerWidth")) ?? 1440
        try resize(to: width, height: Int(try value(of: "document.documentElement.scrollHeight")) ?? 900)
        let words = name.split { !$0.isLetter && !$0.isNumber }.joined(separator: "-")
        try Data(screenshot()).write(to: URL(filePath: folder).appending(path: "\(words).png"))
    }
}
