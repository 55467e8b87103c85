import Foundation
import Support
import Testing

/// Journeys of a marketer, an operator and an app developer, and checks of every page by what the browser makes of it.
///
/// Journeys run with script and without. The tests of keys, and of choices that are sent at once, need the script.
@Suite("The dashboard's pages in a browser", .blocking, .inBrowser)
struct DashboardPageJourneys {
    @Test(
        "two weeks are compared, and the exported file has the numbers of the page's table",
        arguments: [true, false]
    )
    func export(runsScript: Bool) throws {
        let stage = try DashboardStage { _ in ["--unsafe-test-clock"] }
        let connection = try stage.server.connect()
        // Yesterday, and the same weekday of the week before.
        for (days, clicks) in [(8, 2), (1, 3)] {
            let time = Date.now.addingTimeInterval(-86_400 * Double(days)).ISO8601Format()
            for number in 1...clicks {
                let fingerprint = String(format: "%064x", days * 100 + number)
                let fields = ["Content-Type": "application/json", "X-Test-Time": time]
                let body = try HTTPTestClient.click(fingerprint, ["campaign_key": "SUMMER25"])
                let path = HTTPTestClient.prefix
                #expect(
                    try connection.call("POST", "\(path)/click", fields: fields, body: body).status == 201
                )
                let launch = ["Authorization": "Bearer \(stage.installation.keys.app)", "X-Test-Time": time]
                let check = try connection.call("GET", "\(path)?fingerprint=\(fingerprint)", fields: launch)
                #expect(check.status == 200)
            }
        }
        let tab = try stage.signedIn(runsScript: runsScript)
        try tab.open("http://localhost/?period=day")
        if runsScript {
            try tab.press("w", opens: true)
        } else {
            try tab.focus(field: "period")
            for _ in 1...2 { try tab.press("ArrowDown") }
            try tab.focus("Show")
            try tab.press("Enter", opens: true)
        }
        #expect(try tab.value(of: "document.querySelector('[name=period]').value") == "7d")
        let changes = "[...document.querySelectorAll('.change')].slice(0, 3).map(e => e.textContent).join()"
        #expect(try tab.value(of: changes) == "+50 %,+50 %,+50 %")
        let cells = """
            [...document.querySelector('figure table tbody').rows].map(row => [...row.cells].slice(0, 4)
            .map(cell => cell.textContent.replace('–', '')).join()).join('\\n')
            """
        let shown = try tab.value(of: cells).split(separator: "\n").map(String.init)
        #expect(shown.count == 7 || shown.count == 8)
        #expect(shown.contains { $0.hasSuffix(",3,3,3") } && !shown.contains { $0.hasSuffix(",2,2,2") })

