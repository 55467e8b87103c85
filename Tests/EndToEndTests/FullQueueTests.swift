import Foundation
import Support
import Testing

@Suite("A full queue", .blocking)
struct FullQueueTests {
    @Test("refuses the next write at once, with the time of the next attempt")
    func refusesAtOnce() throws {
        let installation = try Installation()
        let disk = try FaultyDisk(in: installation.folder)
        let server = try AfterlinkProcess(
            installation,
            ["--limit-queue", "3"],
            environment: disk.environment
        )
        let first = try server.connect()
        #expect(try first.click(fingerprint(0)).status == 201)
        try disk.set(.stuckSync)
        let others = try (1...40).map { _ in try server.connect() }
        for (number, connection) in others.enumerated() { try connection.sendClick(fingerprint(number + 1)) }
        let replies = try others.map { try $0.receive() }
        try disk.set()
        #expect(replies.allSatisfy { $0.status == 201 || $0.status == 503 })
        for reply in replies where reply.status == 503 {
            #expect(reply.string("error_code") == "UNAVAILABLE")
            #expect((1...3).contains(reply.fields["retry-after"].flatMap { Int($0) } ?? 0))
        }
        // The full queue was the reason, not the time limit.
        let text = try server.connect().get("/metrics", key: installation.keys.admin).text
        let metrics = PrometheusText(text)
        let refused = metrics.value("afterlink_store_refusals_total", ["reason": "overloaded"]) ?? 0
        #expect(refused >= 10, "\(refused)")
        #expect(metrics.violations.isEmpty)
    }
}
