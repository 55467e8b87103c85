/// A visitor's browser: its header fields, and the values that a page's script reads.
struct BrowserVisitor: Sendable {
    /// The client hints that Chrome gives on request, in header fields and to scripts (wicg.github.io/ua-client-hints).
    struct Hints: Sendable {
        let platform: String
        let platformVersion: String
        let model: String
        let isMobile: Bool
    }

    var agent: String
    /// Nil for browsers that are not based on Chromium.
    var hints: Hints?
    /// The screen's size in CSS pixels.
    var screen: (width: Int, height: Int)
    var pixelRatio: Double
    var touchPoints = 5
    var isMobile = true
    /// The value of `navigator.languages`.
    var languages: [String]
    /// The time zone as the browser's `Intl` prints it.
    var timezone: String
    var runsScript = true
    var isDark = false
    /// The header fields of every request.
    var fields: [String: String] = [:]
    /// A script that runs before the page's scripts, with this browser's differences from Chromium.
    var script = ""
    /// The responses of other servers, by the prefix of the URL.
    var pages: [String: OutsidePage] = Self.stores

    /// Makes a page wait for the response to its click without a limit, so that it gets the response on any machine.
    ///
    /// The page ends its timers once it need not wait any more; `timersEnd()` waits for that.
    static let endlessTimers = """
        (() => {
            const timers = new Set();
            let count = 0, end;
            window.setTimeout = () => { timers.add(++count); return count; };
            window.clearTimeout = timer => { timers.delete(timer); if (!timers.size && end) end(''); };
            window.timersEnd = () => new Promise(done => { if (timers.size) end = done; else done(''); });
        })();
        """

    /// Stores open in another app: the browser's page does not change.
    static let stores: [String: OutsidePage] = [
        "https://apps.apple.com/": .nothing, "https://play.google.com/": .nothing,
        "https://shop.example/icon.svg": .file(type: "image/svg+xml", text: icon),
    ]

    private static let icon =
        ##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 96 96"><rect width="96" height="96" fill="#1a7f37"/>"##
        + ##"<path d="M24 40h48l-5 36H29zM36 40a12 12 0 0 1 24 0" fill="none" stroke="#fff" stroke-width="6"/></svg>"##

    /// Returns a visitor with Safari, which sends no hints; the user agent must still be set.
    static func apple(
        _ screen: (width: Int, height: Int),
        _ pixelRatio: Double,
        _ languages: [String],
        _ timezone: String
    ) -> BrowserVisitor {
        BrowserVisitor(
            agent: "",
            screen: screen,
            pixelRatio: pixelRatio,
            languages: languages,
            timezone: timezone,
            script: "delete Navigator.prototype.userAgentData;"
        )
    }

    static func android(
        _ model: String,
        _ version: String,
        _ screen: (width: Int, height: Int),
        _ pixelRatio: Double,
        _ languages: [String],
        _ timezone: String
    ) -> BrowserVisitor {
        BrowserVisitor(
            agent: "",
            hints: Hints(platform: "Android", platformVersion: version, model: model, isMobile: true),
            screen: screen,
            pixelRatio: pixelRatio,
            languages: languages,
            timezone: timezone
        )
    }

    /// Returns the same visitor with another user agent.
    func saying(_ agent: String) -> BrowserVisitor {
        var visitor = self
        visitor.agent = agent
        return visitor
    }
}