        let folder = try TemporaryFolder()
        try tab.saveDownloads(in: folder.path)
        let link = "a[href*=\"csv\"][href*=\"panel=series\"]"
        try tab.tap(first: "details:has(\(link)) summary")
        try tab.tap(first: link)
        let file = folder.file("afterlink-overview-series.csv")
        #expect(Polling.until { FileManager.default.fileExists(atPath: file) })
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(whereSeparator: \.isNewline)
        #expect(lines.first?.hasPrefix("start,clicks,launches,matches,") == true)
        let saved = lines.dropFirst().map {
            $0.split(separator: ",", omittingEmptySubsequences: false).prefix(4).joined(separator: ",")
        }
        #expect(saved == shown)
        #expect(tab.complaints.isEmpty, "\(tab.complaints)")
    }

    @Test("keys change the period and the comparison, open the help and the live page, and clear filters")
    func letters() throws {
        let stage = try DashboardStage()
        try stage.makeTraffic()
        let tab = try stage.signedIn()
        try tab.press("d", opens: true)
        #expect(try tab.value(of: "location.search") == "?period=day")
        try tab.press("x", opens: true)
        #expect(try tab.value(of: "location.search") == "?period=day&compare=off")
        #expect(try tab.value(of: "document.querySelectorAll('.change').length") == "0")
        try tab.press("?")
        #expect(try tab.value(of: "document.getElementById('keys').open") == "1")
        try tab.open("http://localhost/launches?outcome=match&period=7d&compare=off")
        try tab.press("t", opens: true)
        #expect(try tab.value(of: "location.search") == "?outcome=match&period=30d&compare=off")
        try tab.press("s", opens: true)
        #expect(try tab.value(of: "location.search") == "?outcome=match&period=6mo&compare=off")
        try tab.press("/")
        try tab.value(of: "document.activeElement.value = 'x'")
        try tab.press("Escape")
        #expect(try tab.value(of: "document.getElementById('find').value + document.activeElement.id") == "")
        try tab.press("Escape", opens: true)
        #expect(try tab.value(of: "location.search") == "?period=6mo&compare=off")
        // A row with two links is one row.
        let further = "document.querySelector('tbody td').append(document.createElement('a'))"
        try tab.value(of: "\(further), document.querySelector('tbody td a').href = '/'")
        let row =
            "[...document.querySelectorAll('tbody tr')].indexOf(document.activeElement.closest('tr'))"
        for (key, index) in [("j", "0"), ("j", "1"), ("k", "0"), ("k", "1")] {
            try tab.press(key)
            #expect(try tab.value(of: row) == index)
        }
        try tab.press("r", opens: true)
        #expect(try tab.heading == "Live")
        #expect(tab.complaints.isEmpty, "\(tab.complaints)")
    }

    @Test("a choice sends the form of filters at once, and no form that changes something")
    func choices() throws {
        let stage = try DashboardStage()
        let tab = try stage.signedIn()
        func sent(_ page: String, choosing value: String, of name: String) throws -> String {
            try tab.open("http://localhost\(page)")
            return try tab.value(
                of: """
                    (() => {
                      let sent = 0;
                      addEventListener("submit", (event) => { event.preventDefault(); sent += 1; });
                      const field = document.querySelector("[name=\(name)]");
                      field.value = "\(value)";
                      field.dispatchEvent(new Event("change", { bubbles: true }));
                      return sent;
                    })()
                    """
            )
        }
        #expect(try sent("/", choosing: "30d", of: "period") == "1")
        #expect(try sent("/settings", choosing: "admin", of: "kind") == "0")
        #expect(try sent("/settings/audit", choosing: "2027-01-31", of: "since") == "0")
        #expect(tab.complaints.isEmpty, "\(tab.complaints)")
    }

    @Test(
        "after the session's key was revoked, the open page says so, and every next step ends at the sign-in form",
        arguments: [true, false]
    )
    func revocation(runsScript: Bool) throws {
        let stage = try DashboardStage()
        let made = try stage.installation.run(["keys", "create", "--kind", "admin", "--json"])
        let document = try JSONSerialization.jsonObject(with: Data(made.text.utf8)) as? [String: Any]
        let key = try #require(document?["key"] as? [String: Any])
        let (id, text) = (try #require(key["id"] as? String), try #require(key["text"] as? String))
        let connection = try stage.server.connect()
        let fields = ["Authorization": "Bearer \(text)"]
        #expect(
            try Polling.until {
                try connection.call("GET", "/admin/api/apps", fields: fields).status == 200
            }
        )
        let (live, other) = (try stage.tab(runsScript: runsScript), try stage.tab(runsScript: runsScript))
        for tab in [live, other] {
            try tab.open("http://localhost/sign-in")
            // The browser gives the field the focus when it draws the page, which may be after the load.
            #expect(try Polling.until { try tab.value(of: "document.activeElement.name") == "key" })
            try tab.fill("key", text)
            try tab.press("Enter", opens: true)
            #expect(try tab.heading == "Overview")
        }
        try live.open("http://localhost/live?test=true")
        let isEnded = "document.getElementById('live-ended').checkVisibility()"
        #expect(try live.value(of: isEnded) == "0")
        #expect(try stage.installation.run(["keys", "revoke", id]).status == 0)
        if runsScript {
            #expect(try live.awaitLive("1", of: isEnded))
            #expect(try live.value(of: "document.getElementById('live-note').checkVisibility()") == "0")
            try live.loading { try live.tap(first: "#live-ended a") }
        } else {
            // Without script, no page can change by itself: the reload is the next step.
            #expect(try live.awaitLive("Sign in", of: "document.querySelector('h1').textContent"))
        }
        #expect(try live.heading == "Sign in")
        #expect(try live.value(of: "document.querySelector('[name=next]').value") == "/live?test=true")
        try other.openPage("Launches", key: "l")
        #expect(try other.heading == "Sign in")
        #expect(live.complaints.isEmpty && other.complaints.isEmpty, "\(live.complaints)")
    }

    @Test(
        "on a phone, two taps lead from the overview to the reason for a launch without a match",
        arguments: [true, false]
    )
    func phone(runsScript: Bool) throws {
        let stage = try DashboardStage()
        try stage.makeTraffic()
        let tab = try stage.signedIn(phone: true, runsScript: runsScript)
        #expect(try tab.heading == "Overview")
        try tab.loading { try tab.tap(first: "nav a[href^=\"/launches\"]") }
        try tab.loading { try tab.tap(first: "tbody a") }
        #expect(try tab.heading.hasPrefix("No match: no click"))
        let isOnScreen = "document.querySelector('.answer').getBoundingClientRect().bottom < innerHeight"
        #expect(try tab.value(of: isOnScreen) == "1")
        #expect(tab.complaints.isEmpty, "\(tab.complaints)")
    }

    @Test(
        "every page has its landmarks, names for all fields and charts, and nothing that forced colours hide"
    )
    func pages() throws {
        let stage = try DashboardStage()
        try stage.makeTraffic()
        let tab = try stage.signedIn()
        try tab.open("http://localhost/launches")
        let launch = try tab.value(of: "document.querySelector('tbody a').getAttribute('href')")
        let pages = [
            "/", "/live", "/launches", launch, "/links", "/links/new", "/campaigns",
            "/campaigns/one?campaign=SUMMER25", "/events", "/postbacks", "/matching", "/apple", "/domains",
            "/system", "/try", "/settings", "/settings/audit", "/settings/held", "/none", "/sign-in",
        ]
        for page in pages {
            try tab.open("http://localhost\(page)")
            let problems = try AccessibilityTree(of: tab).problems(needsNavigation: page != "/sign-in")
            #expect(problems.isEmpty, "\(page): \(problems)")
            // A drawing whose children can have the focus is a group, because an `img` hides its children.
            let wrong = """
                [...document.querySelectorAll("svg:not([aria-hidden]), [role=img]")].filter((drawing) =>
                  drawing.getAttribute("role") !== (drawing.querySelector("[tabindex]") ? "group" : "img")
                    || !drawing.querySelector(":scope > title")).length
                """
            #expect(try tab.value(of: wrong) == "0", "\(page) has drawings without their role or title")
        }
        for scheme in ["light", "dark"] {
            let features = [
                ("forced-colors", "active"), ("prefers-color-scheme", scheme),
                ("prefers-reduced-motion", "reduce"),
            ].map { ["name": $0, "value": $1] }
            try tab.call("Emulation.setEmulatedMedia", ["features": features])
            var drawn = 0
            for page in ["/", "/live", "/matching", "/campaigns/one?campaign=SUMMER25"] {
                try tab.open("http://localhost\(page)")
                try tab.press("Tab")
                let found = try tab.value(of: Self.faint).split(separator: "|", maxSplits: 1)
                drawn += Int(found[0]) ?? 0
                #expect(found.count == 1, "\(page) in forced colours, \(scheme): \(found.last ?? "")")
            }
            #expect(drawn > 20)
        }
        try tab.open("http://localhost/system")
        let memory =
            "[...document.querySelectorAll('tbody tr')].find(e => e.textContent.startsWith('Memory')).cells[1].textContent"
        #expect(try tab.value(of: memory).hasSuffix(" MB"))
        #expect(tab.complaints.isEmpty, "\(tab.complaints)")
    }

    /// A script that counts the drawn parts of charts.
    ///
    /// After a `|`, its result lists parts with too little contrast to the page, and other problems.
    private static let faint = """
        (() => {
          const rgb = text => (text.match(/[\\d.]+/g) || []).slice(0, 3).map(Number);
          const light = text => rgb(text).map(v => v / 255)
            .map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
            .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
          const paper = light(getComputedStyle(document.body).backgroundColor);
          const contrast = text => {
            const one = light(text);
            return (Math.max(one, paper) + .05) / (Math.min(one, paper) + .05);
          };
          let count = 0;
          const problems = [];
          for (const [selector, property] of [[".l", "stroke"], ["rect[class^=c]", "fill"], [".bar rect", "fill"]]) {
            for (const part of document.querySelectorAll(selector)) {
              count += 1;
              const value = getComputedStyle(part)[property];
              if (contrast(value) < 3) problems.push(`${part.getAttribute("class")} ${value}`);
            }
          }
          const focused = getComputedStyle(document.activeElement);
          if (focused.outlineStyle === "none" || contrast(focused.outlineColor) < 3) problems.push("focus");
          for (const part of document.querySelectorAll("*")) {
            const style = getComputedStyle(part);
            if (style.transitionDuration !== "0s" || style.animationName !== "none") problems.push("motion");
          }
          return count + (problems.length ? "|" + problems.slice(0, 5).join() : "");
        })()
        """
}

