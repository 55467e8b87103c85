import Attribution
import DomainFiles
import HTTPServer
import Server
import Testing

@Suite("Domain files of link hosts")
struct DomainFileEndpointTests {
    private static let apple = "/.well-known/apple-app-site-association"
    private static let google = "/.well-known/assetlinks.json"
    private static let fingerprint = (0..<32).map { _ in "AB" }.joined(separator: ":")
    private static let host = ["Host": "go.example.com"]

    private static func settings(_ name: String = "shop", rules: [String] = []) throws -> App.Settings {
        var links = AppLinks()
        links.hosts = ["go.example.com", "l.example.com"].compactMap { LinkHost($0) }
        links.apple.teamID = "ABCDE12345"
        links.apple.bundleIDs = ["com.example.\(name)"]
        links.apple.appClipIDs = ["com.example.\(name).Clip"]
        links.apple.sharesWebCredentials = true
        links.android.package = "com.example.\(name)"
        links.android.certificateFingerprints = [fingerprint]
        links.rules = try rules.map { try LinkRule(parsing: $0) }
        return App.Settings(name: name, links: links)
    }

    /// Creates a service with these apps, in this order, after an app without a link host.
    private func service(
        _ settings: [App.Settings],
        trustedProxies: [String] = []
    ) async throws -> TestService {
        let service = try await TestService(App.Settings(name: "other"), trustedProxies: trustedProxies)
        for settings in settings { _ = try await service.addApp(settings) }
        return service
    }

    @Test("the files are JSON, Apple's at both of its paths, with everything that the host's apps share")
    func answers() async throws {
        let service = try await service([
            Self.settings(rules: ["exclude /terms", "/p/* ?id=?*"]), Self.settings("news"),
        ])
        for path in [Self.apple, "/apple-app-site-association"] {
            await service.send(.get, path, fields: Self.host).expect(
                200,
                holds: [
                    "Content-Type: application/json", "Cache-Control: public, max-age=3600", "ETag: \"",
                    #""appIDs":["ABCDE12345.com.example.shop"]"#, #"{"/":"/terms","exclude":true}"#,
                    #"{"/":"/p/*","?":{"id":"?*"}}"#, #""appIDs":["ABCDE12345.com.example.news"]"#,
                    #""webcredentials":{"apps":["ABCDE12345.com.example.shop","ABCDE12345.com.example.news"]}"#,
                    #""appclips":{"apps":["ABCDE12345.com.example.shop.Clip""#,
                ],
                lacks: ["Location", "charset"]
            )
        }
        await service.send(.get, Self.google, fields: ["Host": "l.example.com:8443"]).expect(
            200,
            holds: [
                "Content-Type: application/json",
                #"{"namespace":"web","site":"https://l.example.com"}"#,
                #""package_name":"com.example.shop","sha256_cert_fingerprints":["\#(Self.fingerprint)"]"#,
                #""relation_extensions":{"delegate_permission/common.handle_all_urls":{"dynamic_app_link_components":"#,
            ],
            lacks: ["Location"]
        )
    }

    @Test("the files pass every rule for other hosts' files, and decide a URL as the apps' rules say")
    func areSound() async throws {
        let service = try await service([
            Self.settings(rules: ["exclude /terms", "/p/*"]), Self.settings("news"),
        ])
        let url = try #require(AssociationURL("/terms"))
        for path in [Self.apple, Self.google] {
            let answer = await service.send(.get, path, fields: Self.host)
            let check = DomainFileValidation(nil, Array(answer.text.utf8), from: path)
            #expect(check.findings == [])
            let outcomes = check.decisions(for: url).map(\.outcome)
            #expect(outcomes == [.excluded, path == Self.apple ? .opensApp : .byManifest])
        }
    }

    @Test("the files are the same bytes each time, and are not sent again to a client that has them")
    func tags() async throws {
        let service = try await service([Self.settings()])
        for path in [Self.apple, Self.google] {
            let first = await service.send(.get, path, fields: Self.host)
            #expect(await service.send(.get, path, fields: Self.host).text == first.text)
            let tag = try #require(first.field("ETag"))
            for named in [tag, "W/\(tag)", "\"x\", \(tag)", "*"] {
                let fields = Self.host.merging(["If-None-Match": named]) { $1 }
                let again = await service.send(.get, path, fields: fields)
                #expect(again.status == 304 && again.text.isEmpty && again.field("ETag") == tag, "\(named)")
            }
            for other in ["\"x\"", "W/*", "\"x\", *", "*, \"x\"", "*, *"] {
                let fields = Self.host.merging(["If-None-Match": other]) { $1 }
                #expect(await service.send(.get, path, fields: fields).status == 200, "\(other)")
            }
            let head = await service.send(.head, path, fields: Self.host)
            #expect(head.status == 200 && head.field("ETag") == tag)
        }
    }

    @Test("a host that no app lists gets 404 with advice")
    func unknownHosts() async throws {
        let service = try await service([Self.settings()])
        for path in [Self.apple, Self.google] {
            let other = await service.send(.get, path, fields: ["Host": "other.example.com"])
            other.expect(404, holds: ["other.example.com", "--link-host"], lacks: ["com.example.shop"])
            await service.send(.get, path).expect(404, holds: ["host name"])
        }
    }

    @Test("X-Forwarded-Host selects the files if a trusted proxy sends it, but not if another client does")
    func forwardedHost() async throws {
        let fields = ["Host": "inside", "X-Forwarded-Host": "evil.example.com, go.example.com"]
        let trusting = try await service([Self.settings()], trustedProxies: ["127.0.0.0/8"])
        #expect(await trusting.send(.get, Self.apple, fields: fields).status == 200)
        let other = try await service([Self.settings()])
        #expect(await other.send(.get, Self.apple, fields: fields).status == 404)
    }

    @Test("a file that is longer than Apple reads gets 500, with the reason")
    func tooLong() async throws {
        let rules = (0..<100).map { "/\($0)" + String(repeating: "x", count: 450) }
        let service = try await service((0..<3).map { try Self.settings("shop\($0)", rules: rules) })
        let answer = await service.send(.get, Self.apple, fields: Self.host)
        answer.expect(500, holds: ["131072", "fewer rules"])
    }
}
