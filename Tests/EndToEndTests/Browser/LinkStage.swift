import Attribution
import Foundation
import SQLite
import Support
import Synchronization
import Testing

/// A server with an app and links, and a browser that reaches it as `https://go.shop.example`.
///
/// The server uses TLS with a self-signed certificate, because browsers restrict pages that are not secure.
final class LinkStage: Sendable {
    static let host = "go.shop.example"
    static let origin = "https://\(host)"
    static let appStore = "https://apps.apple.com/app/id1234567890"
    static let playStore = "https://play.google.com/store/apps/details?id=com.example.shop"

    let installation: Installation
    let browser: Chromium
    private let server: AfterlinkProcess

    init() throws {
        installation = try Installation()
        let words = [
            "apps", "set", "--name", "Shop", "--link-host", Self.host, "--ios-scheme", "shopapp",
            "--android-scheme", "shopapp", "--ios-store-id", "1234567890", "--android-package",
            "com.example.shop", "--icon", "https://shop.example/icon.svg", "--color", "#1a7f37",
        ]
        let output = try installation.run(words)
        guard output.status == 0 else { throw ChildProcess.Failure(description: output.errors) }
        let files = try CertificateFiles(in: installation.folder)
        server = try AfterlinkProcess(installation, files.arguments)
        browser = try Chromium(hosts: [Self.host], port: server.port)
    }

    func connect() throws -> HTTPTestClient { try server.connect(tls: TLSClientSettings()) }

    /// Returns the response to the first launch on a phone with an SDK of this form.
    func launch(on phone: Handset, hashing form: FingerprintForm) throws -> HTTPTestClient.Reply {
        try connect().check(phone.fingerprint(form), fields: phone.fields)
    }

    func close() {
        browser.close()
        server.kill()
    }

    /// Creates a link.
    ///
    /// - Parameters:
    ///   - slug: the slug, which is also the campaign key.
    ///   - fields: the other fields, in JSON.
    /// - Returns: the link, which no visitor has opened yet.
    /// - Throws: a failure with the response if the server refuses the link.
    func link(_ slug: String, _ fields: String = "") throws -> StagedLink {
        let body = #"{"slug":"\#(slug)","destination":"/promo/\#(slug)","campaign_key":"\#(slug)"\#(fields)}"#
        let reply = try connect().call(
            "POST",
            "/admin/api/links",
            fields: [
                "Authorization": "Bearer \(installation.keys.admin)", "Content-Type": "application/json",
            ],
            body: body
        )
        guard reply.status == 201, let id = reply.string("id") else {
            throw ChildProcess.Failure(description: reply.text)
        }
        return StagedLink(stage: self, slug: slug, id: id)
    }
}

/// One of the stage's links.
struct StagedLink {
    /// The stored values of a click.
    struct Click: Equatable {
        /// The canonical values in words.
        let signals: String?
        let source: String
        /// The number of the click's fingerprints.
        let fingerprintCount: Int
        let isRobot: Bool
    }

    let stage: LinkStage
    let slug: String
    let id: String

    var url: String { "\(LinkStage.origin)/\(slug)" }

    func visit(by visitor: BrowserVisitor) throws -> BrowserTab {
        try BrowserTab(in: stage.browser, as: visitor)
    }

    /// Returns one of the link's counts by its name in JSON; nil if there is none.
    func counted(_ name: String) throws -> Int? {
        try stage.connect().get("/admin/api/links/\(id)", key: stage.installation.keys.admin).json[name]
            as? Int
    }

    /// The link's clicks on disk, the oldest first.
    func clicks() throws -> [Click] {
        let connection = try stage.installation.open()
        return try connection.statement(
            """
            SELECT signals, source, length(fingerprints) / 16, is_robot FROM clicks
            WHERE link = (SELECT number FROM links WHERE slug = ?1) ORDER BY id
            """
        ).all(slug) { row in
            Click(
                signals: row.optionalText(0),
                source: row.text(1),
                fingerprintCount: Int(row.integer(2)),
                isRobot: row.integer(3) != 0
            )
        }
    }
}

/// Gives a suite one stage, from its first test to the end of its last test.
struct LinkStageTrait: SuiteTrait, TestScoping {
    /// The shared state of the suite's tests.
    final class Shared: Sendable {
        private let made = Mutex<Result<LinkStage, any Error>?>(nil)

        /// Returns the stage, which the first test creates; if that failed, throws the failure in every test.
        func stage() throws -> LinkStage {
            try made.withLock { made in
                let result = made ?? Result { try LinkStage() }
                made = result
                return result
            }.get()
        }

        func strike() {
            guard let result = made.withLock({ $0 }) else { return }
            try? result.get().close()
        }
    }

    @TaskLocal static var shared: Shared?

    @concurrent
    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let shared = Shared()
        defer { shared.strike() }
        try await Self.$shared.withValue(shared) { try await function() }
    }
}

extension Trait where Self == LinkStageTrait {
    /// The tests share one browser and one server.
    static var linkStage: Self { Self() }
}

extension LinkStage {
    /// The stage of the suite that runs.
    static var current: LinkStage { get throws { try #require(LinkStageTrait.shared).stage() } }
}
