import Attribution
import Simulation
import Support

/// The requests that make a trace happen: those of a customer's own server and of released clients.
struct TraceRequests {
    let keys: Installation.Keys

    func click(_ click: TracedClick) -> String {
        let body =
            #"{"deeplink_url":"\#(click.link)","campaign_key":"\#(click.campaignKey)","#
            + #""platform":"\#(click.device.platform.rawValue)","signals":\#(click.device.browserSignals),"#
            + #""ip_address":"\#(Self.address(click.address, of: click.person))","#
            + #""user_agent":"\#(click.userAgent)","click_timestamp":"\#(click.at.iso8601)","#
            + #""metadata":{"click":\#(click.number)}}"#
        return """
            POST \(SampleRequests.clickPath) HTTP/1.1\r
            Host: 127.0.0.1\r
            Authorization: Bearer \(keys.server)\r
            X-Test-Time: \(click.at.iso8601)\r
            Content-Type: application/json\r
            Content-Length: \(body.utf8.count)\r
            \r
            \(body)
            """
    }

    /// A released client's check; `token` is that of the click it brings.
    func check(_ launch: TracedLaunch, token: String?) -> String {
        let fingerprint = Fingerprint(of: launch.fingerprintText).hex
        let token = token.map { "&token=\($0)" } ?? ""
        return """
            GET \(SampleRequests.checkPath)\(fingerprint)\(token) HTTP/1.1\r
            Host: 127.0.0.1\r
            Authorization: Bearer \(keys.app)\r
            X-Test-Time: \(launch.at.iso8601)\r
            X-Forwarded-For: \(Self.address(launch.address, of: launch.person))\r
            User-Agent: \(launch.agent)\r
            \r

            """
    }

    /// An address that says nothing is a private one, which still is somebody's own.
    private static func address(_ bits: UInt32?, of person: UInt64) -> String {
        NetworkAddress(ipv4: bits ?? 0x0a00_0000 | UInt32(truncatingIfNeeded: person) & 0x00ff_ffff).text
    }
}
