import Benchmark
import Glibc
import HTTPServer
import Support
import Testing

/// Tests a load whose rate does not depend on the responses.
@Suite("A load at a constant rate", .blocking)
struct ConstantRateTests {
    /// Responds at once, except to one request, before which it stalls.
    private final class StallingHandler: RequestHandler {
        private var count = 0

        func respond(to request: Request) async -> Response {
            count += 1
            if count == 100 { usleep(ConstantRateTests.stallMicroseconds) }
            return Response(.ok, text: "ok")
        }
    }

    private static let stallMicroseconds: UInt32 = 400_000

    @Test("counts the delay of every request that should have been sent while one response was slow")
    func countsDelays() throws {
        let configuration = HTTPServerConfiguration(
            listenAddress: ListenAddress(PeerAddress(ipv4: 0x7F00_0001, port: 0)),
            loopCount: 1
        )
        let server = try WebServer(configuration) { _, _ in StallingHandler() }
        try server.start()
        defer { server.stop(within: .milliseconds(200)) }

        var plan = ConstantRatePlan(.misses, port: server.port, key: "key", rate: 500, seconds: 1)
        plan.connections = 1
        let result = try ConstantRateLoad.run(plan)

        #expect(result.intended == 500)
        #expect(result.answered == 500)
        #expect(result.failures == 0)
        #expect(result.longest >= Double(Self.stallMicroseconds))
        // One response of 500 was slow, but 200 requests should have been sent meanwhile: a load that waits for its
        // responses would show only the slow one.
        #expect(result.p99 >= Double(Self.stallMicroseconds) * 3 / 4)
    }
}
