import Attribution
import DomainFiles
import Foundation
import HTTPServer
import JSON
import Server
import Support
import Testing

/// Fetches domain files over TLS from a server on the loopback address, which only tests may call.
@Suite("Fetched domain files", .blocking)
struct DomainCheckTests {
    private static let apple =
        #"{"applinks":{"details":[{"appIDs":["ABCDE12345.com.example.app"],"components":[{"/":"/p/*"}]}]}}"#
    private static let google = #"""
        [{"relation":["delegate_permission/common.handle_all_urls"],"target":{"namespace":"android_app",
          "package_name":"com.example.app","sha256_cert_fingerprints":["\#((0..<32).map { _ in "AB" }.joined(separator: ":"))"]}}]
        """#

    /// A server with a response for each given path and 404 for other paths, and a client that by default trusts it.
    private struct Site {
        let server: RawTLSServer
        let client: HTTPSClient
        private let folder: TemporaryFolder

        init(_ answers: [String: String], certificate: TestCertificate?, trusted: TestCertificate?) throws {
            let certificate = try certificate ?? TestCertificate("localhost")
            folder = try TemporaryFolder()
            let roots = folder.file("roots.pem")
            try Data((trusted ?? certificate).certificate).write(to: URL(filePath: roots))
            server = try RawTLSServer(certificate) { connection in
                let words = connection.readHead().split(separator: " ")
                let path = words.dropFirst().first.map(String.init) ?? ""
                connection.write(
                    answers[path] ?? DomainCheckTests.response("404 Not Found", "text/plain", "no")
                )
            }
            client = HTTPSClient(
                bounds: HTTPSClient.Bounds(time: .seconds(Polling.seconds)),
                roots: roots,
                lookup: { _, port in [PeerAddress(ipv4: 0x7F00_0001, port: port)] },
                permits: { _ in true }
            )
        }
    }

    private func check(
        _ answers: [String: String],
        url: AssociationURL? = nil,
        certificate: TestCertificate? = nil,
        trusted: TestCertificate? = nil
    ) throws -> DomainValidation {
        let site = try Site(answers, certificate: certificate, trusted: trusted)
        return try #require(
            DomainValidation.ofHost("localhost:\(site.server.port)", url: url, by: site.client)
        )
    }

    private static func response(
        _ status: String = "200 OK",
        _ type: String? = "application/json",
        _ body: String,
        more: String = ""
    ) -> String {
        "HTTP/1.1 \(status)\r\n" + (type.map { "Content-Type: \($0)\r\n" } ?? "") + more
            + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    private static let appPath = DomainFile.apple.path
    private static let googlePath = DomainFile.google.path

    @Test("files are valid if their delivery meets Apple's and Google's rules")
    func good() throws {
        let check = try check(
            [
                Self.appPath: Self.response("200 OK", "application/json; charset=utf-8", Self.apple),
                Self.googlePath: Self.response("200 OK", "application/json", Self.google),
            ],
            url: AssociationURL("/p/1")
        )
        #expect(check.files.map(\.findings) == [[], []])
        #expect(!check.hasErrors)
        let url = try #require(check.url)
        #expect(check.files.map { $0.decisions(for: url).map(\.outcome) } == [[.opensApp], [.byManifest]])
        let json = check.json().text
        #expect(json.contains(#""ok":true"#) && json.contains(#""outcome":"opens_app""#))
    }

    @Test(
        "a file gets a finding for each fault of its delivery",
        arguments: [
            (response("404 Not Found", "text/html", "no"), AssociationFinding.Kind.status),
            (response("500 Oops", nil, ""), .status), (response("204 No Content", nil, ""), .status),
            (response("301 Moved", nil, "", more: "Location: https://www.example.com/x\r\n"), .redirect),
            (response("307 Moved", nil, "", more: "Location: /x\r\n"), .redirect),
            (response("200 OK", "text/plain", google), .wrongContentType),
            (response("200 OK", nil, google), .noContentType),
            (response("200 OK", "application/jsonx", google), .wrongContentType),
            (
                response("200 OK", "application/json", google, more: "Content-Encoding: gzip\r\n"),
                .contentEncoding
            ),
            (response("200 OK", "application/json", String(repeating: " ", count: 140_000)), .sizeUnknown),
            ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na", .unreachable),
            ("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n", .unreachable), ("", .unreachable),
            (response("200 OK", "application/json", "["), .json),
        ]
    )
    func delivery(answer: String, kind: AssociationFinding.Kind) throws {
        let check = try check([Self.googlePath: answer])
        let file = try #require(check.files.first { $0.kind == .google })
        #expect(file.findings.contains { $0.kind == kind }, "\(file.findings)")
        #expect(file.hasErrors && check.hasErrors)
    }

    @Test("the finding for a redirect says where the redirect leads")
    func redirect() throws {
        let check = try check([
            Self.googlePath: Self.response(
                "302 Found",
                nil,
                "",
                more: "Location: https://www.example.com/x\r\n"
            )
        ])
        let finding = try #require(check.files.last?.findings.first)
        #expect(finding.problem.contains("https://www.example.com/x"))
    }

    @Test("a file is found at the root, which Apple tries second, and gets a finding")
    func root() throws {
        let check = try check([
            "/apple-app-site-association": Self.response("200 OK", "application/json", Self.apple)
        ])
        let file = try #require(check.files.first)
        #expect(file.findings.map(\.kind) == [.rootLocation])
        #expect(!file.hasErrors)
        #expect(file.source.hasSuffix("/apple-app-site-association") && !file.source.contains("well-known"))
        let none = try self.check([:])
        #expect(none.files.first?.findings.map(\.kind) == [.status])
        #expect(none.files.first?.source.contains("well-known") == true)
    }

    @Test("a certificate that is untrusted, expired or for another name gets a finding")
    func certificate() throws {
        let other = try check([:], trusted: TestCertificate("localhost"))
        #expect(other.files.map { $0.findings.map(\.kind) } == [[.certificate], [.certificate]])
        let name = try check([:], certificate: TestCertificate("other.example"))
        #expect(name.files.count { $0.findings.first?.problem.contains("hostname mismatch") == true } == 2)
        let expired = try TestCertificate("localhost", validFrom: -7200, validUntil: -60)
        let late = try check([:], certificate: expired)
        #expect(late.files.count { $0.findings.first?.problem.contains("expired") == true } == 2)
    }

    @Test("a file name with an extension gets a finding")
    func fileName() throws {
        let path = "/.well-known/apple-app-site-association.json"
        let site = try Site(
            [path: Self.response("200 OK", "application/json", Self.apple)],
            certificate: nil,
            trusted: nil
        )
        let address = try WebURL(parsing: "https://localhost:\(site.server.port)\(path)")
        let check = DomainValidation.ofURL(address, url: nil, by: site.client)
        #expect(check.files.first?.findings.map(\.kind) == [.fileName])
    }

    @Test(
        "a validation of a wrong host or URL is refused",
        arguments: [
            (#"{"host":"a b"}"#, 422, "INVALID_FIELD"), (#"{}"#, 422, #""field":"host""#),
            (#"{"host":null}"#, 422, #""field":"host""#), (#"{"host":""}"#, 422, #""field":"host""#),
            (#"{"host":"https://a.example"}"#, 422, "INVALID_FIELD"),
            (#"{"host":"a.example/x"}"#, 422, "INVALID_FIELD"),
            (#"{"host":"a.example:443"}"#, 422, "INVALID_FIELD"),
            (#"{"host":"a.example\r\nX: y"}"#, 422, "INVALID_FIELD"),
            (#"{"host":"a.example\u0000"}"#, 422, "INVALID_FIELD"),
            (#"{"host":"user@a.example"}"#, 422, "INVALID_FIELD"),
            (#"{"host":"a.example","url":"https://user@a.example/x"}"#, 422, "INVALID_FIELD"),
            (#"{"host":"a.example","url":"x"}"#, 422, "INVALID_FIELD"), (#"["#, 400, "INVALID_JSON"),
        ]
    )
    func refusals(body: String, status: Int, code: String) async throws {
        let service = try await TestService()
        let answer = await service.admin(.post, "/domains/check", body)
        #expect(answer.status == status && answer.text.contains(code), "\(answer.text)")
    }

    @Test("files are fetched for four requests at a time; a fifth gets 503, and the four get their results")
    func crowded() async throws {
        let release = DispatchSemaphore(value: 0)
        let (begun, begins) = AsyncStream<Void>.makeStream()
        let outgoing = OutgoingRequests(
            HTTPSClient(
                bounds: HTTPSClient.Bounds(time: .seconds(Polling.seconds)),
                lookup: { _, _ in
                    begins.yield()
                    release.wait()
                    // Lets the next call end its wait, too.
                    release.signal()
                    return []
                },
                permits: { _ in false }
            )
        )
        let service = try await TestService { $0.outgoing = outgoing }
        let ask = { @Sendable in await service.admin(.post, "/domains/check", #"{"host":"a.example"}"#) }
        try await withThrowingTaskGroup(of: Answer.self) { group in
            for _ in 0..<4 { group.addTask { await ask() } }
            var iterator = begun.makeAsyncIterator()
            for _ in 0..<4 { await iterator.next() }
            let fifth = await ask()
            #expect(fifth.status == 503 && fifth.field("Retry-After") != nil)
            // Retry-After spreads the callers over several seconds, so the sentence names no number.
            #expect(fifth.member("message")?.contains { $0.isNumber } == false, "\(fifth.text)")
            release.signal()
            for try await answer in group {
                #expect(answer.status == 200 && answer.text.contains("no address"), "\(answer.text)")
            }
        }
        #expect(await ask().status == 200)
    }

    @Test("files are never fetched from a private address, or without an admin key")
    func inside() async throws {
        let service = try await TestService()
        for host in [
            "localhost", "127.0.0.1", "169.254.169.254", "10.0.0.1", "100.100.100.200", "192.168.0.1",
            "224.0.0.1",
            // Other ways to write such addresses, as the system reads them.
            "127.1", "0x7f000001", "2130706433", "0177.0.0.1", "0", "[::1]", "[::]", "[::ffff:127.0.0.1]",
            "[::ffff:a9fe:a9fe]", "[::7f00:1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::a00:1]", "[2002:7f00:1::]",
            "[2002:a9fe:a9fe::1]", "[fe80::1]", "[fd00:ec2::254]", "[ff02::1]", "[2001:0:7f00:1::]",
        ] {
            let answer = await service.admin(.post, "/domains/check", #"{"host":"\#(host)","url":"/x"}"#)
            // A text that is not a host name is not resolved.
            guard answer.status != 422 else { continue }
            #expect(answer.status == 200 && answer.text.contains(#""ok":false"#), "\(host)")
            #expect(answer.text.contains("inside a network"), "\(host): \(answer.text)")
        }
        for (fields, status) in [([:], 401), (service.bearer(.app), 403)] {
            let answer = await service.send(.post, "/admin/api/domains/check", fields: fields, body: "{}")
            #expect(answer.status == status)
        }
    }
}
