package import Attribution
import Foundation

/// The requests that a landing page and an SDK send, as a proxy forwards them.
enum SampleRequests {
    static let clickPath = "/v1/deferred-deeplink/click"
    static let checkPath = "/v1/deferred-deeplink?fingerprint="
    static let userAgent = "Shop/1 CFNetwork/1496.0.7 Darwin/23.5.0"
    /// A fingerprint that no click has.
    static let unknown = String(repeating: "f", count: 64)

    /// A click's link and campaign, as members of its JSON.
    static let linkMembers =
        #""deeplink_url":"myapp://promo?campaign=summer_sale","campaign_key":"SUMMER_SALE_2025","#
        + #""metadata":{"utm_source":"instagram"}"#

    static func clickBody(fingerprint: String) -> String {
        #"{"fingerprint":"\#(fingerprint)","platform":"ios",\#(linkMembers)}"#
    }

    static func click(_ fingerprint: String, key: String, time: Timestamp? = nil) -> String {
        click(body: clickBody(fingerprint: fingerprint), key: key, time: time)
    }

    static func click(
        body: String,
        key: String,
        address: [UInt8] = SampleAddress.bytes(0),
        agent: String = userAgent,
        time: Timestamp? = nil
    ) -> String {
        head("POST", clickPath, key, from: address, agent, time) + "Content-Type: application/json\r\n"
            + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    /// A check; `install` is its installation id.
    static func check(
        _ fingerprint: String,
        key: String,
        address: [UInt8] = SampleAddress.bytes(0),
        install: String? = nil,
        isClosing: Bool = false,
        time: Timestamp? = nil
    ) -> String {
        head("GET", checkPath + fingerprint, key, from: address, userAgent, time)
            + "X-SDK-Version: paylisher-ios/1.8.9\r\n" + (install.map { "X-Install-ID: \($0)\r\n" } ?? "")
            + (isClosing ? "Connection: close\r\n" : "") + "\r\n"
    }

    static func get(_ target: String, key: String) -> String {
        head("GET", target, key, from: SampleAddress.bytes(0), userAgent, nil) + "\r\n"
    }

    /// Returns the number as eight hexadecimal digits.
    static func hexadecimal(_ number: UInt32) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }

    private static func head(
        _ method: String,
        _ target: String,
        _ key: String,
        from address: [UInt8],
        _ agent: String,
        _ time: Timestamp?
    ) -> String {
        "\(method) \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer \(key)\r\n"
            + "User-Agent: \(agent)\r\nX-Forwarded-For: \(String(decoding: address, as: UTF8.self))\r\n"
            + (time.map { "X-Test-Time: \($0.iso8601)\r\n" } ?? "")
    }
}

/// A request whose address, time, campaign and last sixteen digits of the fingerprint change with each use.
package struct RequestPattern {
    package private(set) var bytes: [UInt8]
    private let firstDigit: Int
    private let firstOfAddress: Int
    private let firstOfTime: Int?
    /// The position of the campaign key's last two digits; nil in a request without a campaign key.
    private let lastOfCampaign: Int?
    private static let digits = Array("0123456789abcdef".utf8)

    /// - Parameters:
    ///   - prefix: the first eight digits of the fingerprint.
    ///   - time: the time in the request; nil for a request without a time.
    ///   - make: makes the request for a fingerprint, with the address of the number 0.
    package init(prefix: String, time: Timestamp? = nil, _ make: (String) -> String) {
        let fingerprint = prefix + String(repeating: "0", count: 56)
        let text = make(fingerprint)
        bytes = Array(text.utf8)
        firstDigit = (Self.start(of: fingerprint, in: text) ?? 0) + 48
        let address = String(decoding: SampleAddress.bytes(0), as: UTF8.self)
        firstOfAddress = Self.start(of: address, in: text) ?? 0
        firstOfTime = time.flatMap { Self.start(of: $0.iso8601, in: text) }
        lastOfCampaign = Self.start(of: "SUMMER_SALE_2025", in: text).map { $0 + 14 }
    }

    package mutating func set(_ number: UInt64) {
        for index in 0..<16 {
            bytes[firstDigit + index] = Self.digits[Int(number >> UInt64(60 - 4 * index) & 15)]
        }
        let address = SampleAddress.bytes(Int(number & 0xffff_ffff))
        for (index, byte) in address.enumerated() { bytes[firstOfAddress + index] = byte }
    }

    /// Sets the number, the time, and one of a hundred campaigns, of which eight run at a time.
    package mutating func set(_ number: UInt64, at time: Timestamp) {
        set(number)
        if let firstOfTime { bytes.replaceSubrange(firstOfTime..<firstOfTime + 24, with: time.iso8601.utf8) }
        guard let lastOfCampaign else { return }
        let campaign = Int(number / 1000 + number % 8) % 100
        bytes[lastOfCampaign] = Self.digits[campaign / 10]
        bytes[lastOfCampaign + 1] = Self.digits[campaign % 10]
    }

    private static func start(of part: String, in text: String) -> Int? {
        text.range(of: part).map { text.utf8.distance(from: text.startIndex, to: $0.lowerBound) }
    }
}

/// The clients' addresses in the proxy's header: 100,000 networks of 100 addresses each, as texts of one length.
package enum SampleAddress {
    private static let count = 10_000_000
    /// Neighbouring numbers belong to different networks.
    private static let step = 40_503

    /// Returns the address of a number, as in `150.100.104.105`; numbers below ten million have different addresses.
    package static func bytes(_ number: Int) -> [UInt8] {
        var bytes = Array("150.100.100.100".utf8)
        var rest = number % count * step % count
        for index in [14, 13, 10, 9, 6, 5, 2] {
            bytes[index] += UInt8(rest % 10)
            rest /= 10
        }
        return bytes
    }

    /// ``bytes(_:)`` as a Lua function.
    static let lua = """
        local function address(number)
            local s = string.format("%07d", number % \(count) * \(step) % \(count))
            return "15" .. s:sub(1, 1) .. ".1" .. s:sub(2, 3) .. ".1" .. s:sub(4, 5) .. ".1" .. s:sub(6, 7)
        end

        """
}
