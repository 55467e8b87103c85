import Attribution
import Foundation
import SQLite
import SQLiteStorage
import Storage
import Support
import TestDatabases
import Testing

@Suite("Retention")
struct RetentionTests {
    @Test("expired clicks are closed, then deleted with all that belongs to them; counts stay")
    func closesAndDeletes() async throws {
        let test = try await TestStore { $0.retentionSeconds = 1000 }
        try await test.run { session in
            for number in 0..<500 { _ = try await session.record(.sample(fingerprint: UInt64(number))) }
            _ = try await session.match(.sample(fingerprint: 7))
        }
        #expect(try test.store.runRetention() == RetentionProgress())

        test.clock.advance(seconds: 86_400 + 61)
        #expect(try test.store.runRetention() == RetentionProgress(closed: 499))
        #expect(try test.integer("SELECT count(*) FROM click_index WHERE state = 0") == 0)
        let reason = try await test.run { try await $0.view(for: .sample(fingerprint: 8)).reason }
        #expect(reason == .expired)

        test.clock.advance(seconds: 1000 - 61)
        #expect(try test.store.runRetention() == RetentionProgress(), "the last second is retained, too")
        test.clock.advance(seconds: 1)
        #expect(try test.store.runRetention() == RetentionProgress(deleted: 500))
        #expect(try test.integer("SELECT count(*) FROM clicks") == 0)
        #expect(try test.integer("SELECT count(*) FROM click_index") == 0)
        #expect(try test.integer("SELECT count(*) FROM claims") == 0)
        let now = test.clock.now
        let report = try await test.run { try await $0.statistics(StatisticsQuery(), at: now) }
        #expect(report.totals[.clicks] == 500)
        #expect(report.liveClicks == 0)
        let forgotten = try await test.run { try await $0.view(for: .sample(fingerprint: 8)).reason }
        #expect(forgotten == .noClick)
    }

    @Test("matches and checks may have a retention of their own", arguments: backends, [true, false])
    func retentionByKind(backend: Backend, keepsMatches: Bool) async throws {
        let month: Int64 = 30 * 86_400
        let test = try await TestStore(backend) {
            $0.retentionSeconds = keepsMatches ? 1000 : month
            $0.matchRetentionSeconds = keepsMatches ? month : 1000
            $0.checkRetentionSeconds = 1000
        }
        try await test.run { session in
            for number in 1...10 as ClosedRange<UInt64> {
                _ = try await session.record(.sample(fingerprint: number))
            }
            for number in 1...3 as ClosedRange<UInt64> {
                _ = try await session.match(.sample(fingerprint: number, caller: number))
            }
        }
        try test.database.runRetention()
        #expect(try test.count(.checks) == 3 && test.count(.entries) == 10)
        test.clock.advance(seconds: 5 * 86_400)
        try test.database.runRetention()
        #expect(try test.count(.checks) == 0 && test.count(.keptChecks) == 0)
        #expect(try test.count(.claims) == (keepsMatches ? 3 : 0))
        #expect(try test.count(.entries) == (keepsMatches ? 3 : 7))
        #expect(try !test.history(retention: 10 * month).isWhole)
        #expect(try test.verify().isWhole)
        test.clock.advance(seconds: month)
        try test.database.runRetention()
        #expect(try test.count(.entries) == 0 && test.count(.claims) == 0)
    }

    @Test("if the other kind gets the shorter retention, its clicks that expired before are deleted, too")
    func changesKind() async throws {
        let month: Int64 = 30 * 86_400
        let first = try await TestStore {
            $0.retentionSeconds = month
            $0.matchRetentionSeconds = 1000
        }
        try await first.run { session in
            for number in 1...10 as ClosedRange<UInt64> {
                _ = try await session.record(.sample(fingerprint: number))
            }
            for number in 1...3 as ClosedRange<UInt64> {
                _ = try await session.match(.sample(fingerprint: number, caller: number))
            }
        }
        first.clock.advance(seconds: 5 * 86_400)
        try first.store.runRetention()
        #expect(try first.count(.entries) == 7)
        let second = try await TestStore(.sqlite, in: first.place) {
            $0.retentionSeconds = 1000
            $0.matchRetentionSeconds = month
        }
        second.clock.advance(seconds: 5 * 86_400 + 1)
        try second.store.runRetention()
        #expect(try second.count(.entries) == 0)
    }

    @Test("the click ids of ad networks are deleted with their click, to the last byte", arguments: backends)
    func deletesClickIDs(backend: Backend) async throws {
        let test = try await TestStore(backend) {
            $0.retentionSeconds = 1000
            $0.checkRetentionSeconds = 1000
        }
        try await test.run { session in
            for number in 1...50 as ClosedRange<UInt64> {
                let new = try NewClick.sample(fingerprint: number) {
                    $0.clickIDs = number == 7 ? #"{"gclid":"gclid-7781"}"# : nil
                }
                _ = try await session.record(new)
            }
        }
        #expect(try test.place.traces(of: ["gclid-7781"], []).missing.isEmpty)
        test.clock.advance(seconds: 5 * 86_400)
        try test.database.runRetention()
        test.clock.advance(seconds: 2000)
        try test.database.runRetention()
        #expect(try test.count(.entries) == 0)
        // Stopping the store copies SQLite's log into the file.
        test.stop()
        #expect(try test.place.traces(of: ["gclid-7781"], []).found.isEmpty)
    }

