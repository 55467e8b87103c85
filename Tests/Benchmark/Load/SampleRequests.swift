/// What is asked of the server: the requests of a landing page and of an SDK.
enum SampleRequests {
    static let clickPath = "/v1/deferred-deeplink/click"
    static let checkPath = "/v1/deferred-deeplink?fingerprint="
    static let userAgent = "Shop/1 CFNetwork/1496.0.7 Darwin/23.5.0"

    static func clickBody(fingerprint: String) -> String {
        #"{"fingerprint":"\#(fingerprint)","deeplink_url":"myapp://promo?campaign=summer_sale","#
            + #""campaign_key":"SUMMER_SALE_2025","platform":"ios","metadata":{"utm_source":"instagram"}}"#
    }

    static func click(fingerprint: String, key: String) -> String {
        let body = clickBody(fingerprint: fingerprint)
        return head("POST", clickPath, key) + "Content-Type: application/json\r\n"
            + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    static func check(fingerprint: String, key: String, isClosing: Bool = false) -> String {
        head("GET", checkPath + fingerprint, key) + "X-SDK-Version: paylisher-ios/1.8.9\r\n"
            + (isClosing ? "Connection: close\r\n" : "") + "\r\n"
    }

    static func get(_ target: String, key: String) -> String {
        head("GET", target, key) + "\r\n"
    }

    /// Eight digits.
    static func hexadecimal(_ number: UInt32) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }

    private static func head(_ method: String, _ target: String, _ key: String) -> String {
        "\(method) \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer \(key)\r\n"
            + "User-Agent: \(userAgent)\r\n"
    }
}
