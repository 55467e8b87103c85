import Foundation
import HTTPServer
import Support
import Testing
import Threads

@Suite("Payloads that try to break out", .blocking)
struct InjectionTests {
    /// A position of a request that a caller fills.
    private struct Place: Sendable {
        let name: String
        let request: @Sendable (_ payload: String, _ keys: Installation.Keys) -> String
    }

    @Test("payloads at any position of a call cause no server error, no match, no slow response and no loss")
    func payloads() throws {
        let (installation, server, connection) = try Installation.serving()
        for number in 1...50 { #expect(try connection.click(fingerprint(number)).status == 201) }

        var count = 0
        var accepted = 50
        var times: [UInt64] = []
        var client = try RawClient(port: server.port)
        // Short runs try a third of the payloads at each place, and each payload at a third of the places.
        for (part, place) in Self.places.enumerated() {
            for (number, payload) in Payloads.all.enumerated() where isLong || (number + part) % 3 == 0 {
                client.send(place.request(payload, installation.keys))
                let start = MonotonicTime.now()
                let answer = try client.answer()
                times.append(MonotonicTime.now().nanoseconds(since: start))
                count += 1
                #expect(answer.status < 500, "\(place.name): \(payload): \(answer.body)")
                #expect(!answer.body.contains("\"status\":\"match\""), "\(place.name): \(payload)")
                // Some responses repeat the payload; they must reveal nothing else.
                let body = answer.body.replacingOccurrences(of: payload, with: "").lowercased()
                #expect(!body.contains("sqlite"), "\(place.name): \(payload)")
                if answer.status == 201 { accepted += 1 }
                if answer.field("connection") == "close" { client = try RawClient(port: server.port) }
            }
        }
        #expect(count >= (isLong ? 7_000 : 2_300))
        let sorted = times.sorted()
        // An executed payload would sleep or compute for seconds; a busy machine takes a few hundred milliseconds.
        #expect(sorted[sorted.count - 1] < max(4_000_000_000, 1_000 * sorted[sorted.count / 2]))
        try checkDatabase(installation, server, accepted: accepted)
    }

    /// Expects that no earlier click or app is lost, and that the counts agree.
    private func checkDatabase(_ installation: Installation, _ server: AfterlinkProcess, accepted: Int) throws
    {
        let connection = try server.connect()
        let statistics = try connection.get(
            "/admin/stats?app=\(installation.appID)",
            fields: ["Authorization": "Bearer \(installation.keys.admin)"]
        )
        #expect(statistics.status == 200)
        #expect(statistics.text.contains("\"clicks\":\(accepted)"), "\(statistics.text.prefix(300))")
        for number in 1...50 { #expect(try connection.check(fingerprint(number)).isMatch) }
    }

    // MARK: Places

    private static let places: [Place] = queryPlaces + pathPlaces + headerPlaces + bodyPlaces

    private static let unknown = String(repeating: "f", count: 64)
    private static let check = "/v1/deferred-deeplink"

    private static let queryPlaces: [Place] =
        [
            ("fingerprint", ""), ("install_id", "fingerprint=\(unknown)&"),
            ("platform", "fingerprint=\(unknown)&"),
            ("attribution_window_seconds", "fingerprint=\(unknown)&"), ("unknown", "fingerprint=\(unknown)&"),
        ].flatMap { name, before in
            [
                Place(name: "query \(name)") { payload, keys in
                    get("\(check)?\(before)\(name)=\(escaped(payload))", key: keys.app)
                },
                Place(name: "query \(name), repeated") { payload, keys in
                    get(
                        "\(check)?\(before)\(name)=\(escaped(payload))&\(name)=\(escaped(payload))",
                        key: keys.app
                    )
                },
            ]
        }
        + ["app", "from", "to", "granularity", "campaign", "source", "platform"].map { name in
            Place(name: "statistics \(name)") { payload, keys in
                get("/admin/stats?\(name)=\(escaped(payload))", key: keys.admin)
            }
        }

    private static let pathPlaces: [Place] =
        ["/", "/campaign/resolve/", "/resolve/", "/v1/deferred-deeplink/", "/v1/", "/admin/"].map { path in
            Place(name: "path \(path)") { payload, keys in get(path + escaped(payload), key: keys.app) }
        }

    private static let headerPlaces: [Place] = [
        "User-Agent", "X-SDK-Version", "X-Device-Platform", "X-Forwarded-For", "Forwarded", "Origin",
        "Referer", "Accept-Language", "Cookie", "X-Request-ID", "Authorization", "X-Test-Time",
    ].map { name in
        Place(name: "header \(name)") { payload, keys in
            let authorization = name == "Authorization" ? "" : "Authorization: Bearer \(keys.app)\r\n"
            let value = name == "Authorization" ? "Bearer \(payload)" : payload
            return
                "GET \(check)?fingerprint=\(unknown) HTTP/1.1\r\nHost: a\r\n\(authorization)\(name): \(value)\r\n\r\n"
        }
    }

    private static let bodyPlaces: [Place] =
        [
            "app", "fingerprint", "deeplink_url", "link", "campaign_key", "jid", "click_timestamp",
            "user_agent", "ip_address", "referer", "attribution_window_seconds", "platform", "source",
            "idempotency_key", "unknown",
        ].map { name in
            Place(name: "body \(name)") { payload, _ in post([name: payload]) }
        }
        + ["utm_source", "utm_campaign", "any"].flatMap { name in
            ["utm", "metadata"].map { object in
                Place(name: "body \(object).\(name)") { payload, _ in post([object: [name: payload]]) }
            }
        }
        + [
            "model", "osVersion", "timezone", "language", "uaModel", "uaPlatformVersion", "screenWidth",
        ].map { name in
            Place(name: "body signals.\(name)") { payload, _ in post(["signals": [name: payload]]) }
        } + [
            Place(name: "body signals.languages") { payload, _ in post(["signals": ["languages": [payload]]])
            },
            Place(name: "body name") { payload, _ in post([payload: 1]) },
            Place(name: "body click_ids.gclid") { payload, _ in post(["click_ids": ["gclid": payload]]) },
            Place(name: "body query") { payload, _ in post(["query": "gclid=\(payload)"]) },
            Place(name: "body metadata name") { payload, _ in post(["metadata": [payload: payload]]) },
            Place(name: "body whole") { payload, _ in message("POST", "\(check)/click", payload) },
        ]

    private static func get(_ target: String, key: String) -> String {
        "GET \(target) HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(key)\r\n\r\n"
    }

    private static func post(_ members: [String: Any]) -> String {
        let usual: [String: Any] = [
            "fingerprint": String(repeating: "e", count: 64), "deeplink_url": "myapp://promo",
        ]
        let body = usual.merging(members) { $1 }
        let text = (try? JSONSerialization.data(withJSONObject: body)).map {
            String(decoding: $0, as: UTF8.self)
        }
        return message("POST", "\(check)/click", text ?? "{}")
    }

    private static func message(_ method: String, _ target: String, _ body: String) -> String {
        "\(method) \(target) HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
            + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    private static func escaped(_ text: String) -> String {
        text.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