    @Test("a click that is recorded after its window has ended is closed, too")
    func closesLateComers() async throws {
        let test = try await TestStore()
        test.clock.advance(seconds: 200_000)
        try test.store.runRetention()
        try await test.run { _ = try await $0.record(.sample(fingerprint: 5, at: TestStore.noon)) }
        #expect(try test.store.runRetention() == RetentionProgress(closed: 1))
    }

    @Test("all clicks are closed and deleted, even if more than a slice handles expire in one millisecond")
    func closesManyAtOnce() async throws {
        let test = try await TestStore()
        _ = try await test.runConcurrently(1000) { session, number in
            try await session.record(.sample(fingerprint: number))
        }
        test.clock.advance(seconds: 86_400 + 61)
        #expect(try test.store.runRetention() == RetentionProgress(closed: 1000))
        test.clock.advance(seconds: 604_800)
        #expect(try test.store.runRetention() == RetentionProgress(deleted: 1000))
    }

    @Test("the counts of live clicks are deleted when the clicks have expired")
    func purgesLiveCounts() async throws {
        let test = try await TestStore()
        let clock = test.clock
        try await test.run { session in
            for number in 0..<300 {
                clock.advance(seconds: 60)
                _ = try await session.record(.sample(fingerprint: UInt64(number), at: clock.now))
            }
        }
        clock.advance(seconds: 86_400 + 20_000)
        try test.store.runRetention()
        #expect(try test.integer("SELECT count(*) FROM live_clicks") == 0)
    }

    @Test("the write-ahead log stays bounded while writes continue")
    func boundsLog() async throws {
        let test = try await TestStore { $0.hasBackgroundWork = true }
        let metadata = String(repeating: "x", count: 4000)
        // If SQLite never reset the log, the log would have 145 MB at the end. The bursts are short: a loop that reads during
        // a whole burst has one snapshot, and SQLite cannot reset the log while that snapshot is open.
        for round in 0..<120 as Range<UInt64> {
            _ = try await test.runConcurrently(200) { session, number in
                try await session.record(
                    .sample(fingerprint: round * 10_000 + number) { $0.metadata = metadata }
                )
            }
        }
        let health = test.store.health
        #expect(health.databaseBytes > 60_000_000)
        #expect(health.writeAheadLogBytes < 70_000_000)
        test.stop()
        #expect(test.store.health.writeAheadLogBytes == 0)
    }

    @Test("a write-ahead log that grew during a long read shrinks after the read, while writes continue")
    func boundsLogAfterReader() async throws {
        let test = try await TestStore { $0.hasBackgroundWork = true }
        let metadata = String(repeating: "x", count: 100_000)
        let reader = try SQLiteConnection(path: test.path, access: .readOnly, busyMilliseconds: 1000)
        try reader.begin(.deferred)
        _ = try reader.integer("SELECT count(*) FROM clicks")
        // The test may continue on another thread.
        reader.releaseFromThread()
        _ = try await test.runConcurrently(1000) { session, number in
            try await session.record(.sample(fingerprint: number) { $0.metadata = metadata })
        }
        #expect(test.store.health.writeAheadLogBytes > 90_000_000)
        try reader.rollback()
        // A slow disk needs a while to copy a hundred megabytes, and the pages that are written meanwhile.
        let end = Polling.end
        var round: UInt64 = 0
        while test.store.health.writeAheadLogBytes > 70_000_000, ContinuousClock.now < end {
            round += 1
            let first = round * 100_000
            _ = try await test.runConcurrently(20) { session, number in
                try await session.record(.sample(fingerprint: first + number))
            }
        }
        #expect(test.store.health.writeAheadLogBytes <= 70_000_000)
    }

    @Test("a stop while the write-ahead log is copied leaves an empty log")
    func stopsWhileCopying() async throws {
        // The writes are few and large, so that copying starts after the last commit and takes a while.
        let metadata = String(repeating: "x", count: 200_000)
        for _ in 0..<4 {
            let test = try await TestStore { $0.hasBackgroundWork = true }
            _ = try await test.runConcurrently(150) { session, number in
                try await session.record(.sample(fingerprint: number) { $0.metadata = metadata })
            }
            // While this connection is open, SQLite does not copy the log by itself when the store closes its
            // own connection.
            let reader = try SQLiteConnection(path: test.path, access: .readOnly, busyMilliseconds: 1000)
            #expect(try reader.integer("SELECT count(*) FROM clicks") == 150)
            test.stop()
            #expect(test.store.health.writeAheadLogBytes == 0)
        }
    }
}
