internal import Attribution

/// The sentences of the page on Apple's postbacks, and of the test whether postbacks can reach the server.
extension DashboardText {
    static let apple = "Apple"
    static let appleExplained =
        "Apple reports these installations to ad networks without naming a device, so no match includes them."
        + " Conversion values and countries are not signed. Test traffic shows postbacks signed for development."
    static let noPostbacks =
        "No postback was received in this period. `afterlink apps set --apple-postback-host shop.example` names the domain"
        + " that Apple's devices call, and the page Domains tests it."
    static let byNetwork: TableText = [
        "Counted postbacks by network": [
            "Network", "Framework", "App", "Source", "Window", "Value", "Postbacks",
        ]
    ]
    static let signatures: TableText = ["Signatures": ["Framework", "Environment", "Signature", "Postbacks"]]
    static let newestPostbacks: TableText = [
        "Newest postbacks": [
            "Received", "Network", "App", "Source", "Window", "Value (unsigned)", "Country (unsigned)",
            "Signature", "Environment",
        ]
    ]

    static func name(of framework: ApplePostback.Framework) -> String {
        switch framework {
        case .skAdNetwork: "SKAdNetwork"
        case .adAttributionKit: "AdAttributionKit"
        case .appleAds: "Apple Ads"
        }
    }

    /// Returns the days after the installation that a postback is about.
    static func window(of postback: ApplePostback) -> String {
        guard postback.framework != .appleAds else { return "–" }
        return switch postback.sequence {
        case 0: "days 0–2"
        case 1: "days 3–7"
        default: "days 8–35"
        }
    }

    static func value(of postback: ApplePostback, _ meaning: String?) -> String {
        guard postback.framework != .appleAds else { return "–" }
        let value = ApplePostbackBody.value(of: postback)
        return meaning.map { "\($0) (\(value))" } ?? value
    }

    static func state(_ verification: AppleVerification, isCounted: Bool) -> String {
        switch verification {
        case .valid: isCounted ? "verified" : "verified, repeated"
        case .invalid: "invalid"
        case .unverifiable: "unverifiable: no known key"
        }
    }

    // Reachability, on the page Domains
    static let receivers = "Receivers of Apple's postbacks"
    static let probeTable: TableText = ["What the probe found by path": ["Path", "Result"]]
    static let receiversExplained =
        "Apple's devices send postbacks to the shop's domain, and follow no redirect. The web server of that domain must"
        + " forward them. The test sends a request to it, which must arrive here unchanged."
    static let noPostbackHost = "The app has no host for Apple's postbacks. Reload the page."

    static func snippet(_ server: String) -> String { "Settings for \(server)" }
}
