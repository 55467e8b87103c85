import Attribution
import DomainFiles
import Foundation
import HTTPServer
import Server
import Support
import Synchronization
import Testing

/// A server on the loopback address serves the files of link hosts, and Apple's and Google's copies of them.
@Suite("The monitor of domain file copies", .blocking)
struct DomainFileMonitorTests {
    private static let fingerprint = (0..<32).map { _ in "AB" }.joined(separator: ":")
    private static let apple = """
        {"applinks":{"details":[{"appIDs":["ABCDE12345.com.example.shop"],"components":[\(components)]}]}}
        """
    /// The components that the service writes, with other comments, which are not compared.
    private static let components = AppLinks().components.map { component in
        #"{"/":"\#(component.path ?? "")","exclude":\#(component.excludes),"comment":"x"}"#
    }.joined(separator: ",")
    private static let google = #"""
        [{"relation":["delegate_permission/common.handle_all_urls"],"target":{"namespace":"android_app",
          "package_name":"com.example.shop","sha256_cert_fingerprints":["\#(fingerprint)"]}}]
        """#
    private static let googleCopy = #"""
        {"statements":[{"source":{"web":{"site":"https://localhost."}},
          "relation":"delegate_permission/common.handle_all_urls","target":{"androidApp":{
          "packageName":"com.example.shop","certificate":{"sha256Fingerprint":"\#(fingerprint)"}}}}],"maxAge":"599s"}
        """#

    /// The server's pages, which a test may change.
    private final class Pages: Sendable {
        private let bodies = Mutex<[String: String]>([:])

        subscript(path: String) -> String? {
            get { bodies.withLock { $0[path] } }
            set { bodies.withLock { $0[path] = newValue } }
        }
    }

    private struct Site {
        let pages = Pages()
        let watch: DomainFileMonitor
        let outgoing: OutgoingRequests
        let directory: Directory
        private let server: RawTLSServer
        private let folder: TemporaryFolder

        init() throws {
            let certificate = try TestCertificate("localhost")
            folder = try TemporaryFolder()
            let roots = folder.file("roots.pem")
            try Data(certificate.certificate).write(to: URL(filePath: roots))
            let pages = pages
            server = try RawTLSServer(certificate) { connection in
                let words = connection.readHead().split(separator: " ")
                let body = words.dropFirst().first.flatMap { pages[String($0)] }
                let text = body ?? ""
                connection.write(
                    "HTTP/1.1 \(body == nil ? 404 : 200) x\r\nContent-Type: application/json\r\n"
                        + "Content-Length: \(text.utf8.count)\r\n\r\n\(text)"
                )
            }
            let port = server.port
            outgoing = OutgoingRequests(
                HTTPSClient(
                    bounds: HTTPSClient.Bounds(time: .seconds(Polling.seconds)),
                    roots: roots,
                    // Every name and port leads to the one server of the test.
                    lookup: { _, _ in [PeerAddress(ipv4: 0x7F00_0001, port: port)] },
                    permits: { _ in true }
                )
            )
            var copies = DomainFileMonitor.Copies()
            copies.apple = "https://localhost/apple/{host}"
            copies.google = "https://localhost/google?site=https://{host}"
            watch = DomainFileMonitor(copies)
            var links = AppLinks()
            links.hosts = ["localhost"].compactMap { LinkHost($0) }
            links.apple.teamID = "ABCDE12345"
            links.apple.bundleIDs = ["com.example.shop"]
            links.android.package = "com.example.shop"
            links.android.certificateFingerprints = [DomainFileMonitorTests.fingerprint]
            let app = App(
                id: AppID(high: 1, low: 1),
                settings: App.Settings(name: "shop", links: links),
                createdAt: Timestamp(milliseconds: 0)
            )
            directory = Directory(apps: [app], keys: [])
            pages[DomainFile.apple.path] = DomainFileMonitorTests.apple
            pages[DomainFile.google.path] = DomainFileMonitorTests.google
            pages["/apple/localhost"] = DomainFileMonitorTests.apple
            pages["/google?site=https://localhost"] = DomainFileMonitorTests.googleCopy
        }

        func poll(_ lines: LoggedBytes, at seconds: Int64) throws {
            let log = try Log(format: .text, clock: .fixed(Timestamp(milliseconds: 0))) { lines.append($0) }
            watch.pollAll(directory, by: outgoing, at: Timestamp(milliseconds: seconds * 1000), log)
            log.flush()
        }
    }

    @Test("the monitor finds four current copies, and logs nothing")
    func current() throws {
        let (site, lines) = (try Site(), LoggedBytes())
        try site.poll(lines, at: 1)
        #expect(site.watch.all.map(\.holder) == [.apple, .live, .google, .live])
        #expect(site.watch.all.map(\.state) == Array(repeating: .current, count: 4))
        #expect(lines.text.isEmpty, "\(lines.text)")
    }

    @Test("the monitor logs once that a copy differs, and once that the copy is current again")
    func differs() throws {
        let (site, lines) = (try Site(), LoggedBytes())
        try site.poll(lines, at: 1)
        site.pages["/apple/localhost"] = Self.apple.replacing("example.shop", with: "example.old")
        site.pages["/google?site=https://localhost"] = "{}"
        site.pages[DomainFile.apple.path] = Self.apple.replacing(#""/":"*""#, with: #""/":"/p/*""#)
        try site.poll(lines, at: 2)
        try site.poll(lines, at: 3)
        let states = site.watch.all
        guard case .differs(let copy) = states[0].state, case .differs(let live) = states[1].state,
            case .differs(let google) = states[2].state
        else {
            Issue.record("\(states)")
            return
        }
        #expect(
            copy == [
                "ABCDE12345.com.example.shop is missing under applinks",
                "ABCDE12345.com.example.old is unexpected under applinks",
            ]
        )
        #expect(live == ["the rules of ABCDE12345.com.example.shop differ"])
        #expect(google.count == 1 && google[0].contains("com.example.shop"))
        #expect(states.map(\.since.milliseconds) == [2000, 2000, 2000, 1000])
        #expect(
            lines.text.components(separatedBy: "differs from this service's file").count == 4,
            "\(lines.text)"
        )
        site.pages["/apple/localhost"] = Self.apple
        try site.poll(lines, at: 4)
        #expect(lines.text.contains("Apple's copy of the apple-app-site-association of localhost is correct"))
    }

    @Test("the monitor logs which copies it could not read, and continues with the rest")
    func unread() throws {
        let (site, lines) = (try Site(), LoggedBytes())
        site.pages["/apple/localhost"] = nil
        site.pages["/google?site=https://localhost"] = "no JSON"
        try site.poll(lines, at: 1)
        let states = site.watch.all.map(\.state)
        guard case .unknown(let reason) = states[0], case .unknown = states[2] else {
            Issue.record("\(states)")
            return
        }
        #expect(reason.contains("404"))
        #expect(states[1] == .current && states[3] == .current)
        #expect(lines.text.contains("could not be read"))
    }

    @Test("the monitor forgets hosts that no app lists any more, and stops on request")
    func forgets() throws {
        let (site, lines) = (try Site(), LoggedBytes())
        let log = try Log(format: .text, clock: .fixed(Timestamp(milliseconds: 0))) { lines.append($0) }
        site.watch.pollAll(
            site.directory,
            by: site.outgoing,
            at: Timestamp(milliseconds: 0),
            log,
            unless: { true }
        )
        #expect(site.watch.all.isEmpty)
        try site.poll(lines, at: 1)
        let empty = Directory(apps: [], keys: [])
        site.watch.pollAll(empty, by: site.outgoing, at: Timestamp(milliseconds: 0), log)
        #expect(site.watch.all.isEmpty)
    }

    @Test("statistics and metrics contain the monitor's results; without a monitor, metrics omit them")
    func isTold() async throws {
        let (site, lines) = (try Site(), LoggedBytes())
        site.pages["/google?site=https://localhost"] = "{}"
        site.pages[DomainFile.google.path] = nil
        try site.poll(lines, at: 1)
        let watch = site.watch
        let service = try await TestService { $0.domainWatch = watch }
        let stats = await service.send(.get, "/admin/stats", fields: service.bearer(.admin)).text
        for words in [
            #""host":"localhost","file":"apple-app-site-association","copy":"apple","state":"current""#,
            #""copy":"google","state":"differs","differences":["#,
            #""copy":"live","state":"unknown","reason":"The response has the status 404""#,
        ] { #expect(stats.contains(words), "\(stats)") }
        let metrics = await service.send(.get, "/metrics", fields: service.bearer(.admin)).text
        for (copy, file, drift, unread) in [
            ("google", "assetlinks.json", 1, 0), ("live", "assetlinks.json", 0, 1),
            ("apple", "apple-app-site-association", 0, 0),
        ] {
            let labels = #"{host="localhost",file="\#(file)",copy="\#(copy)"}"#
            #expect(metrics.contains("afterlink_domain_file_drift\(labels) \(drift)\n"))
            #expect(metrics.contains("afterlink_domain_file_unreadable\(labels) \(unread)\n"))
        }
        let without = try await TestService()
        let other = await without.send(.get, "/metrics", fields: without.bearer(.admin)).text
        #expect(!other.contains("domain_file"))
    }
}
