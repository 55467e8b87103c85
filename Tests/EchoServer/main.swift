import Foundation
import HTTPServer

// Usage: EchoServer --listen ADDRESS:PORT [--loops N] [--maximum-connections N]
//                   [--header-timeout SECONDS] [--idle-timeout SECONDS]
//                   [--tls-certificate FILE --tls-key FILE]

/// Returns the argument after an option on the command line.
func option(_ name: String) -> String? {
    guard let index = CommandLine.arguments.firstIndex(of: name) else { return nil }
    return CommandLine.arguments.dropFirst(index + 1).first
}

func fail(_ message: String) -> Never {
    print("EchoServer: \(message)")
    exit(2)
}

guard let address = ListenAddress(option("--listen") ?? "127.0.0.1:8080") else {
    fail("--listen takes ADDRESS:PORT")
}
var configuration = HTTPServerConfiguration(
    listenAddress: address,
    loopCount: option("--loops").flatMap { Int($0) } ?? 0
)
if let count = option("--maximum-connections").flatMap({ Int($0) }) {
    configuration.maximumConnections = count
}
if let seconds = option("--header-timeout").flatMap({ Double($0) }) {
    configuration.timeouts.header = .seconds(seconds)
}
if let seconds = option("--idle-timeout").flatMap({ Double($0) }) {
    configuration.timeouts.idle = .seconds(seconds)
}

if let certificate = option("--tls-certificate"), let key = option("--tls-key") {
    do {
        configuration.tls = try TLSTermination(
            certificatePEM: Array(Data(contentsOf: URL(filePath: certificate))),
            keyPEM: Array(Data(contentsOf: URL(filePath: key)))
        )
    } catch {
        fail("--tls-certificate and --tls-key: \(error)")
    }
}

// Block the signals before the first thread starts, so that only this thread gets them.
var signals = sigset_t()
unsafe sigemptyset(&signals)
unsafe sigaddset(&signals, SIGTERM)
unsafe sigaddset(&signals, SIGINT)
unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)

do {
    let server = try WebServer(configuration) { _, _ in EchoHandler() }
    try server.start()
    print("listening on \(configuration.tls == nil ? "http" : "https")://\(server.addressText)")
    // Flush all streams, because Swift refuses the name `stdout`, which is shared mutable state.
    fflush(nil)
    var received: Int32 = 0
    unsafe sigwait(&signals, &received)
    server.stop(within: .seconds(5))
} catch {
    fail(error.message)
}
