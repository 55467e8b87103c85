import Attribution
import HTTPServer
import JSON
import Server
import Testing
import Threads

@Suite("Routing")
struct RoutingTests {
    @Test(
        "unknown paths get 404, and wrong methods 405; OPTIONS and HEAD work",
        arguments: [
            Step("root", "/", status: 404, holds: ["NOT_FOUND", "X-Request-ID"]),
            Step("longer", "/v1/deferred-deeplink/", status: 404),
            Step("encoded", "/v1/deferred%2Ddeeplink", status: 404),
            Step(
                "POST on the check",
                "/v1/deferred-deeplink",
                .post,
                status: 405,
                holds: ["METHOD_NOT_ALLOWED", "Allow: GET, OPTIONS"]
            ),
            Step("GET", "/v1/deferred-deeplink/click", status: 405, holds: ["Allow: POST, OPTIONS"]),
            Step("DELETE", "/healthz", .delete, status: 405, holds: ["Allow: GET, HEAD, OPTIONS"]),
            Step("HEAD", "/healthz", .head, status: 200),
            Step("OPTIONS", "/healthz", .options, status: 204, holds: ["Allow: GET, HEAD, OPTIONS"]),
            Step("OPTIONS unknown", "/nothing", .options, status: 404),
            Step("OPTIONS *", "*", .options, status: 204, holds: ["Allow: "]),
            Step("several parts", "/a/b/qr.svg", .post, status: 405, holds: ["Allow: GET, HEAD, OPTIONS"]),
            Step("one part first", "/admin/api/links/qr.svg", .patch, status: 401, lacks: ["Allow: "]),
            Step("no part", "//qr.svg", .post, status: 404),
        ]
    )
    func paths(step: Step) async throws {
        let service = try await TestService()
        await step.play(on: service)
    }

