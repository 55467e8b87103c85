import Support
import Testing

@Suite("The operator's limits of a request", .blocking)
struct LimitSettingsTests {
    private static let settings = [
        "--limit-target", "256", "--limit-fields", "1024", "--limit-field-count", "8", "--limit-body", "1024",
        "--limit-requests", "2",
    ]

    /// Requests at a limit and beyond it, with their status.
    private static let requests: [(name: String, bytes: String, status: Int)] = [
        ("target", "GET \(target(256)) HTTP/1.1\r\nHost: a\r\n\r\n", 404),
        ("target", "GET \(target(257)) HTTP/1.1\r\nHost: a\r\n\r\n", 414),
        ("fields", "GET / HTTP/1.1\r\n\(fields(1024))\r\n", 404),
        ("fields", "GET / HTTP/1.1\r\n\(fields(1025))\r\n", 431),
        ("field count", "GET / HTTP/1.1\r\nHost: a\r\n\(String(repeating: "A: b\r\n", count: 7))\r\n", 404),
        ("field count", "GET / HTTP/1.1\r\nHost: a\r\n\(String(repeating: "A: b\r\n", count: 8))\r\n", 431),
        ("body", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1024\r\n\r\n\(text(1024))", 404),
        ("body", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1025\r\n\r\n", 413),
    ]

    private static func text(_ count: Int) -> String { String(repeating: "x", count: count) }
    private static func target(_ count: Int) -> String { "/" + text(count - 1) }

    /// Returns field lines with this number of bytes.
    private static func fields(_ count: Int) -> String {
        let (host, name) = ("Host: a\r\n", "A: ")
        return host + name + text(count - host.utf8.count - name.utf8.count - 2) + "\r\n"
    }

    @Test("an operator's limits are exact, and the last response of a connection announces the close")
    func limits() throws {
        let server = try AfterlinkProcess(Installation(), Self.settings)
        for (name, bytes, status) in Self.requests {
            let client = try RawClient(port: server.port)
            client.send(bytes)
            #expect(try client.answer().status == status, "\(name)")
        }
        let client = try RawClient(port: server.port)
        client.send(String(repeating: "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n", count: 3))
        #expect(try client.answer().field("connection") == nil)
        #expect(try client.answer().field("connection") == "close")
        #expect(try client.rest() == "")
    }
}
