import Foundation
import Support
import Testing

@Suite("A scan of a link's QR code", .blocking)
struct QRScanTests {
    @Test("leads to the link as a click with the source qr, and the first launch gets the link's destination")
    func wholeWay() throws {
        let installation = try Installation()
        let set = ["apps", "set", "--link-host", "go.shop.example", "--ios-scheme", "shopapp"]
        let create = [
            "links", "create", "poster", "--destination", "shopapp://promo/item", "--source", "instagram",
            "--qr-background", "#ffe",
        ]
        for words in [set, create] {
            let output = try installation.run(words)
            #expect(output.status == 0, "\(output.errors)")
        }
        let server = try AfterlinkProcess(installation)
        let client = try RawClient(port: server.port)
        let target = "/poster/qr.svg?logo=true&size=600&foreground=1a2b3c"
        client.send("GET \(target) HTTP/1.1\r\nHost: go.shop.example\r\n\r\n")
        let picture = try client.answer()
        #expect(picture.status == 200 && picture.body.contains("#ffffee"))
        let scanned = try #require(try QRReader.text(of: Array(picture.body.utf8)))
        let url = try #require(URL(string: scanned))
        #expect(url.scheme == "https" && url.host() == "go.shop.example" && url.path() == "/poster")
        let body = #"{"fingerprint":"\#(fingerprint(1))","link":"poster","query":"\#(url.query() ?? "")"}"#
        client.send(
            "POST /v1/deferred-deeplink/click HTTP/1.1\r\nHost: go.shop.example\r\n"
                + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        )
        #expect(try client.answer().status == 201)
        client.send(
            "GET /v1/deferred-deeplink?fingerprint=\(fingerprint(1)) HTTP/1.1\r\nHost: a\r\n"
                + "Authorization: Bearer \(installation.keys.app)\r\n\r\n"
        )
        #expect(try client.answer().body.contains(#""url":"shopapp://promo/item?source=qr&jid=j_"#))
    }
}
