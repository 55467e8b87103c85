import Attribution
import Storage
import TestDatabases
import Testing

/// The comparison of windows and minimum confidences: what the job finds, stores and leaves out.
@Suite("The comparison of windows and confidences")
struct PolicyGridTests {
    private static func store(_ backend: Backend, replays: Bool = true) async throws -> TestStore {
        try await TestStore(backend) { configuration in
            guard replays else { return }
            configuration.replays = ReplaySettings(grace: 60_000) { _ in
                FingerprintReconstruction(keys: [], data: .embedded, localization: .unknown)
            }
        }
    }

    /// Records a click now, and a launch of its visitor after some minutes.
    private func convert(_ visitor: UInt64, after minutes: Int64, in test: TestStore) async throws {
        let (clicked, app) = (test.clock.now, test.app)
        let click = try NewClick.sample(fingerprint: visitor, app: app, at: clicked)
        _ = try await test.run { try await $0.record(click) }
        test.clock.advance(seconds: minutes * 60)
        let check = Check.sample(fingerprint: visitor, app: app, at: test.clock.now, caller: visitor)
        try await test.run { session in
            _ = try await session.match(check)
            // A page of checks writes the record to disk at once.
            _ = try await session.checks(CheckQuery())
        }
    }

    private func request(_ test: TestStore) async throws {
        let app = test.app
        try await test.run { $0.requestPolicyGrid(of: app) }
    }

    private func grid(_ test: TestStore) async throws -> PolicyGrid? {
        let app = test.app
        return try await test.run { try await $0.policyGrid(of: app) }
    }

    private func result(_ grid: PolicyGrid, _ seconds: Int64, _ minimum: Double = 0.7) -> PolicyGrid.Result? {
        let window = AttributionWindow(seconds: seconds)
        return grid.results[PolicyGrid.Setting(window: window, minimumConfidence: minimum)]
    }

    @Test(
        "a shorter window loses late launches, a longer one gains launches after the current window",
        arguments: backends
    )
    func windows(backend: Backend) async throws {
        let test = try await Self.store(backend)
        try await convert(1, after: 10, in: test)
        try await convert(2, after: 180, in: test)
        try await convert(3, after: 25 * 60, in: test)
        try test.database.comparePolicies()
        let grid = try #require(try await grid(test))
        #expect(grid.clicks == 3 && grid.launches == 3 && !grid.isLimited)
        #expect(grid.computedAt == test.clock.now && grid.to == test.clock.now && grid.from == TestStore.noon)
        #expect(grid.windows.map { $0?.seconds } == [nil, 3600, 21_600, 86_400, 259_200, 604_800])
        #expect(grid.minimums == [0.5, 0.6, 0.7, 0.8, 0.9])
        let now = try #require(grid.results[grid.current])
        #expect(now.matches == 2 && now.gained == 0 && now.lost == 0 && now.expectedWrong < 2)
        let found = [3600, 21_600, 86_400, 259_200].map { result(grid, $0) }
        #expect(found.map { $0?.matches } == [1, 2, 2, 3])
        #expect(found.map { $0?.lost } == [1, 0, 0, 0] && found.map { $0?.gained } == [0, 0, 0, 1])
        #expect(PolicyGrid(figures: Dictionary(grid.figures) { first, _ in first }) == grid)
    }

    @Test(
        "a comparison runs daily from a day after the first launch, and on request for one app",
        arguments: backends
    )
    func times(backend: Backend) async throws {
        let test = try await Self.store(backend)
        let app = test.app
        try test.database.comparePolicies()
        #expect(try await grid(test) == nil, "without a launch, there is nothing to compare")
        try await convert(1, after: 10, in: test)
        try test.database.comparePolicies()
        #expect(try await grid(test) == nil, "one launch is too little to compare")
        test.clock.advance(seconds: 86_400)
        try test.database.comparePolicies()
        let first = try #require(try await grid(test))
        #expect(first.launches == 1)
        try await convert(2, after: 10, in: test)
        try test.database.comparePolicies()
        #expect(try await grid(test) == first)
        try await test.run { session in
            session.requestPolicyGrid(of: AppID(high: 9, low: 9))
            #expect(!session.isPolicyGridRequested(of: app))
        }
        try test.database.comparePolicies()
        #expect(try await grid(test) == first)
        try await request(test)
        #expect(try await test.run { $0.isPolicyGridRequested(of: app) })
        try test.database.comparePolicies()
        #expect(try await grid(test)?.launches == 2)
        #expect(try await test.run { $0.isPolicyGridRequested(of: app) } == false)
        test.clock.advance(seconds: 86_400)
        try await convert(3, after: 10, in: test)
        try test.database.comparePolicies()
        #expect(try await grid(test)?.launches == 3)
    }

    @Test("of more events than the limit, the newest are compared, and only with windows that they cover")
    func limit() async throws {
        let test = try await Self.store(.sqlite)
        for visitor in 1...6 as ClosedRange<UInt64> { try await convert(visitor, after: 60, in: test) }
        try await request(test)
        try test.database.comparePolicies(eventLimit: 9)
        let grid = try #require(try await grid(test))
        #expect(grid.isLimited && grid.clicks < 6 && grid.launches >= 1 && grid.launches < 6)
        #expect(grid.from > TestStore.noon)
        // The events span about four hours. The first half only trains the model, so longer windows are left
        // out.
        #expect(grid.windows.map { $0?.seconds } == [nil, 3600])
    }

    @Test("a comparison that reaches its time limit is stored as unfinished, and the next one starts again")
    func timeLimit() async throws {
        let test = try await Self.store(.sqlite)
        try await convert(1, after: 10, in: test)
        try await request(test)
        try test.database.comparePolicies(timeLimitSeconds: 0)
        let stopped = try #require(try await grid(test))
        #expect(stopped.isUnfinished && stopped.results.isEmpty && stopped.launches == 0)
        #expect(PolicyGrid(figures: Dictionary(stopped.figures) { first, _ in first }) == stopped)
        try await request(test)
        try test.database.comparePolicies()
        let whole = try #require(try await grid(test))
        #expect(!whole.isUnfinished && whole.launches == 1 && whole.results[whole.current] != nil)
    }

    @Test("test traffic is not compared, and a store without the keys of a service compares nothing")
    func leavesOut() async throws {
        let test = try await Self.store(.sqlite, replays: false)
        try await convert(1, after: 10, in: test)
        try await request(test)
        try test.database.comparePolicies()
        #expect(try await grid(test) == nil)
        let other = try await Self.store(.sqlite)
        let check = Check.sample(app: other.app, isTest: true)
        try await other.run { session in
            _ = try await session.match(check)
            _ = try await session.checks(CheckQuery(isTest: true))
        }
        try await request(other)
        try other.database.comparePolicies()
        #expect(try await grid(other) == nil)
    }

    @Test("figures that do not form a grid are read as no grid")
    func damaged() throws {
        var figures = ["computed_at": 5, "from": 1, "to": 2, "minimum_confidence": 0.7]
        #expect(PolicyGrid(figures: figures)?.results.isEmpty == true)
        figures["cell/1/0.7/matches"] = 3
        #expect(PolicyGrid(figures: figures) == nil)
        figures["cell/1/0.7/matches"] = nil
        figures["from"] = nil
        #expect(PolicyGrid(figures: figures) == nil)
    }

    @Test(
        "a file's store knows the free space of its disk, a database server's does not",
        arguments: backends
    )
    func freeSpace(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let free = test.database.health.freeBytes
        #expect(backend == .sqlite ? free.map { $0 > 0 } == true : free == nil)
        test.stop()
    }
}
