import Attribution
import SQLite
import SQLiteStorage
import Storage
import Support
import TestDatabases
import Testing

@Suite("Background jobs")
struct JobTests {
    private static let second: UInt64 = 1_000_000_000
    private static let millisecond: UInt64 = 1_000_000

    /// The simulated time, and the slices and the failures of the jobs, in order.
    private final class World {
        var now: UInt64 = 0
        var slices: [JobName] = []
        var failures: [JobName] = []
    }

    /// A job whose slices have a duration and a result that the test sets.
    private struct TestJob: Job {
        let name: JobName
        var share = 1.0
        var comesFirst = false
        /// How long a slice takes, in nanoseconds.
        var takes = millisecond
        var due: (_ slice: Int) throws(StoreError) -> Due = { _ in .more }
        let world: World
        private var count = 0

        init(_ name: JobName, _ world: World, set: (inout TestJob) -> Void = { _ in }) {
            self.name = name
            self.world = world
            set(&self)
        }

        mutating func slice(at now: UInt64) throws(StoreError) -> Due {
            #expect(now == world.now)
            world.slices.append(name)
            world.now += takes
            count += 1
            return try due(count)
        }
    }

    private func run(_ schedule: inout JobSchedule, _ world: World) {
        schedule.runSlice({ world.now }) { job, error, _ in if error != nil { world.failures.append(job) } }
    }

    @Test(
        "jobs pause after a slice, so that they use at most their share of the time",
        arguments: [
            (share: 1, due: .more, pause: 0), (share: 0.5, due: .more, pause: 2 * millisecond),
            (share: 0.125, due: .more, pause: 14 * millisecond),
            (share: 0.01, due: .more, pause: 198 * millisecond),
            (share: 0.01, due: .after(millisecond), pause: 198 * millisecond),
            (share: 0.5, due: .after(second), pause: second),
        ] as [(share: Double, due: Due, pause: UInt64)]
    )
    func shares(expected: (share: Double, due: Due, pause: UInt64)) {
        let world = World()
        let job = TestJob(.retention, world) {
            $0.share = expected.share
            $0.takes = 2 * Self.millisecond
            $0.due = { _ in expected.due }
        }
        var schedule = JobSchedule([job], at: 0)
        #expect(schedule.nextDueAt == JobSchedule.firstPause)
        run(&schedule, world)
        #expect(world.slices.isEmpty, "no job is due before the first pause ends")
        world.now = schedule.nextDueAt
        run(&schedule, world)
        #expect(schedule.nextDueAt == world.now + expected.pause)
    }

    @Test("jobs run in the order of their due times; a job that comes first runs before all others")
    func order() {
        let world = World()
        let copying = TestJob(.checkpoint, world) {
            $0.comesFirst = true
            $0.due = { _ in .whenAsked }
        }
        var schedule = JobSchedule([TestJob(.drift, world), TestJob(.filter, world), copying], at: 0)
        world.now = Self.second
        for _ in 0..<5 { run(&schedule, world) }
        schedule.ask(for: [.checkpoint])
        for _ in 0..<2 { run(&schedule, world) }
        let turns: [JobName] = [.checkpoint, .drift, .filter, .drift, .filter, .checkpoint, .drift]
        #expect(world.slices == turns)
    }

    @Test("jobs run on request as soon as their share of the time allows it")
    func asked() {
        let world = World()
        let job = TestJob(.summaries, world) {
            $0.share = 0.2
            $0.due = { _ in .whenAsked }
        }
        var schedule = JobSchedule([job], at: 0)
        schedule.ask(for: [.summaries, .filter])
        #expect(schedule.nextDueAt == 0)
        run(&schedule, world)
        #expect(schedule.nextDueAt == .max)
        schedule.ask(for: [.summaries])
        #expect(schedule.nextDueAt == world.now + 4 * Self.millisecond)
    }

    @Test("jobs wait longer after each failed slice, up to eight seconds, and report the failure")
    func backsOff() {
        let world = World()
        let job = TestJob(.drift, world) {
            $0.due = { slice throws(StoreError) in
                if slice != 7 { throw StoreError(.full, "the disk is full.") }
                return .more
            }
        }
        var schedule = JobSchedule([job], at: 0)
        var pauses: [UInt64] = []
        for _ in 0..<8 {
            world.now = schedule.nextDueAt
            run(&schedule, world)
            pauses.append((schedule.nextDueAt - world.now) / Self.second)
        }
        #expect(pauses == [1, 2, 4, 8, 8, 8, 0, 1])
        #expect(world.failures.count == 7)
    }

