import Foundation
import Support
import Synchronization
import Testing

@Suite("SIGHUP with TLS", .blocking)
struct CertificateReloadTests {
    /// Waits until a log has a text this number of times, and sends requests meanwhile.
    private func awaitLog(_ log: URL, _ words: String, count: Int = 1, _ server: AfterlinkProcess) throws {
        let end = Polling.end
        while (try? String(contentsOf: log, encoding: .utf8))?.components(separatedBy: words).count ?? 1
            <= count
        {
            try #require(ContinuousClock.now < end, "the log never contained: \(words)")
            #expect(try server.connect(tls: TLSClientSettings()).get("/healthz").status == 200)
        }
    }

    @Test("SIGHUP under load drops no client, and serves the new certificate unless its file is broken")
    func reloads() throws {
        let installation = try Installation()
        let files = try CertificateFiles(in: installation.folder, "first")
        let server = try AfterlinkProcess(installation, files.arguments)
        let open = try (0..<20).map { _ in try server.connect(tls: TLSClientSettings()) }
        let load = Load(port: server.port)
        let log = installation.folder.appending(path: "server.log")
        for name in ["second", "third"] {
            let renewed = try TestCertificate(name, name == "third" ? .rsa(bits: 2048) : .p256)
            try files.replace(with: renewed)
            server.terminate(with: SIGHUP)
            try awaitLog(log, "get the new certificate", count: name == "second" ? 1 : 2, server)
            #expect(try server.connect(tls: TLSClientSettings()).client.serverName == name)
            for connection in open { #expect(try connection.get("/healthz").status == 200) }
        }
        try files.write(Array("nonsense".utf8), to: files.certificate)
        server.terminate(with: SIGHUP)
        try awaitLog(log, "the one before stays in use", server)
        #expect(
            installation.log.contains(files.certificate) && installation.log.contains("holds no certificate")
        )
        #expect(try server.connect(tls: TLSClientSettings()).client.serverName == "third")
        for connection in open { #expect(try connection.get("/healthz").status == 200) }
        let (requests, failures) = load.stop()
        #expect(requests > 0 && failures.isEmpty, "\(failures.prefix(3))")
    }

    @Test("after SIGHUP with the same certificate, sessions can be resumed")
    func sameCertificate() throws {
        let installation = try Installation()
        let files = try CertificateFiles(in: installation.folder)
        let log = installation.folder.appending(path: "requests.log")
        let server = try AfterlinkProcess(installation, files.arguments + ["--log-file", log.path])
        let first = try server.connect(tls: TLSClientSettings(.tls13))
        #expect(try first.get("/healthz").status == 200)
        let session = try #require(first.client.tlsSession)
        try FileManager.default.moveItem(at: log, to: installation.folder.appending(path: "requests.log.1"))
        server.terminate(with: SIGHUP)
        try awaitLog(log, "the same as before", server)
        #expect(try server.connect(tls: TLSClientSettings(.tls13, resuming: session)).client.isResumed)
    }
}

/// Clients that connect and send requests in a loop, each on a thread of its own.
private final class Load: Sendable {
    private struct State {
        var isStopping = false
        var requests = 0
        var failures: [String] = []
    }

    private let state = Mutex(State())
    private let running = DispatchGroup()

    init(port: UInt16) {
        for number in 0..<4 {
            running.enter()
            Thread.detachNewThread {
                self.run(port, TLSClientSettings(number.isMultiple(of: 2) ? .tls12 : .tls13))
            }
        }
    }

    private func run(_ port: UInt16, _ settings: TLSClientSettings) {
        while !state.withLock(\.isStopping) {
            do {
                let connection = try HTTPTestClient(port: port, tls: settings)
                for _ in 0..<5 {
                    let status = try connection.get("/healthz").status
                    state.withLock { state in
                        state.requests += 1
                        if status != 200 { state.failures.append("status \(status)") }
                    }
                }
            } catch {
                state.withLock { $0.failures.append("\(error)") }
            }
        }
        running.leave()
    }

    func stop() -> (requests: Int, failures: [String]) {
        state.withLock { $0.isStopping = true }
        running.wait()
        return state.withLock { ($0.requests, $0.failures) }
    }
}
