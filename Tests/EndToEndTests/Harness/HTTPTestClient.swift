import Foundation
import Support

/// A connection that speaks the wire contract: it posts clicks as a landing page does, and checks as an SDK does.
final class HTTPTestClient {
    let client: RawClient
    /// The key of checks for which no other key is named.
    private let key: String
    /// Retained, because a server stops with the last reference to it.
    private let server: AfterlinkProcess?

    static let prefix = "/v1/deferred-deeplink"

    init(port: UInt16, key: String = "", of server: AfterlinkProcess? = nil) throws {
        client = try RawClient(port: port, patienceMilliseconds: 60_000)
        (self.key, self.server) = (key, server)
    }

    init(port: UInt16, key: String = "", of server: AfterlinkProcess? = nil, tls settings: TLSClientSettings)
        throws
    {
        client = try RawClient(port: port, tls: settings)
        (self.key, self.server) = (key, server)
    }

    struct Reply {
        let status: Int
        /// Names in lower case.
        let fields: [String: String]
        let text: String
        let json: [String: Any]

        init(_ answer: RawClient.Answer) {
            status = answer.status
            fields = Dictionary(
                answer.fields.compactMap { line in
                    let parts = line.split(separator: ":", maxSplits: 1)
                    return parts.count == 2
                        ? (parts[0].lowercased(), parts[1].trimmingCharacters(in: .whitespaces)) : nil
                },
                uniquingKeysWith: { first, _ in first }
            )
            text = answer.body
            json = (try? JSONSerialization.jsonObject(with: Data(answer.body.utf8))) as? [String: Any] ?? [:]
        }

        func string(_ name: String) -> String? { json[name] as? String }

        var isMatch: Bool { status == 200 && string("status") == "match" }
        var isNoMatch: Bool { status == 200 && string("status") == "no_match" }
    }

    /// Returns a click's body; `members` replace or extend the usual ones.
    static func click(_ fingerprint: String, _ members: [String: Any] = [:]) throws -> String {
        let usual: [String: Any] = [
            "fingerprint": fingerprint, "deeplink_url": "myapp://promo/item", "campaign_key": "SUMMER25",
        ]
        let body = usual.merging(members) { $1 }
        let data = try JSONSerialization.data(withJSONObject: body, options: .sortedKeys)
        return String(decoding: data, as: UTF8.self)
    }

    func sendClick(_ fingerprint: String, _ members: [String: Any] = [:], fields: [String: String] = [:])
        throws
    {
        let all = ["Content-Type": "application/json"].merging(fields) { $1 }
        send("POST", Self.prefix + "/click", fields: all, body: try Self.click(fingerprint, members))
    }

    func sendCheck(_ fingerprint: String, key: String? = nil, fields: [String: String] = [:]) {
        let all = [
            "Authorization": "Bearer \(key ?? self.key)", "X-SDK-Version": "paylisher-ios/1.8.9",
            "X-Device-Platform": "ios", "User-Agent": "Shop/1 CFNetwork/1496.0.7 Darwin/23.5.0",
        ].merging(fields) { $1 }
        send("GET", "\(Self.prefix)?fingerprint=\(fingerprint)", fields: all)
    }

    func receive() throws -> Reply { Reply(try client.answer()) }

    func click(
        _ fingerprint: String,
        _ members: [String: Any] = [:],
        fields: [String: String] = [:]
    ) throws -> Reply {
        try sendClick(fingerprint, members, fields: fields)
        return try receive()
    }

    func check(_ fingerprint: String, key: String? = nil, fields: [String: String] = [:]) throws -> Reply {
        sendCheck(fingerprint, key: key, fields: fields)
        return try receive()
    }

    func get(_ target: String, key: String? = nil, fields: [String: String] = [:]) throws -> Reply {
        let authorization = key.map { ["Authorization": "Bearer \($0)"] } ?? [:]
        return try call("GET", target, fields: authorization.merging(fields) { $1 })
    }

    func call(_ method: String, _ target: String, fields: [String: String] = [:], body: String? = nil) throws
        -> Reply
    {
        send(method, target, fields: fields, body: body)
        return Reply(try client.answer(toHead: method == "HEAD"))
    }

    func reset() { client.reset() }

    private func send(_ method: String, _ target: String, fields: [String: String], body: String? = nil) {
        var head = "\(method) \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) { head += "\(name): \(value)\r\n" }
        if let body { head += "Content-Length: \(body.utf8.count)\r\n" }
        client.send(head + "\r\n" + (body ?? ""))
    }

    /// Returns the totals of the statistics.
    func totals(_ adminKey: String, _ query: String = "") throws -> [String: Any] {
        let reply = try get("/admin/stats" + query, key: adminKey)
        return reply.json["totals"] as? [String: Any] ?? [:]
    }
}

/// Returns a made-up fingerprint for a number.
func fingerprint(_ number: Int) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 64 - digits.count) + digits
}

/// Returns the header that sets a request's time to a number of seconds after 2026-05-28T20:26:40Z.
func at(_ seconds: Double) -> [String: String] {
    let noon = Date(timeIntervalSince1970: 1_780_000_000)
    let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    return ["X-Test-Time": noon.addingTimeInterval(seconds).formatted(style)]
}

extension AfterlinkProcess {
    func connect() throws -> HTTPTestClient {
        try HTTPTestClient(port: port, key: installation.keys.app, of: self)
    }

    func connect(tls settings: TLSClientSettings) throws -> HTTPTestClient {
        try HTTPTestClient(port: port, key: installation.keys.app, of: self, tls: settings)
    }
}

extension Installation {
    /// Starts a server on the database, and connects to it.
    func serve(_ arguments: [String] = []) throws -> (server: AfterlinkProcess, connection: HTTPTestClient) {
        let server = try AfterlinkProcess(self, arguments)
        return (server, try server.connect())
    }

    /// Starts a server on a new database, and connects to it.
    static func serving(_ arguments: [String] = []) throws
        -> (installation: Installation, server: AfterlinkProcess, connection: HTTPTestClient)
    {
        let installation = try Installation()
        let (server, connection) = try installation.serve(arguments)
        return (installation, server, connection)
    }
}