    @Test(
        "JSON that is not an object gets 422 from the admin API, and 400 from the SDK calls",
        arguments: ["[]", "null", "5", #""x""#]
    )
    func noObject(body: String) async throws {
        let service = try await TestService()
        let posts = ["links", "postbacks", "held", "erase", "domains/check", "apple-postbacks/verify"]
        var calls: [(HTTPServer.Method, String)] = posts.map { (.post, "/\($0)") }
        calls.append((.patch, "/apps/\(service.app.text)"))
        for (method, path) in calls {
            let answer = await service.admin(method, path, body)
            #expect(answer.isRefusal(422, "INVALID_FIELD", field: "body"), "\(path): \(answer.text)")
        }
        let fields = service.bearer(.app).merging(["Content-Type": "application/json"]) { $1 }
        for path in ["deferred-deeplink/resolve", "deferred-deeplink/click", "events", "erase"] {
            let answer = await service.send(.post, "/v1/\(path)", fields: fields, body: body)
            #expect(answer.isRefusal(400, "INVALID_JSON", field: "body"), "\(path): \(answer.text)")
        }
    }

    @Test("a valid request id is echoed; any other request id is replaced")
    func requestIDs() async throws {
        let service = try await TestService()
        let echoed = await service.send(.get, "/healthz", fields: ["X-Request-ID": "trace-1/a=b"])
        #expect(echoed.field("X-Request-ID") == "trace-1/a=b")
        let bare = KeyKind.allCases.map(service.keyText) + [hex, hex.uppercased()]
        let secrets =
            bare
            + bare.flatMap {
                ["trace/" + $0, "pre-\($0)-post", "xx\($0)yy", "00\($0)ff", "_\($0)_", $0 + "="]
            }
        for unfit in ["", "a b", "\"><script>", String(repeating: "x", count: 129), "ü"] + secrets {
            let made = await service.send(.get, "/healthz", fields: ["X-Request-ID": unfit])
            #expect(made.field("X-Request-ID")?.hasPrefix("req_") == true)
        }
        for secret in secrets { #expect(!service.logLines().joined().contains(secret)) }
        let innocent = [String(hex.dropLast()), "app_" + String(repeating: "a", count: 42), "test_run-0001"]
        for fit in innocent {
            let echoed = await service.send(.get, "/healthz", fields: ["X-Request-ID": fit])
            #expect(echoed.field("X-Request-ID") == fit)
        }
        let first = await service.send(.get, "/healthz").field("X-Request-ID")
        let second = await service.send(.get, "/healthz").field("X-Request-ID")
        #expect(first != second)
    }

    @Test(
        "bytes that never became a request get their error code and a new request id",
        arguments: [
            (Rejection.Kind.malformed, 400, "BAD_REQUEST"), (.bodyTooLarge, 413, "BODY_TOO_LARGE"),
            (.targetTooLong, 414, "URI_TOO_LONG"), (.fieldsTooLarge, 431, "HEADERS_TOO_LARGE"),
            (.overloaded, 503, "UNAVAILABLE"), (.tooSlow, 408, "REQUEST_TIMEOUT"),
        ]
    )
    func rejections(kind: Rejection.Kind, status: Int, code: String) async throws {
        let service = try await TestService()
        let answer = await service.reject(kind)
        #expect(answer.status == status)
        #expect(answer.member("error_code") == code)
        #expect(answer.field("X-Request-ID") != nil)
        // Without this field the browser would hide the response from a page that sent too much.
        #expect(answer.field("Access-Control-Allow-Origin") == "*")
    }

    @Test("503 has Retry-After, which differs between callers")
    func retryAfter() async throws {
        let service = try await TestService()
        var delays: Set<String> = []
        for microsecond in UInt64(0)..<9 {
            let moment = MonotonicTime(nanoseconds: 5_000_000_000 + microsecond * 1000)
            let answer = await service.reject(.overloaded, at: moment)
            let seconds = try #require(answer.field("Retry-After"))
            #expect(answer.text.contains("\"retry_after\":\(seconds)"))
            delays.insert(seconds)
        }
        #expect(delays == ["1", "2", "3"])
    }
}

@Suite("Pages of other origins")
struct CrossOriginTests {
    private static let listing = App.Settings(name: "Shop", allowedOrigins: ["https://shop.example"])
    private let prefixes = ["/v1/deferred-deeplink", "/deferred-deeplink", "/api/v1/deferred-deeplink"]

    @Test("preflights succeed under all prefixes, for any origin, without credentials")
    func preflight() async throws {
        let service = try await TestService()
        for path in prefixes + prefixes.map({ $0 + "/click" }) {
            let fields = ["Origin": "https://shop.example", "Access-Control-Request-Method": "POST"]
            let allowed = [
                "Access-Control-Allow-Origin: *", "Access-Control-Allow-Methods: GET, POST",
                "content-type, authorization, x-sdk-version, x-request-id",
            ]
            let answer = await service.send(.options, path, fields: fields)
            answer.expect(204, holds: allowed, lacks: ["Access-Control-Allow-Credentials"])
        }
        let admin = await service.send(.options, "/admin/stats", fields: ["Origin": "https://shop.example"])
        #expect(admin.field("Access-Control-Allow-Origin") == nil)
    }

    @Test("an app that lists origins lets only those origins read responses and post without a key")
    func listedOrigins() async throws {
        let service = try await TestService(Self.listing)
        for (origin, status) in [("https://shop.example", 201), ("https://evil.example", 403), ("null", 403)]
        {
            let reply = await service.click(fields: ["Origin": origin])
            #expect(reply.status == status, "\(origin)")
            #expect(reply.field("Access-Control-Allow-Origin") == (status == 201 ? origin : nil))
            #expect(reply.field("Vary") == "Origin")
        }
        #expect(await service.click().status == 403)
        let both = ["Origin": "https://shop.example", "origin": "https://evil.example"]
        let repeated = await service.click(fields: both)
        #expect(repeated.status == 400 && repeated.member("field") == "Origin")
        let other = anyClick.replacing(hex, with: String(repeating: "b", count: 64))
        #expect(await service.click(other, fields: service.bearer(.server)).status == 201)
        let evil = ["Origin": "https://evil.example"]
        let preflight = await service.send(.options, "/v1/deferred-deeplink/click", fields: evil)
        #expect(preflight.field("Access-Control-Allow-Origin") == nil)
    }

    @Test("a page of another origin can read errors, too")
    func errors() async throws {
        let service = try await TestService()
        let fields = ["Origin": "https://shop.example"]
        let reply = await service.send(.get, "/v1/deferred-deeplink", fields: fields)
        #expect(reply.status == 401)
        #expect(reply.field("Access-Control-Allow-Origin") == "*")
        let wrongMethod = await service.send(.delete, "/v1/deferred-deeplink/click", fields: fields)
        #expect(wrongMethod.status == 405)
        #expect(wrongMethod.field("Access-Control-Allow-Origin") == "*")
    }

    @Test(
        "if an app lists origins, only these can read the rejection of bytes that never became a request",
        arguments: [
            ("https://shop.example", "https://shop.example"), ("https://evil.example", nil), (nil, nil),
        ] as [(String?, String?)]
    )
    func rejections(origin: String?, allowed: String?) async throws {
        let service = try await TestService(Self.listing)
        for kind in [Rejection.Kind.bodyTooLarge, .tooSlow, .targetTooLong, .fieldsTooLarge] {
            let answer = await service.reject(kind, origin: origin)
            #expect(answer.field("Access-Control-Allow-Origin") == allowed)
            #expect(answer.field("Vary") == "Origin")
            #expect(answer.field("Access-Control-Allow-Credentials") == nil)
        }
    }
}

@Suite("The app of a click")
struct ClickOwnerTests {
    @Test(
        "a click's app is the key's, else the body's, else the origin's; if several apps fit, it gets 400"
    )
    func owners() async throws {
        let service = try await TestService()
        let origin = ["Origin": "https://other.example"]
        let settings = App.Settings(name: "Other", allowedOrigins: ["https://other.example"])
        let other = try await service.addApp(settings)
        let unclear = await service.click()
        #expect(unclear.status == 400 && unclear.member("field") == "app")
        let named = #"{"app":"\#(other.app.text)","# + anyClick.dropFirst()
        #expect(await service.click(named, fields: origin).status == 201)
        let byOrigin = origin.merging(["User-Agent": "B/1"]) { $1 }
        #expect(await service.click(fields: byOrigin).status == 201)
        #expect(await service.click(fields: other.bearer).status == 200)
        let foreign = await service.click(named, fields: service.bearer(.app))
        #expect(foreign.isRefusal(403, "FORBIDDEN"), "\(foreign.text)")
        let report = try await service.report(StatisticsQuery(app: other.app))
        #expect(report.totals[.clicks] == 2)
    }

    @Test("a click that is posted to a link host belongs to the only app with this host")
    func ownerByHost() async throws {
        let service = try await TestService()
        var settings = App.Settings(name: "Other")
        settings.links.hosts = [try #require(LinkHost("go.other.example"))]
        let other = try await service.addApp(settings)
        #expect(await service.click(fields: ["Host": "go.other.example"]).status == 201)
        #expect(await service.click(fields: ["Host": "else.example"]).status == 400)
        #expect(try await service.report(StatisticsQuery(app: other.app)).totals[.clicks] == 1)
    }
}
