import HTTPServer
import Support

/// A server over TLS on a free port of the loopback address, which runs during one test.
struct TLSServer {
    let termination: TLSTermination
    private let inner: TestServer

    /// Runs a closure with a server, of one loop by default, and then stops the server.
    static func run(
        _ certificate: TestCertificate? = nil,
        _ configure: (inout HTTPServerConfiguration) -> Void = { _ in },
        answer: @escaping @Sendable (Request) async -> Response = { Response(.ok, text: Machine.line($0)) },
        during test: (TLSServer) async throws -> Void
    ) async throws {
        let certificate = try certificate ?? TestCertificate()
        let termination = try TLSTermination(certificatePEM: certificate.certificate, keyPEM: certificate.key)
        try await TestServer.run(
            { configuration in
                configuration.tls = termination
                configure(&configuration)
            },
            answer: answer,
            during: { try await test(TLSServer(termination: termination, inner: $0)) }
        )
    }

    var webServer: WebServer { inner.server }
    var port: UInt16 { inner.server.port }
    var statistics: Statistics { inner.server.statistics }

    func connect(_ settings: TLSClientSettings = TLSClientSettings()) throws -> RawClient {
        try RawClient(port: port, tls: settings)
    }

    /// Opens a connection that has not started a handshake.
    func connectWithoutTLS(receiveBufferByteCount: Int32? = nil) throws -> RawClient {
        try RawClient(port: port, receiveBufferByteCount: receiveBufferByteCount)
    }

    /// Uses another certificate from the next handshake on; returns whether it differs from the previous one.
    func show(_ certificate: TestCertificate) throws -> Bool {
        try termination.replace(certificatePEM: certificate.certificate, keyPEM: certificate.key)
    }

    /// Opens a connection, sends a request on it and reads the whole response.
    func visit(_ settings: TLSClientSettings = TLSClientSettings()) throws -> RawClient {
        let client = try connect(settings)
        guard try client.ask(Self.get).status == 200 else { throw RawClient.Failure.malformed("not 200") }
        return client
    }

    static let get = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n"
}