/// What a page gives to a screen reader.
private struct AccessibilityTree {
    private struct Node {
        let role: String
        let name: String
        let level: Int?
    }

    private let nodes: [Node]

    /// The roles of elements that a person must be able to distinguish by name.
    private static let named: Set = [
        "navigation", "search", "textbox", "searchbox", "combobox", "checkbox", "radio", "Date",
        "spinbutton", "button", "link", "img", "image", "table", "dialog",
    ]

    init(of tab: BrowserTab) throws {
        let answer = try tab.call("Accessibility.getFullAXTree")
        let all = answer.value("nodes") as? [[String: Any]] ?? []
        func text(_ node: [String: Any], _ name: String) -> String {
            ((node[name] as? [String: Any])?["value"]).map { "\($0)" } ?? ""
        }
        nodes = all.filter { $0["ignored"] as? Bool != true }.map { node in
            let properties = node["properties"] as? [[String: Any]] ?? []
            let level = properties.first { $0["name"] as? String == "level" }
            return Node(
                role: text(node, "role"),
                name: text(node, "name").trimmingCharacters(in: .whitespacesAndNewlines),
                level: level.flatMap { Int(text($0, "value")) }
            )
        }
    }

    func problems(needsNavigation: Bool) -> [String] {
        var problems = nodes.filter { Self.named.contains($0.role) && $0.name.isEmpty }
            .map { "\($0.role) without a name" }
        func count(_ role: String, level: Int? = nil) -> Int {
            nodes.count { $0.role == role && (level == nil || $0.level == level) }
        }
        for (found, what) in [(count("main"), "main"), (count("heading", level: 1), "h1")] where found != 1 {
            problems.append("\(found) times \(what)")
        }
        if count("navigation") != (needsNavigation ? 1 : 0) { problems.append("navigation") }
        return problems
    }
}

extension DashboardStage {
    /// A tab that has signed in by a one-time link.
    func signedIn(phone: Bool = false, runsScript: Bool = true) throws -> BrowserTab {
        let tab = try phone ? phoneTab(runsScript: runsScript) : tab(runsScript: runsScript)
        try tab.open("http://localhost" + signInPath())
        try tab.focus("Sign in")
        try tab.press("Enter", opens: true)
        return tab
    }

    private func phoneTab(runsScript: Bool) throws -> BrowserTab {
        var visitor = BrowserVisitor.android("Pixel 9", "15", (390, 844), 2, ["en-GB"], "Europe/Istanbul")
        visitor.agent =
            "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Mobile Safari/537.36"
        visitor.runsScript = runsScript
        return try BrowserTab(in: browser, as: visitor)
    }
}

extension BrowserTab {
    /// Runs `action`, and waits until the page that it opens is loaded.
    fileprivate func loading(_ action: () throws -> Void) throws {
        let former = events().last?.number ?? 0
        try action()
        _ = try event("Page.domContentEventFired") { $0.number > former }
    }
}
