import Attribution
import Testing

@Suite("Browsers and their versions")
struct BrowserTests {
    @Test(
        "are read from user agents",
        arguments: [
            (
                "Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.6778.39 Mobile"
                    + " Safari/537.36", "chrome 131"
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)"
                    + " Version/26.1 Mobile/15E148 Safari/604.1", "safari 26"
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)"
                    + " Mobile/15E148 Instagram 415.0.0.36.78 (iPhone13,3; iOS 18_5; tr_TR; tr; scale=3.00)",
                "instagram 415"
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)"
                    + " Mobile/15E148 [FBAN/FBIOS;FBAV/480.0.0.31.107;FBDV/iPhone15,2]", "facebook 480"
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)"
                    + " CriOS/142.0.7444.77 Mobile/15E148 Safari/604.1", "chrome 142"
            ),
            (
                "Mozilla/5.0 (Linux; Android 14; SM-S911B; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0"
                    + " Chrome/130.0.1 Mobile Safari/537.36", "web_view 130"
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)"
                    + " Mobile/15E148", "web_view"
            ),
            // The agent does not contain the text before its browser's version.
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)"
                    + " Mobile/15E148 Safari/604.1", "safari"
            ),
            ("Chrome/123456.0", "chrome"), ("Chrome/x", "chrome"), ("Chrome/", "chrome"),
            ("FBAN/", "facebook"),
            ("curl/8.5", "other"), ("", "unknown"),
        ]
    )
    func reads(agent: String, text: String) {
        let browser = Browser(userAgent: agent)
        #expect(browser.rawValue == text)
        #expect(browser.family == BrowserFamily(userAgent: agent))
        #expect(Browser(rawValue: text) == browser)
    }

    @Test("are not read from other texts", arguments: ["", " ", "netscape", "Chrome", "131"])
    func refuses(text: String) { #expect(Browser(rawValue: text) == nil) }
}
