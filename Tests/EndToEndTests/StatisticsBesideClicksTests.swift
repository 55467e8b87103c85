import Support
import Testing

@Suite("Statistics beside clicks", .blocking)
struct StatisticsBesideClicksTests {
    private static let request = "GET /admin/stats HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer "

    @Test("hold up no click, however often they are asked for")
    func clicksGoOn() throws {
        let (installation, server, connection) = try Installation.serving()
        let askers = try (0..<4).map { _ in try RawClient(port: server.port, patienceMilliseconds: 60_000) }
        let request = Self.request + "\(installation.keys.admin)\r\n\r\n"
        for asker in askers { asker.send(String(repeating: request, count: 50)) }
        let statuses = try (1...40).map { try connection.click(fingerprint($0)).status }
        // Were each of them to wait for statistics, hardly one would be recorded within its second; on a machine
        // that is busy with other things, one or the other may not be.
        #expect(statuses.allSatisfy { $0 == 201 || $0 == 503 })
        #expect(statuses.count { $0 == 201 } > 30)
        for asker in askers { for _ in 0..<50 { #expect(try asker.answer().status == 200) } }
    }
}
