#if PostgreSQL
import Attribution
import Support
import Testing
import Threads

@testable import PostgreSQL
@testable import PostgreSQLStorage
@testable import Storage

@Suite("The job that makes and drops days", .blocking, .onPostgreSQL)
struct PartitionJobTests {
    private let database: JobDatabase
    private let server: JobServer
    private static let (day, today) = (JobServer.day, JobServer.today)
    private static let hour: Int64 = 3_600_000

    init() throws {
        database = try JobDatabase()
        server = try JobServer(database) { $0.retentionSeconds = 86_400 }
    }

    private var slots: [Int64] {
        get throws { try Partitions(connection: database.connect()).slots().map(\.number) }
    }

    private func neededUntil(_ slot: Int64) throws -> Int64? {
        try Partitions(connection: database.connect()).slots().first { $0.number == slot }?.neededUntil?
            .milliseconds
    }

    /// Returns the number of a click from its day, its time since midnight, and whether its window is long.
    private static func number(_ day: Int64, at milliseconds: Int64 = hour, isLong: Bool = false) -> Int64 {
        (day * Self.day + milliseconds) << 16 | (isLong ? 1 << 6 : 0) | 5
    }

    @Test("makes the next three days, and one more after midnight")
    func ahead() throws {
        var job = PartitionJob(server.makeContext())
        try job.runToEnd()
        #expect(try slots == [-1] + (Self.today...Self.today + 3))
        server.move(to: Timestamp(milliseconds: (Self.today + 1) * Self.day - 1))
        try job.runToEnd()
        #expect(try slots.last == Self.today + 3)
        server.move(to: Timestamp(milliseconds: (Self.today + 1) * Self.day))
        try job.runToEnd()
        #expect(try slots == [-1] + (Self.today...Self.today + 4))
    }

