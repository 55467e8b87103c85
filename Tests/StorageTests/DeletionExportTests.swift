import Attribution
import Storage
import TestDatabases
import Testing

@Suite("Exports of deletions")
struct DeletionExportTests {
    private static let other = AppID(high: 2, low: 2)

    private static func erase(_ clicks: [Click], of app: AppID, _ session: TestSession, _ random: UInt64)
        async throws
    {
        for (number, click) in clicks.enumerated() {
            let record = Erasure(
                id: ErasureID(high: random, low: UInt64(number)),
                at: TestStore.noon,
                app: app,
                kind: .click,
                actor: .command(user: "ann")
            )
            _ = try await session.erase(DataSubject(.click(click.id), of: app), record)
        }
    }

    /// The values of a column, unknown ones as empty texts.
    private static func texts(_ name: String, _ rows: [ExportRow]) -> [String] {
        rows.map { ExportTests.text(name, in: $0, of: .deletions) ?? "" }
    }

    @Test(
        "name each erased click and check of the app once, in any pages, and contain nothing else about them",
        arguments: backends
    )
    func erasures(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let own = test.app
        let (all, rest, ofOther, clicks) = try await test.run { session in
            let app = App(id: Self.other, settings: App.Settings(name: "Other"), createdAt: TestStore.noon)
            try await session.create(app)
            var clicks: [Click] = []
            for number in 1...6 as ClosedRange<UInt64> {
                let app = number > 4 ? Self.other : own
                clicks.append(
                    try await session.record(.sample(fingerprint: number, app: app, visit: number)).click
                )
            }
            _ = try await session.match(.sample(fingerprint: 1))
            try await Self.erase(Array(clicks[..<3]), of: own, session, 1)
            try await Self.erase([clicks[4]], of: Self.other, session, 2)
            try await Self.erase([clicks[3]], of: own, session, 3)
            let all = try await ExportTests.rows(of: .deletions, pages: 2, session)
            var rest: [[ExportRow]] = []
            for row in all {
                rest.append(try await ExportTests.rows(of: .deletions, behind: row.cursor, session))
            }
            return (all, rest, try await ExportTests.rows(of: .deletions, app: Self.other, session), clicks)
        }
        let erased = all.filter { ExportTests.text("reason", in: $0, of: .deletions) == "erasure" }
        let named = Array(zip(Self.texts("table", erased), Self.texts("id", erased)))
        let erasedClicks = named.filter { $0.0 == "clicks" }.map(\.1)
        #expect(erasedClicks == [0, 1, 2, 4, 3].map { clicks[$0].id.text })
        // The check that got the first click was erased with it.
        let checks = named.filter { $0.0 == "checks" }.map(\.1)
        #expect(checks.count == 1 && checks[0].hasPrefix("chk_") && erased.count == 6)
        #expect(Self.texts("app", erased) == [own, own, own, own, Self.other, own].map(\.text))
        #expect(erased.allSatisfy { $0.values[3] == .time(TestStore.noon) })
        for (index, rows) in rest.enumerated() { #expect(rows == Array(all[(index + 1)...])) }
        #expect(all.allSatisfy { ExportCursor($0.cursor.text, of: .deletions) == $0.cursor })
        #expect(Self.texts("id", ofOther).filter { $0 != "" } == [clicks[4].id.text])
        #expect(!Self.texts("app", ofOther).contains(own.text))
    }

    @Test(
        "state for each table the first day with stored rows, and again after retention has moved that day",
        arguments: backends
    )
    func retention(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let day = Timestamp(milliseconds: 1_699_920_000_000)
        #expect(try await test.run { try await ExportTests.rows(of: .deletions, $0) }.isEmpty)
        let first = try await test.run { session in
            for number in 1...5 as ClosedRange<UInt64> {
                _ = try await session.record(.sample(fingerprint: number))
            }
            _ = try await session.match(.sample(fingerprint: 1))
            return try await ExportTests.rows(of: .deletions, session)
        }
        func expect(_ rows: [ExportRow], _ day: Timestamp, _ tables: [String] = ["clicks", "checks"]) {
            #expect(Self.texts("table", rows) == tables)
            #expect(rows.allSatisfy { $0.values.suffix(2) == [.text("retention"), .time(day)] })
            #expect(rows.allSatisfy { $0.values[1..<4] == [.none, .none, .none] })
        }
        expect(first, day)
        let cursor = try #require(first.last?.cursor)
        #expect(try await test.run { try await ExportTests.rows(of: .deletions, behind: cursor, $0) }.isEmpty)
        test.clock.advance(seconds: 40 * 86_400)
        try test.database.runRetention()
        #expect(try test.count(.checks) == 0)
        let later = test.clock.now
        let (rows, known) = try await test.run { session in
            _ = try await session.record(.sample(fingerprint: 9, at: later))
            // The table of checks is empty, so it has a deletion row only for consumers that know that it had rows.
            return (
                try await ExportTests.rows(of: .deletions, session),
                try await ExportTests.rows(of: .deletions, behind: cursor, session)
            )
        }
        let laterDay = day.advanced(byMilliseconds: 40 * 86_400_000)
        expect(rows, laterDay, ["clicks"])
        if backend == .sqlite {
            expect(known, laterDay)
        } else {
            #expect(Self.texts("table", known) == ["clicks", "checks"])
        }
    }

    @Test("name each erased event by the cursor of its row", arguments: backends)
    func events(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let own = test.app
        let (events, rows, ofOther) = try await test.run { session in
            let app = App(id: Self.other, settings: App.Settings(name: "Other"), createdAt: TestStore.noon)
            try await session.create(app)
            for (app, ids) in [(own, ["a", "b", "c"]), (Self.other, ["d"])] {
                _ = try await session.record(try Self.batch(ids, of: app))
            }
            let events = try await ExportTests.rows(of: .events, session)
            for app in [own, Self.other] {
                let record = Erasure(
                    id: ErasureID(high: 1, low: app.low),
                    at: TestStore.noon,
                    app: app,
                    kind: .user,
                    actor: .command(user: "ann")
                )
                // The user has sent all events but the last one of an app.
                _ = try await session.erase(DataSubject(.user(live: [hash(5)], test: []), of: app), record)
            }
            return (
                events, try await ExportTests.rows(of: .deletions, pages: 1, session),
                try await ExportTests.rows(of: .deletions, app: Self.other, session)
            )
        }
        let erased = rows.filter { ExportTests.text("reason", in: $0, of: .deletions) == "erasure" }
        #expect(Self.texts("table", erased) == ["events", "events"])
        #expect(events.count == 4 && Self.texts("id", erased) == events[0..<2].map(\.cursor.text))
        #expect(Self.texts("app", erased) == [own.text, own.text])
        #expect(Self.texts("id", ofOther).allSatisfy { $0 == "" })
    }

    /// Events of a user; the last one names no user.
    private static func batch(_ ids: [String], of app: AppID) throws -> EventBatch {
        let events = try ids.enumerated().map { index, id in
            var event = AppEvent(id: id, name: try #require(EventName("open")), occurredAt: TestStore.noon)
            if index < ids.count - 1 { event.users = [hash(5)] }
            return event
        }
        return EventBatch(
            app: app,
            isTest: false,
            isVerified: false,
            receivedAt: TestStore.noon,
            events: events
        )
    }

    @Test("state the first day with stored events", arguments: backends)
    func eventRetention(backend: Backend) async throws {
        let month: Int64 = 30 * 86_400
        let test = try await TestStore(backend) { $0.installRetentionSeconds = month }
        let own = test.app
        let first = try await test.run { session in
            _ = try await session.record(try Self.batch(["a"], of: own))
            return try await ExportTests.rows(of: .deletions, session)
        }
        #expect(Self.texts("table", first) == ["events"])
        test.clock.advance(seconds: month + 3 * 86_400)
        try test.database.runRetention()
        let (later, cursor) = (test.clock.now, try #require(first.last?.cursor))
        let rows = try await test.run { session in
            // On SQLite, an export ends with the newest row.
            _ = try await session.record(.sample(at: later))
            return try await ExportTests.rows(of: .deletions, behind: cursor, session)
        }
        let row = try #require(rows.first { ExportTests.text("table", in: $0, of: .deletions) == "events" })
        guard case .time(let before)? = row.values.last else {
            Issue.record("\(row)")
            return
        }
        #expect(before > TestStore.noon)
    }

    @Test("continue behind a cursor of a version without events")
    func formerCursor() {
        let cursor = ExportCursor("12-5-6", of: .deletions)
        #expect(cursor == .deletion(DeletionCursor(number: 12, days: [5, 6])) && cursor?.text == "12-5-6-0")
        #expect(ExportCursor("12-5-6-7", of: .deletions)?.text == "12-5-6-7")
        for text in ["12-5", "12-5-6-7-8", "12-5--6", "12"] {
            #expect(ExportCursor(text, of: .deletions) == nil)
        }
    }

    @Test("end before a time", arguments: backends)
    func until(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let clock = test.clock
        let (early, all) = try await test.run { session in
            for number in 1...2 as ClosedRange<UInt64> {
                let click = try await session.record(.sample(fingerprint: number)).click
                try await Self.erase([click], of: AppID(high: 1, low: 1), session, number)
                clock.advance(seconds: 10)
            }
            let end = try await session.end(of: .deletions, at: clock.now)
            var query = ExportQuery(.deletions, end: end)
            let all = try await session.export(query).rows
            query.end = ExportTable.deletions.end(
                end,
                before: TestStore.noon.advanced(byMilliseconds: 10_000)
            )
            return (try await session.export(query).rows, all)
        }
        #expect(early.count == 1 && all.count == 2 && early.first == all.first)
    }
}
