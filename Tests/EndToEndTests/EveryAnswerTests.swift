import Foundation
import Support
import Testing

/// Every path with every method, and every refusal.
@Suite("Every response", .blocking)
struct EveryAnswerTests {
    /// Each path, its methods, and whether a request changes something.
    private static let paths: [(path: String, methods: [String], consumes: Bool)] = [
        ("/v1/deferred-deeplink", ["GET"], true), ("/deferred-deeplink", ["GET"], true),
        ("/api/v1/deferred-deeplink", ["GET"], true), ("/v1/deferred-deeplink/click", ["POST"], false),
        ("/deferred-deeplink/click", ["POST"], false), ("/api/v1/deferred-deeplink/click", ["POST"], false),
        ("/v1/deferred-deeplink/resolve", ["POST"], false), ("/deferred-deeplink/resolve", ["POST"], false),
        ("/api/v1/deferred-deeplink/resolve", ["POST"], false), ("/v1/skan/config", ["GET"], false),
        ("/v1/apple-ads/attribution", ["POST"], false), ("/campaign/resolve/{key}", ["GET"], false),
        ("/resolve/{key}", ["GET"], false), ("/healthz", ["GET"], false), ("/readyz", ["GET"], false),
        ("/admin/stats", ["GET"], false), ("/metrics", ["GET"], false), ("/admin/api/checks", ["GET"], false),
        ("/admin/api/checks/{id}/explain", ["GET"], false), ("/admin/api/apps", ["GET"], false),
        ("/admin/api/apps/{id}", ["GET", "PATCH"], false), ("/admin/api/links", ["GET", "POST"], false),
        ("/admin/api/links/{id}", ["GET", "PATCH", "DELETE"], false),
        ("/admin/api/links/{id}/archive", ["POST"], false),
        ("/admin/api/links/{id}/restore", ["POST"], false), ("/{slug...}/qr.svg", ["GET"], false),
        ("/{slug...}/qr.png", ["GET"], false), ("/v1/collector.js", ["GET"], false),
        ("/openapi.json", ["GET"], false), ("/favicon.ico", ["GET"], false),
        ("/apple-touch-icon.png", ["GET"], false), ("/admin/api/domains/check", ["POST"], false),
        ("/admin/api/held", ["POST"], false), ("/admin/api/audit", ["GET"], false),
        // The test sends no known name, so the response is no stream.
        ("/admin/api/export/{file}", ["GET"], false),
        ("/admin/api/erase", ["POST"], false),
        ("/.well-known/apple-app-site-association", ["GET"], false),
        ("/apple-app-site-association", ["GET"], false), ("/.well-known/assetlinks.json", ["GET"], false),
        ("/admin/api/apple-postbacks", ["GET"], false),
        ("/admin/api/apple-postbacks/verify", ["POST"], false),
        ("/.well-known/skadnetwork/report-attribution/", ["GET", "POST"], false),
        ("/.well-known/appattribution/report-attribution", ["GET", "POST"], false),
        ("/v1/events", ["POST"], false), ("/v1/erase", ["POST"], false),
        ("/admin/api/events/report", ["GET"], false),
        ("/admin/api/postbacks", ["GET", "POST"], false), ("/admin/api/postbacks/{id}", ["GET"], false),
        ("/admin/api/postbacks/{id}/enable", ["POST"], false),
        ("/admin/api/postbacks/{id}/disable", ["POST"], false),
        ("/admin/api/postbacks/{id}/rotate", ["POST"], false),
        ("/admin/api/postbacks/{id}/test", ["POST"], false),
        ("/admin/api/postbacks/{id}/replay", ["POST"], false),
        ("/admin/api/postbacks/{id}/deliveries", ["GET"], false),
    ]
    private static let methods = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"]

