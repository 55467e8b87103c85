/// What is asked of the server: the requests of a landing page and of an SDK, as a proxy hands them on.
enum SampleRequests {
    static let clickPath = "/v1/deferred-deeplink/click"
    static let checkPath = "/v1/deferred-deeplink?fingerprint="
    static let userAgent = "Shop/1 CFNetwork/1496.0.7 Darwin/23.5.0"

    /// What a click leads to, as members of its JSON.
    static let linkMembers =
        #""deeplink_url":"myapp://promo?campaign=summer_sale","campaign_key":"SUMMER_SALE_2025","#
        + #""metadata":{"utm_source":"instagram"}"#

    static func clickBody(fingerprint: String) -> String {
        #"{"fingerprint":"\#(fingerprint)","platform":"ios",\#(linkMembers)}"#
    }

    static func click(fingerprint: String, key: String, address: [UInt8] = SampleAddress.bytes(0)) -> String {
        click(body: clickBody(fingerprint: fingerprint), key: key, address: address)
    }

    static func click(
        body: String,
        key: String,
        address: [UInt8] = SampleAddress.bytes(0),
        agent: String = userAgent
    ) -> String {
        head("POST", clickPath, key, from: address, agent) + "Content-Type: application/json\r\n"
            + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    /// A check; `install` is its install id.
    static func check(
        fingerprint: String,
        key: String,
        address: [UInt8] = SampleAddress.bytes(0),
        install: String? = nil,
        isClosing: Bool = false
    ) -> String {
        head("GET", checkPath + fingerprint, key, from: address) + "X-SDK-Version: paylisher-ios/1.8.9\r\n"
            + (install.map { "X-Install-ID: \($0)\r\n" } ?? "")
            + (isClosing ? "Connection: close\r\n" : "") + "\r\n"
    }

    static func get(_ target: String, key: String) -> String {
        head("GET", target, key, from: SampleAddress.bytes(0)) + "\r\n"
    }

    /// Eight digits.
    static func hexadecimal(_ number: UInt32) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }

    private static func head(
        _ method: String,
        _ target: String,
        _ key: String,
        from address: [UInt8],
        _ agent: String = userAgent
    ) -> String {
        "\(method) \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer \(key)\r\n"
            + "User-Agent: \(agent)\r\nX-Forwarded-For: \(String(decoding: address, as: UTF8.self))\r\n"
    }
}
