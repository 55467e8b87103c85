import Support
import Testing

@Suite("Statistics during clicks", .blocking)
struct StatisticsBesideClicksTests {
    private static let request = "GET /admin/stats HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer "

    @Test("delay no click, however often they are requested")
    func clicksGoOn() throws {
        let (installation, server, connection) = try Installation.serving()
        let askers = try (0..<4).map { _ in try RawClient(port: server.port, patienceMilliseconds: 60_000) }
        let request = Self.request + "\(installation.keys.admin)\r\n\r\n"
        for asker in askers { asker.send(String(repeating: request, count: 50)) }
        let statuses = try (1...40).map { try connection.click(fingerprint($0)).status }
        // If each click waited for statistics, hardly one would be recorded within its second; on a busy machine, a few
        // may not be.
        #expect(statuses.allSatisfy { $0 == 201 || $0 == 503 })
        #expect(statuses.count { $0 == 201 } > 30)
        for asker in askers { for _ in 0..<50 { #expect(try asker.answer().status == 200) } }
    }
}
