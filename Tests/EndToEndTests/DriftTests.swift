import Attribution
import Foundation
import SQLite
import Support
import Testing

@Suite("The alarm on match rates", .blocking)
struct DriftAlarmTests {
    /// Writes counts of five weeks, in which one system's match rate fell from 70 % to 40 % two days ago.
    private func writeFall(to installation: Installation) throws {
        let now = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        let end = DriftHistory.end(at: now).milliseconds
        let connection = try installation.open()
        for age in 0..<35 {
            let period = end - Int64(age) * 86_400_000 - DriftHistory.periodMilliseconds
            try connection.execute(
                """
                INSERT INTO counts VALUES
                    (2, '', \(Dimension.launch), \(Granularity.quarter), \(period), 'ios/26.1/1.8.9', 'trials', 100),
                    (2, '', \(Dimension.launch), \(Granularity.quarter), \(period), 'ios/26.1/1.8.9', 'matches', \(age < 2 ? 40 : 70)),
                    (2, '', \(Dimension.launch), \(Granularity.quarter), \(period), 'android/15/1.8.9', 'trials', 900),
                    (2, '', \(Dimension.launch), \(Granularity.quarter), \(period), 'android/15/1.8.9', 'matches', 600)
                """
            )
        }
    }

    @Test("an alarm appears once in the log, and in the metrics, the statistics and the output of `stats`")
    func logged() throws {
        let installation = try Installation()
        try writeFall(to: installation)
        let (server, connection) = try installation.serve()
        let alarm = "the match rate of launches on iOS 26.1 with SDK 1.8.9 fell from"
        #expect(Polling.until { installation.log.contains(alarm) })
        let metrics = PrometheusText(try connection.get("/metrics", key: installation.keys.admin).text)
        #expect(metrics.value("afterlink_match_rate_alarms", ["by": "launch"]) == 1)
        let statistics = try connection.get("/admin/stats", key: installation.keys.admin).text
        #expect(statistics.contains(#""drift":{"alarms":1,"#))
        #expect(statistics.contains(#""status":"falling""#))
        server.terminate()
        #expect(server.waitUntilExit() == 0)

        let again = try AfterlinkProcess(installation)
        #expect(try again.connect().get("/healthz").status == 200)
        again.terminate()
        #expect(again.waitUntilExit() == 0)
        #expect(installation.log.components(separatedBy: alarm).count == 2)

        let text = try installation.run(["stats"]).text
        #expect(text.contains("MATCH RATE HAS FALLEN"))
        #expect(text.contains("launches on iOS 26.1 with SDK 1.8.9"))
        #expect(text.contains("Match rates: 2 groups as usual"))
        // Two days with 40 and five with 70 matches of 100 launches.
        let rate = text.split(separator: "\n").first { $0.hasPrefix("launches on iOS 26.1  ") }
        #expect(rate?.split(separator: " ").suffix(4) == ["700", "430", "61.4", "%"])
    }
}