    @Test("this test has all paths of the service")
    func pathsAreAll() throws {
        let text = try Repository.text("Sources/Server/Routes.swift")
        let literals = text.matches(of: /"(\/[^"]*)"/).map { String($0.output.1) }
        #expect(literals.count > 8)
        // This path stands for links, and the installation has none.
        for literal in literals where literal != "/{slug...}" {
            #expect(Self.paths.contains { $0.path.hasSuffix(literal) }, "\(literal)")
        }
    }

    @Test(
        "every response has date, length, type and nosniff; HEAD is GET without a body",
        arguments: paths.indices
    )
    func methods(index: Int) throws {
        let (path, taken, consumes) = Self.paths[index]
        let installation = try Installation()
        let server = try AfterlinkProcess(installation)
        let allowed = taken + (taken.contains("GET") && !consumes ? ["HEAD"] : []) + ["OPTIONS"]
        var answers: [String: RawClient.Answer] = [:]
        for asked in Self.methods {
            let answer = try ask(
                asked,
                path.replacing("{key}", with: "summer").replacing(
                    "{id}",
                    with: "chk_00000000000000000000000000"
                ).replacing("{slug...}", with: "go/summer25"),
                server,
                installation
            )
            answers[asked] = answer
            if asked == "OPTIONS" {
                #expect(answer.status == 204)
                #expect(answer.field("allow") == allowed.joined(separator: ", "))
            } else if allowed.contains(asked) {
                #expect(answer.status != 405 && answer.status < 500)
            } else {
                #expect(answer.status == 405)
                #expect(answer.field("allow") == allowed.joined(separator: ", "))
            }
        }
        if allowed.contains("HEAD"), let head = answers["HEAD"], let get = answers["GET"] {
            #expect(head.status == get.status)
            #expect(head.field("content-type") == get.field("content-type"))
            #expect(head.fields.count == get.fields.count)
        }
    }

    @Test("unknown methods are refused on every path; TRACE and QUERY get the allowed methods")
    func unknownMethods() throws {
        let installation = try Installation()
        let server = try AfterlinkProcess(installation)
        for path in Self.paths.map(\.path) + ["/", "/nothing", "/v1", "*"] {
            for method in ["BREW", "get", "PROPFIND"] {
                #expect(try ask(method, path, server, installation).status == 501, "\(method) \(path)")
            }
            guard path != "*" else { continue }
            for method in ["TRACE", "QUERY"] {
                let answer = try ask(method, path, server, installation)
                #expect(answer.status == 405 && answer.field("allow")?.isEmpty == false, "\(method) \(path)")
            }
        }
        #expect(try ask("CONNECT", "127.0.0.1:80", server, installation).status == 501)
    }

    @Test("an unknown path gets 404 with every known method")
    func unknownPaths() throws {
        let installation = try Installation()
        let server = try AfterlinkProcess(installation)
        for path in [
            "/", "/nothing", "/v1", "/v1/deferred-deeplink/", "/healthz/x", "/resolve/", "/%2e%2e/x",
        ] {
            for method in Self.methods {
                let answer = try ask(method, path, server, installation)
                #expect(answer.status == 404, "\(method) \(path)")
                #expect(answer.field("allow") == nil)
            }
        }
        let asterisk = try ask("OPTIONS", "*", server, installation)
        #expect(asterisk.status == 204 && asterisk.field("allow")?.isEmpty == false)
    }

    /// Sends a request with an admin key, and applies the rules to the response.
    private func ask(
        _ method: String,
        _ path: String,
        _ server: AfterlinkProcess,
        _ installation: Installation
    ) throws -> RawClient.Answer {
        let client = try RawClient(port: server.port)
        let key = "Authorization: Bearer \(installation.keys.admin)\r\n"
        client.send("\(method) \(path) HTTP/1.1\r\nHost: a\r\n\(key)Connection: close\r\n\r\n")
        let answer = try client.answer(toHead: method == "HEAD")
        #expect(try client.rest() == "", "\(method) \(path): no byte follows the response")
        // These two paths show the version to operators.
        let isForOperators = answer.status == 200 && ["/metrics", "/admin/stats"].contains(path)
        let violations = AnswerRules(answer: answer, request: "\(method) \(path)", isToHead: method == "HEAD")
            .violations.filter { !isForOperators || !$0.contains("it reveals") }
        #expect(violations.isEmpty)
        return answer
    }

    // MARK: Refusals

    private static let host = "Host: a\r\n"
    private static let click = "POST /v1/deferred-deeplink/click HTTP/1.1\r\n\(host)"

    /// Bytes that the server refuses before they form a request, with the status.
    private static let malformed: [String: Int] = [
        "GET / HTTP/1.1\r\n\r\n": 400, "GET / HTTP/1.1\r\n\(host)A : b\r\n\r\n": 400,
        "GET / HTTP/1.1\r\n\(host)A: b\r\n c\r\n\r\n": 400,
        "\(click)Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n": 400,
        "\(click)Transfer-Encoding: chunked\r\n\r\nx\r\n": 400, "GET /half HTTP/1.1\r\nHo": 408,
        "\(click)Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{": 408,
        "\(click)Content-Type: application/json\r\nContent-Length: 65537\r\n\r\n": 413,
        "\(click)Content-Length: 65537\r\nExpect: 100-continue\r\n\r\n": 413,
        // Apple's postbacks have a limit of their own, which applies before the body is sent.
        "POST /.well-known/skadnetwork/report-attribution/ HTTP/1.1\r\n\(host)Content-Length: 8193\r\nExpect: 100-continue\r\n\r\n":
            413,
        "GET /\(String(repeating: "a", count: 8192)) HTTP/1.1\r\n\(host)\r\n": 414,
        "GET / HTTP/1.1\r\n\(host)Expect: tea\r\n\r\n": 417,
        "GET / HTTP/1.1\r\n\(host)A: \(String(repeating: "a", count: 16_384))\r\n\r\n": 431,
        "GET / HTTP/1.1\r\n\(host)\(String(repeating: "A: b\r\n", count: 100))\r\n": 431,
        "\(click)Transfer-Encoding: gzip, chunked\r\n\r\n": 501, "BREW / HTTP/1.1\r\n\(host)\r\n": 501,
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n": 505,
    ]

    @Test(
        "the response to a malformed, too large or too slow request has the same form, and the connection closes"
    )
    func refusals() throws {
        let server = try AfterlinkProcess(Installation(), ["--timeout-header", "1", "--timeout-body", "1"])
        for (bytes, status) in Self.malformed {
            let client = try RawClient(port: server.port)
            client.send(bytes)
            let answer = try client.answer()
            let name = String(bytes.prefix(60))
            #expect(answer.status == status, "\(name)")
            #expect(answer.field("connection") == "close", "\(name)")
            #expect(try client.rest() == "", "\(name): no byte follows the response")
            #expect(AnswerRules(answer: answer, request: name, isToHead: false).violations.isEmpty)
        }
    }

    @Test("100 Continue has no field, and the response after 100 Continue has all fields")
    func interim() throws {
        let server = try AfterlinkProcess(Installation())
        let client = try RawClient(port: server.port)
        client.send("\(Self.click)Content-Length: 2\r\nExpect: 100-continue\r\n\r\n")
        let interim = try client.answer()
        #expect(interim.status == 100 && interim.fields.isEmpty)
        client.send("{}")
        let answer = try client.answer()
        #expect(answer.status == 415)
        #expect(AnswerRules(answer: answer, request: "100", isToHead: false).violations.isEmpty)
    }

    @Test("one connection too many and one request too many get the time of the next attempt")
    func limits() throws {
        let installation = try Installation()
        let server = try AfterlinkProcess(
            installation,
            ["--maximum-connections", "1", "--rate-limit-checks", "1/s:1", "--threads", "1"]
        )
        let only = try server.connect()
        #expect(try only.check(fingerprint(1)).isNoMatch)
        // Even a busy machine serves two of so many requests within a second.
        for _ in 0..<20 { only.sendCheck(fingerprint(1)) }
        let limited = try #require(
            try (0..<20).map { _ in try only.client.answer() }.last { $0.status == 429 }
        )
        let newest = try RawClient(port: server.port)
        let turnedAway = try newest.answer()
        #expect(turnedAway.status == 503)
        for answer in [limited, turnedAway] {
            #expect(answer.field("retry-after").flatMap { Int($0) } ?? 0 >= 1)
            #expect(AnswerRules(answer: answer, request: "limits", isToHead: false).violations.isEmpty)
        }
        #expect(try only.get("/healthz").status == 200, "the earlier connection still works")
    }

    @Test("the response to a request that an endpoint refuses has the same form")
    func refusedByEndpoints() throws {
        let installation = try Installation()
        let server = try AfterlinkProcess(installation)
        let keys = installation.keys
        let json = "Content-Type: application/json\r\n"
        let requests: [(head: String, body: String, status: Int)] = [
            ("GET /v1/deferred-deeplink?fingerprint=x", "", 401),
            ("GET /v1/deferred-deeplink?key=\(keys.app)", "", 400),
            ("POST /v1/deferred-deeplink/click", "{}", 415), ("GET /admin/stats", "", 401),
            ("GET /nothing", "", 404),
        ]
        let withKey: [(head: String, key: String, body: String, status: Int)] = [
            ("GET /v1/deferred-deeplink?fingerprint=x", keys.app, "", 400),
            ("GET /v1/deferred-deeplink", keys.admin, "", 403), ("GET /admin/stats", keys.app, "", 403),
            ("GET /admin/stats?interval=week", keys.admin, "", 400),
            ("POST /v1/deferred-deeplink/click", keys.server, "{", 400),
            ("POST /v1/deferred-deeplink/click", keys.server, "{}", 400),
            ("POST /v1/deferred-deeplink/click", keys.admin, "{}", 403),
        ]
        let all =
            requests.map { ($0.head, "", $0.body, $0.status) }
            + withKey.map { ($0.head, "Authorization: Bearer \($0.key)\r\n\(json)", $0.body, $0.status) }
        let client = try RawClient(port: server.port)
        for (head, fields, body, status) in all {
            let length = "Content-Length: \(body.utf8.count)\r\n"
            client.send("\(head) HTTP/1.1\r\nHost: a\r\n\(fields)\(length)\r\n\(body)")
            let answer = try client.answer()
            #expect(answer.status == status, "\(head)")
            #expect(AnswerRules(answer: answer, request: head, isToHead: false).violations.isEmpty)
        }
    }
}