    @Test("jobs end with the slice in which the store stops, and log the slice's failure, but not the stop")
    func stops() {
        for (error, count) in [(StoreError(.full, "full"), 1), (StoreError(.stopping, "stopping"), 0)] {
            let (lines, requests) = (TestLog(), JobRequests())
            let failures = FailureLog(StoreLog { lines.append($1) })
            requests.ask(for: .filter)
            var thread = JobThread(
                [StoppingJob(requests: requests, error: error)],
                requests,
                failures: failures
            )
            thread.run()
            #expect(lines.lines.count == count)
        }
    }

    private struct StoppingJob: Job {
        let name = JobName.filter
        let share = 1.0
        let requests: JobRequests
        let error: StoreError

        func slice(at _: UInt64) throws(StoreError) -> Due {
            requests.stop()
            throw error
        }
    }

    @Test(
        "jobs do not run while another process has their lease",
        arguments: [JobName.drift, .collisions, .compaction]
    )
    func lease(job: JobName) async throws {
        let test = try await TestStore()
        func run() throws {
            switch job {
            case .drift: try test.store.evaluateMatchRates()
            case .collisions: try test.store.countCollisionsIfDue(times: 1)
            default: try test.store.runRetention()
            }
        }
        let compacted = TestStore.noon.advanced(byMilliseconds: -30 * 86_400_000)
        if job == .compaction {
            let old = compacted.advanced(byMilliseconds: -3 * 86_400_000)
            try await test.run { _ = try await $0.record(.sample(at: old)) }
        }
        let until = test.clock.now.milliseconds + 30_000
        try test.execute("INSERT INTO jobs VALUES ('\(job.rawValue)', 1, \(until), \(Int64.min))")
        try run()
        #expect(try test.integer("SELECT progress FROM jobs") == .min)
        #expect(try test.integer("SELECT holder FROM jobs") == 1, "the other process has the lease")
        test.clock.advance(seconds: 31)
        try run()
        let now = test.clock.now
        let end =
            switch job {
            case .drift: DriftHistory.end(at: now)
            case .collisions: now
            default: Granularity.day.start(of: compacted)
            }
        #expect(try test.integer("SELECT progress FROM jobs") == end.milliseconds)
        #expect(try test.integer("SELECT until FROM jobs") == 0)
    }

    @Test("jobs delete nothing and take no lease while the clock may be wrong")
    func leap() async throws {
        let test = try await TestStore {
            $0.trustsClock = false
            $0.learnsAtOnce = true
        }
        try await test.run { session in
            _ = try await session.record(.sample())
            _ = try await session.match(.sample(fingerprint: 2))
            _ = try await session.match(
                .sample(fingerprint: 3, at: TestStore.noon.advanced(byMilliseconds: 60_000))
            )
        }
        let learnt = try test.integer("SELECT count(*) FROM learnt_counters")
        #expect(learnt > 0)
        test.clock.advance(seconds: 4 * 365 * 86_400)
        #expect(try test.store.runRetention() == RetentionProgress())
        try test.store.fadeLearning()
        try test.store.evaluateMatchRates()
        try test.store.countCollisionsIfDue(times: 1)
        #expect(try test.integer("SELECT count(*) FROM clicks") == 1)
        #expect(try test.integer("SELECT count(*) FROM learnt_counters") == learnt)
        #expect(try test.integer("SELECT count(*) FROM jobs") == 0)
    }

    @Test("retention uses an eighth of the time, and a third while its lag grows")
    func retentionPace() {
        var pace = RetentionPace()
        #expect(pace.share == 1.0 / 8)
        // The lag is days long, but shrinks.
        for lag in [900_000_000, 800_000_000, 700_000_000] as [Int64] {
            pace.noteLag(lag)
            #expect(pace.share == 1.0 / 8)
        }
        pace.noteLag(700_000_500)
        #expect(pace.share == 1.0 / 3)
        pace.noteLag(0)
        #expect(pace.share == 1.0 / 8)
    }
}