    @Test("makes a missing partition again, and no other one of its day")
    func missing() throws {
        var job = PartitionJob(server.makeContext())
        try job.runToEnd()
        try database.insertCheck(Self.number(Self.today))
        let partitions = Partitions(connection: try database.connect())
        #expect(try partitions.missing(at: JobServer.noon).isEmpty)
        try database.database.execute("DROP TABLE clicks_d\(Self.today); DROP TABLE click_index_l")
        #expect(
            try partitions.missing(at: JobServer.noon).map(\.name)
                == ["click_index_l", "clicks_d\(Self.today)"]
        )
        try job.runToEnd()
        #expect(try partitions.missing(at: JobServer.noon).isEmpty)
        #expect(try database.integer("SELECT count(*) FROM checks") == 1)
        try database.insertClick(Self.number(Self.today), until: 1)
        // A day whose clicks have expired may be partly dropped.
        try database.database.execute(
            "DROP TABLE clicks_d\(Self.today); UPDATE partitions SET needed_until = 7 WHERE slot = \(Self.today)"
        )
        #expect(try partitions.missing(at: JobServer.noon).isEmpty)
    }

    @Test("drops a day when the retention of its last click has ended")
    func drops() throws {
        var job = PartitionJob(server.makeContext())
        try job.runToEnd()
        let end = (Self.today + 1) * Self.day
        let last = end + 5 * Self.hour
        try database.insertClick(Self.number(Self.today), until: last - 1)
        try database.insertClick(Self.number(Self.today, at: 2 * Self.hour), until: last)
        try database.insertClick(Self.number(Self.today + 1), until: last + 1)
        for hour in 0..<3 as Range<Int64> { try database.insertCheck(Self.number(Self.today, at: hour)) }
        try database.database.execute("INSERT INTO progress VALUES ('kept_checks', 10)")

        server.move(to: Timestamp(milliseconds: end + Self.hour - 1))
        try job.runToEnd()
        #expect(try neededUntil(Self.today) == nil)
        server.move(to: Timestamp(milliseconds: end + Self.hour))
        try job.runToEnd()
        #expect(try neededUntil(Self.today) == last)
        server.move(to: Timestamp(milliseconds: last + Self.day))
        try job.runToEnd()
        #expect(try slots.contains(Self.today))
        #expect(try database.integer("SELECT count(*) FROM clicks") == 3)
        #expect(server.state.healthSnapshot.retentionLagSeconds == 0)

        server.move(to: Timestamp(milliseconds: last + Self.day + 1))
        try job.runToEnd()
        #expect(try !slots.contains(Self.today))
        #expect(try slots.contains(Self.today + 1))
        #expect(try database.integer("SELECT count(*) FROM clicks") == 1)
        #expect(try database.integer("SELECT count(*) FROM click_index") == 1)
        #expect(try database.integer("SELECT count(*) FROM checks") == 0)
        #expect(try database.integer("SELECT value FROM progress WHERE name = 'kept_checks'") == 7)
        #expect(
            try Int64(database.integer("SELECT value FROM progress WHERE name = 'deleted_up_to'")) == last
        )
        #expect(
            try database.integer("SELECT count(*) FROM pg_class WHERE relname LIKE '%_d\(Self.today)%'") == 0
        )
    }

    @Test("continues a drop that was stopped in the middle")
    func stopped() throws {
        var job = PartitionJob(server.makeContext())
        try job.runToEnd()
        let old = JobServer.today - 9
        let connection = try database.connect()
        try Partitions(connection: connection).make(old)
        try database.database.execute(
            """
            UPDATE partitions SET needed_until = 7 WHERE slot = \(old);
            DROP TABLE checks_d\(old);
            ALTER TABLE clicks DETACH PARTITION clicks_d\(old)
            """
        )
        try job.runToEnd()
        #expect(try !slots.contains(old))
        #expect(try database.integer("SELECT count(*) FROM pg_class WHERE relname LIKE '%_d\(old)%'") == 0)
    }

    @Test("an open read does not delay a new day, and delays only the drop of an old one")
    func openReader() throws {
        var job = PartitionJob(server.makeContext())
        try job.runToEnd()
        let reader = try database.connect()
        try reader.execute("SET idle_in_transaction_session_timeout = 0")
        try reader.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        try reader.execute("SELECT count(*) FROM clicks")
        server.move(to: Timestamp(milliseconds: (Self.today + 3) * Self.day))
        try job.runToEnd()
        #expect(try slots.last == Self.today + 6)
        // The day without clicks is needed until its end, and dropped one day and a millisecond later.
        #expect(try slots.contains(Self.today))
        #expect(server.state.healthSnapshot.retentionLagSeconds == 86_400)
        try reader.execute("INSERT INTO idempotencies VALUES (1, 6, 1, 1, 1)")
        try reader.execute("COMMIT")
        try job.runToEnd()
        #expect(try slots == [-1] + (Self.today + 1...Self.today + 6))
    }

    @Test("finds a day's last expiry even if that click is beyond the first page")
    func pages() throws {
        var job = PartitionJob(server.makeContext())
        try job.runToEnd()
        let end = (Self.today + 1) * Self.day
        try database.insertClick(Self.number(Self.today), until: end + 1000)
        try database.database.execute(
            """
            INSERT INTO clicks SELECT (c.b + n % 3)::int2, slot, scope, id + n * 128, id_low, clicked_at, recorded_at,
                expires_at + CASE n WHEN 44999 THEN 7 ELSE 0 END, visit, visit_rest, post + n, post_rest, turn,
                window_seconds, is_robot, is_contradictory, destination, campaign_key, journey_id, source, raw_source,
                platform, os_version, metadata, idempotency, idempotency_rest, fingerprints
            FROM clicks c, generate_series(1, 45000) AS n
            """
        )
        server.move(to: Timestamp(milliseconds: end + Self.hour))
        try job.runToEnd()
        #expect(try neededUntil(Self.today) == end + 1007)
    }

    @Test("deletes clicks with a long window one by one, with the rows that refer to them")
    func longWindows() throws {
        let noon = JobServer.noon.milliseconds
        for index in 0..<3 {
            let number = Self.number(Self.today - 9 - Int64(index), isLong: true)
            try database.insertClick(number, until: noon - Self.day - 1 + Int64(index), fingerprint: .max)
        }
        var job = PartitionJob(server.makeContext())
        try job.runToEnd()
        for table in ["clicks", "click_index", "click_addresses", "idempotencies"] {
            #expect(try database.integer("SELECT count(*) FROM \(table)") == 2, "\(table)")
        }
        #expect(
            try Int64(database.integer("SELECT value FROM progress WHERE name = 'deleted_up_to'")) == noon
                - Self.day - 1
        )
    }

    @Test("of clicks with a long window, searches only those that have expired since, and all after an hour")
    func searchesLongWindows() throws {
        let server = try JobServer(database) {
            $0.retentionSeconds = 86_400
            $0.matchRetentionSeconds = 30 * 86_400
        }
        let noon = JobServer.noon.milliseconds
        func insert(_ hour: Int64, until end: Int64) throws {
            let number = Self.number(Self.today - 9, at: hour * Self.hour, isLong: true)
            try database.insertClick(number, until: end)
        }
        let count = "SELECT count(*) FROM clicks"
        try insert(1, until: noon - 2 * Self.day)
        var job = PartitionJob(server.makeContext())
        try job.runToEnd()
        #expect(try database.integer(count) == 0)
        // The first click would have been found before; the second one expires, and its retention ends, later.
        try insert(2, until: noon - 2 * Self.day)
        try insert(3, until: noon - Self.day + 1000)
        server.move(to: JobServer.noon.advanced(byMilliseconds: Self.hour - 1))
        try job.runToEnd()
        #expect(try database.integer(count) == 1)
        #expect(try database.integer("\(count) WHERE expires_at < \(noon - Self.day)") == 1)
        server.move(to: JobServer.noon.advanced(byMilliseconds: Self.hour))
        try job.runToEnd()
        #expect(try database.integer(count) == 0)
    }

    @Test("deletes the clicks of a day that no launch has consumed, and does not read the day again")
    func kindOfDay() throws {
        let server = try JobServer(database) {
            ($0.retentionSeconds, $0.matchRetentionSeconds) = (86_400, 30 * 86_400)
        }
        var job = PartitionJob(server.makeContext())
        try job.runToEnd()
        let (first, end) = (Self.number(Self.today), (Self.today + 1) * Self.day)
        try database.insertClick(first, until: end)
        // These clicks fill more blocks than one step reads.
        try database.database.execute(
            """
            INSERT INTO clicks (b, slot, scope, id, id_low, clicked_at, recorded_at, expires_at, visit, visit_rest, post,
                post_rest, turn, window_seconds, is_robot, is_contradictory, destination, journey_id, source, platform,
                fingerprints, claimed_at)
            SELECT b, slot, scope, id + n * 128, id_low, clicked_at, recorded_at, expires_at, visit, visit_rest, post + n,
                post_rest, turn, window_seconds, is_robot, is_contradictory, destination, journey_id, source, platform,
                '', CASE n % 10 WHEN 0 THEN 7 END FROM clicks c, generate_series(1, 9000) AS n
            """
        )
        let changes = server.state.trafficChangeCount
        server.move(to: Timestamp(milliseconds: (Self.today + 3) * Self.day))
        try job.runToEnd()
        #expect(try database.integer("SELECT count(*) FROM clicks") == 900)
        #expect(try database.integer("SELECT count(*) FROM clicks WHERE claimed_at IS NULL") == 0)
        for table in ["click_index", "click_addresses", "idempotencies"] {
            #expect(try database.integer("SELECT count(*) FROM \(table)") == 0, "\(table)")
        }
        #expect(server.state.trafficChangeCount > changes)
        // Without this click, nothing would show that the day is not searched every ten seconds.
        try database.insertClick(first, until: end)
        try job.runToEnd()
        #expect(try database.integer("SELECT count(*) FROM clicks") == 901)
        server.move(to: Timestamp(milliseconds: end + 30 * Self.day + 1))
        try job.runToEnd()
        #expect(try database.integer("SELECT count(*) FROM clicks") == 0)
    }

    @Test("deletes the oldest ended day's records of checks if the database has too many records")
    func tooManyChecks() throws {
        var job = PartitionJob(server.makeContext())
        try job.runToEnd()
        try database.insertCheck(Self.number(Self.today))
        try database.insertCheck(Self.number(Self.today + 1))
        let maximum = PendingCheckRecords.maximumStored
        try database.database.execute("INSERT INTO progress VALUES ('kept_checks', \(maximum + 1))")
        // A day that has not ended keeps its records.
        try job.runToEnd()
        #expect(try database.integer("SELECT count(*) FROM checks") == 2)
        let changes = server.state.trafficChangeCount
        server.move(to: Timestamp(milliseconds: (Self.today + 1) * Self.day + Self.hour))
        try job.runToEnd()
        #expect(server.state.trafficChangeCount > changes, "collisions are counted again")
        #expect(try database.integer("SELECT count(*) FROM checks WHERE slot = \(Self.today)") == 0)
        #expect(try database.integer("SELECT count(*) FROM checks") == 1)
        #expect(
            try Int64(database.integer("SELECT value FROM progress WHERE name = 'kept_checks'")) == maximum
        )
    }

    @Test("records of checks that an erasure deletes at the same time are not subtracted twice")
    func checksDuringErasure() throws {
        var job = PartitionJob(server.makeContext())
        try job.runToEnd()
        for hour in 1...2 as ClosedRange<Int64> {
            try database.insertCheck(Self.number(Self.today, at: hour * Self.hour))
        }
        let maximum = PendingCheckRecords.maximumStored
        try database.database.execute("INSERT INTO progress VALUES ('kept_checks', \(maximum + 2))")
        server.move(to: Timestamp(milliseconds: (Self.today + 1) * Self.day + Self.hour))
        let erasing = try database.connect()
        try erasing.execute("SET idle_in_transaction_session_timeout = 0")
        try erasing.execute("BEGIN")
        try erasing.execute("DELETE FROM checks WHERE id = $1", Self.number(Self.today))
        let (mayEnd, hasEnded) = (ConditionLock(false), ConditionLock(false))
        try SystemThread.start { [server] in
            var job = PartitionJob(server.makeContext())
            // A step that has waited for half a second ends, and the next one waits again.
            repeat { try? job.runToEnd() } while !mayEnd.withLock({ $0 })
            hasEnded.withLock { $0 = true }
            hasEnded.broadcast()
        }
        let waiting =
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        let isWaiting = try Polling.until { try database.integer(waiting) == 1 }
        // The job waits for the erasure, but no reader waits for the job.
        let reading = try database.connect()
        try reading.execute("SET lock_timeout = '50ms'")
        let found = try? reading.execute("SELECT FROM checks").count
        try erasing.execute("COMMIT")
        mayEnd.withLock { $0 = true }
        _ = hasEnded.wait(until: nil) { $0 ? true : nil }
        try job.runToEnd()
        #expect(isWaiting && found == 2)
        #expect(try database.integer("SELECT count(*) FROM checks") == 0)
        // The erasure itself has not subtracted its record yet.
        let kept = try database.integer("SELECT value FROM progress WHERE name = 'kept_checks'")
        #expect(Int64(kept) == maximum + 1)
    }

    @Test("a minute after the death of the lease's holder, another server takes the lease")
    func takesOver() throws {
        var job = PartitionJob(server.makeContext())
        try job.runToEnd()
        let start = (Self.today + 1) * Self.day
        server.move(to: Timestamp(milliseconds: start))
        try job.runToEnd()
        let other = try JobServer(database, at: Timestamp(milliseconds: start + Self.day))
        // The second server's clock starts a day ahead, and is then set to the millisecond before the lease
        // ends.
        var otherJob = PartitionJob(other.makeContext())
        other.move(to: Timestamp(milliseconds: start + 59_999))
        try database.database.execute("DELETE FROM partitions WHERE slot = \(Self.today + 4)")
        try otherJob.runToEnd()
        #expect(try !slots.contains(Self.today + 4))
        for table in Partitions.Table.allCases {
            try database.database.execute("DROP TABLE \(Partitions.name(of: table, Self.today + 4).text)")
        }
        other.move(to: Timestamp(milliseconds: start + 60_000))
        try otherJob.runToEnd()
        #expect(try slots.contains(Self.today + 4))
    }

    @Test("records when jobs trusted the clock, at most once an hour")
    func clock() throws {
        let server = try JobServer(database) { $0.trustsClock = false }
        var job = PartitionJob(server.makeContext())
        try job.runToEnd()
        let noted = "SELECT progress FROM jobs WHERE name = 'clock'"
        let noon = JobServer.noon
        #expect(try database.integer(noted) == Int(noon.milliseconds))
        server.move(to: noon.advanced(byMilliseconds: Self.hour))
        try job.runToEnd()
        #expect(try database.integer(noted) == Int(noon.milliseconds))
        server.move(to: noon.advanced(byMilliseconds: Self.hour + 1))
        try job.runToEnd()
        #expect(try database.integer(noted) == Int(noon.milliseconds + Self.hour + 1))
    }

    @Test("a daily sweep deletes ended installations, keys of dropped clicks and counts of expired clicks")
    func sweeps() throws {
        let now = JobServer.noon.milliseconds
        let (old, fresh) = (now - Self.day - 1, now - Self.day)
        try database.insertClick(Self.number(Self.today - 5), until: now)
        let dropped = Self.number(Self.today - 6)
        try database.database.execute(
            """
            INSERT INTO installs SELECT n % 64, 6, n, 1, 1, CASE n % 2 WHEN 0 THEN \(old) ELSE \(fresh) END
            FROM generate_series(1, 20000) AS n;
            INSERT INTO idempotencies VALUES (1, 6, 1, 1, \(dropped)), (1, 6, 2, 1, \(dropped | 64)),
                (1, 6, 3, 1, \(Self.number(Self.today))),
                (1, 6, 4, 1, \(Self.number(Self.today - 33, isLong: true)));
            INSERT INTO live_clicks VALUES (6, 'second', \(old / 1000 - 1), 1), (6, 'second', \(now / 1000), 1),
                (6, 'hour', \(old / 3_600_000 - 1), 1), (6, 'hour', \(now / 3_600_000), 1)
            """
        )
        var job = SweepJob(server.makeContext())
        try job.runToEnd()
        #expect(try database.integer("SELECT count(*) FROM installs") == 10_000)
        #expect(try database.integer("SELECT count(*) FROM installs WHERE until = \(old)") == 0)
        // The keys of three clicks remain: a stored one, one with a long window, and one of today.
        #expect(try database.integer("SELECT count(*) FROM idempotencies") == 3)
        #expect(try database.integer("SELECT count(*) FROM idempotencies WHERE idempotency = 1") == 0)
        #expect(try database.integer("SELECT count(*) FROM live_clicks") == 2)

        server.move(to: JobServer.noon.advanced(byMilliseconds: Self.day - 1))
        try job.runToEnd()
        #expect(try database.integer("SELECT count(*) FROM installs") == 10_000)
        server.move(to: JobServer.noon.advanced(byMilliseconds: Self.day))
        try job.runToEnd()
        #expect(try database.integer("SELECT count(*) FROM installs") == 0)
    }
}
#endif
