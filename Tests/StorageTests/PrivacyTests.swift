import Attribution
import SQLite
import Simulation
import Storage
import TestDatabases
import Testing

/// Showing and erasing the data of one person, in a store that contains other people's data.
@Suite("Privacy")
struct PrivacyTests {
    private static let fingerprint = hash(777_001)
    private static let install = hash(777_002)
    private static let caller = hash(777_003)
    private static let address = AddressHashes(exact: 0x7710_1111_2222_3333, near: 0x7710_4444_5555_6666)
    private static let texts = [
        "17.2|marker-7781", "meta-7781", "j_7781", "req-7781", "sdk-7781", "gclid-7781",
    ]

    /// The words of every keyed hash that the person's click, claim and checks store.
    private static var words: [UInt64] {
        [fingerprint, install, caller, hash(777_004), hash(777_005), hash(777_006)].map(\.index)
            + [address.exact, address.near, 0x7710_7777_8888_9999]
    }

    /// Returns a store with traffic of others, and with a click, a match and a launch without a match of one person.
    private static func filled(_ backend: Backend) async throws -> (TestStore, Click) {
        let test = try await TestStore(backend)
        let click = try await test.run { session in
            for number in 1...150 as ClosedRange<UInt64> {
                _ = try await session.record(.sample(fingerprint: number))
                if number % 3 == 0 {
                    _ = try await session.match(.sample(fingerprint: number, caller: number, install: number))
                }
            }
            var new = try NewClick.sample(
                fingerprint: 777_001,
                visit: 777_004,
                post: 777_005,
                idempotency: 777_006
            ) {
                $0.metadata = #"{"m":"meta-7781"}"#
                $0.clickIDs = #"{"gclid":"gclid-7781"}"#
                if let journey = JourneyID("j_7781") { $0.journeyID = journey }
            }
            new.evidence.address = address
            new.evidence.visitor = 0x7710_7777_8888_9999
            new.evidence.canonicalText = "17.2|marker-7781"
            let click = try await session.record(new).click
            for number in 151...300 as ClosedRange<UInt64> {
                _ = try await session.record(.sample(fingerprint: number))
            }
            for installs in [777_002, 777_009] as [UInt64] {
                var check = Check.sample(fingerprint: 777_001, caller: 777_003, install: installs)
                check.set(
                    details: LaunchDetails(
                        address: LaunchAddress(address),
                        sdkVersion: "sdk-7781",
                        requestID: "req-7781"
                    )
                )
                _ = try await session.match(check)
            }
            return click
        }
        return (test, click)
    }

    private static func record(_ kind: SubjectKind) -> Erasure {
        Erasure(
            id: ErasureID(high: 0xffff_0000_0000_0001, low: 9),
            at: TestStore.noon,
            app: AppID(high: 1, low: 1),
            kind: kind,
            actor: .command(user: "ann lee")
        )
    }

    private static func subject(_ kind: SubjectKind, _ click: Click) -> DataSubject {
        let key: DataSubject.Key =
            switch kind {
            case .click: .click(click.id)
            case .fingerprint: .fingerprint([hash(1_000_000), fingerprint])
            case .install: .install(live: [install], test: [hash(1_000_001)])
            case .user: .user(live: [], test: [])
            case .address:
                .address([address.near], isNetwork: true, since: TestStore.noon)
            }
        return DataSubject(key, of: AppID(high: 1, low: 1))
    }

    @Test(
        "everything stored about a person is found before an erasure, and nothing of it afterwards",
        arguments: backends,
        // Only events name users; `EventTests` erases them.
        SubjectKind.allCases.filter { $0 != .user }
    )
    func erases(backend: Backend, kind: SubjectKind) async throws {
        let (test, click) = try await Self.filled(backend)
        let subject = Self.subject(kind, click)
        let held = try await test.run { try await $0.held(subject) }
        #expect(held.counts.clicks == 1 && held.counts.claims == 1 && held.isComplete)
        let values = try Dictionary(
            #require(held.rows.first { $0.table == "claims" }).fields.map { ($0.name, $0.value) }
        ) { first, _ in first }
        let digits = String(click.id.high, radix: 16)
        #expect(values["click"] == .text(String(repeating: "0", count: 16 - digits.utf8.count) + digits))
        #expect(values["scope"] == .integer(2) && values["is_undelivered"] == .flag(false))
        #expect(try test.place.traces(of: Self.texts, Self.words).missing.isEmpty)
        let claims = try test.count(.claims)

        let record = Self.record(kind)
        let erasure = try await test.run { try await $0.erase(subject, record) }
        #expect(erasure.counts == held.counts && erasure.isLogCleared)
        // The launch without a match belongs to the fingerprint and to the address, but not to the click or
        // its installation.
        let others = kind == .click || kind == .install
        if others {
            #expect(erasure.counts.checks == 1)
        } else {
            #expect(erasure.counts.checks == 2)
            let left = try test.place.traces(of: Self.texts, Self.words)
            #expect(left.found.isEmpty, "\(left.found)")
        }
        #expect(try test.count(.claims) == claims - 1)
        #expect(try test.verify().isWhole)
        let again = try await test.run { session in
            (
                try await session.held(subject).rows.count,
                try await session.erasures(atMost: 10),
                try await session.view(for: .sample(fingerprint: 777_001)).reason
            )
        }
        #expect(again.0 == 0 && again.1.map(\.counts) == [erasure.counts] && again.2 == .noClick)
        #expect(again.1.first?.actor == .command(user: "ann lee") && again.1.first?.kind == kind)
    }

    @Test(
        "a launch without a match is found by its install id, but not at the request of an app",
        arguments: backends
    )
    func installWithoutMatch(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let (app, record) = (AppID(high: 1, low: 1), Self.record(.install))
        let (byApp, byOperator, left) = try await test.run { session in
            _ = try await session.match(.sample(fingerprint: 1, install: 777_002))
            _ = try await session.match(.sample(fingerprint: 2, install: 777_009))
            let subject = DataSubject(.install(live: [Self.install], test: []), of: app)
            return (
                try await session.held(subject.ofInstall(isTest: false)).counts.checks,
                try await session.erase(subject, record).counts.checks,
                try await session.held(subject).counts.checks
            )
        }
        #expect(byApp == 0 && byOperator == 1 && left == 0)
        #expect(try test.count(.checks) == 1)
    }

    @Test(
        "an installation is erased with the click of its match, also if the click's claim does not name it",
        arguments: backends,
        [false, true]
    )
    func matchOfAnotherClaim(backend: Backend, isByEvent: Bool) async throws {
        let test = try await TestStore(backend)
        let subject = DataSubject(.install(live: [Self.install], test: []), of: test.app)
            .ofInstall(isTest: false)
        let record = Self.record(.install)
        var event = AppEvent(id: "a", name: try #require(EventName("open")), occurredAt: TestStore.noon)
        event.installs = [Self.install]
        let sample = event
        let (held, erased) = try await test.run { session in
            _ = try await session.record(.sample())
            let claim = try #require(try await session.match(.sample()).claim)
            if isByEvent {
                // The event names the click of the match together with the installation.
                var event = sample
                event.click = claim.click.id
                let batch = EventBatch(
                    app: claim.click.facts.app,
                    isTest: false,
                    isVerified: false,
                    receivedAt: TestStore.noon,
                    events: [event]
                )
                #expect(try await session.record(batch) == [.accepted])
            } else {
                // The installation gets the answer that another caller has lost.
                session.receipt(for: claim).willRespond()
                session.receipt(for: claim).failed()
                let check = Check.sample(caller: 2, install: 777_002)
                #expect(try await session.match(check) == .replay(claim))
            }
            return (
                try await session.held(subject).counts, try await session.erase(subject, record).counts
            )
        }
        #expect(held.clicks == 1 && held.claims == 1 && held.installs == 1 && held.checks >= 1)
        #expect(erased == held)
        #expect(try test.count(.claims) == 0 && test.count(.checks) == 0)
        #expect(try test.verify().isWhole)
    }

    @Test("after an erasure was interrupted, the next one by an app erases the rest", arguments: backends)
    func interrupted(backend: Backend) async throws {
        let (test, _) = try await Self.filled(backend)
        let subject = DataSubject(.install(live: [Self.install], test: []), of: test.app)
            .ofInstall(isTest: false)
        let record = Self.record(.install)
        // Showing the data stores the records that wait in memory.
        _ = try await test.run { try await $0.held(subject) }
        let checks = try test.count(.checks)
        try test.change(.failDeletions)
        await #expect(throws: StoreError.self) {
            try await test.run { _ = try await $0.erase(subject, record) }
        }
        try test.change(.failNothing)
        let (counts, left) = try await test.run { session in
            (try await session.erase(subject, record).counts, try await session.held(subject).counts)
        }
        #expect(counts.clicks == 1 && counts.checks == 1 && left.isEmpty)
        #expect(try test.count(.checks) == checks - 1)
        #expect(try test.verify().isWhole)
    }

    @Test("a record of a check that is stored while its click is erased is erased too")
    func lateCheck() async throws {
        let (test, click) = try await Self.filled(.sqlite)
        // An app's request searches checks only for the clicks of the installation.
        let subject = DataSubject(.install(live: [Self.install], test: []), of: test.app)
            .ofInstall(isTest: false)
        let record = Self.record(.install)
        // Showing the data stores the records that wait in memory.
        _ = try await test.run { try await $0.held(subject) }
        let checks = try test.count(.checks)
        try test.execute(
            """
            CREATE TABLE late AS SELECT * FROM checks WHERE click = \(Int64(bitPattern: click.id.high));
            CREATE TRIGGER later AFTER DELETE ON clicks BEGIN
                INSERT INTO checks SELECT * FROM late; DELETE FROM late;
            END
            """
        )
        #expect(try test.integer("SELECT count(*) FROM late") == 1)
        let counts = try await test.run { try await $0.erase(subject, record).counts }
        #expect(try test.integer("SELECT count(*) FROM late") == 0)
        #expect(counts.clicks == 1 && counts.checks == 2)
        #expect(try test.count(.checks) == checks - 1)
    }

    @Test("an erasure reaches the record of a check that another server stores later", arguments: backends)
    func checkElsewhere(backend: Backend) async throws {
        let test = try await TestStore(backend) { $0.foreignUpdateMilliseconds = 5000 }
        let other = try await TestStore(backend, in: test.place)
        let subject = DataSubject(.fingerprint([Self.fingerprint]), of: test.app)
        let record = Self.record(.fingerprint)
        // The record of the check waits in the other server's memory.
        _ = try await other.run { try await $0.match(.sample(fingerprint: 777_001)) }
        let erased = try await test.run { try await $0.erase(subject, record).counts.checks }
        // Showing the data stores the records that wait in memory.
        let left = try await other.run { try await $0.held(subject).counts.checks }
        #expect(erased == 1 && left == 0)
        #expect(try test.count(.checks) == 0)
    }

    @Test("a post that repeats an erased click is a new click", arguments: backends)
    func repeatedPost(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let record = Self.record(.fingerprint)
        let isDuplicate = try await test.run { session in
            let new = try NewClick.sample(fingerprint: 777_001, visit: 777_004, idempotency: 777_006)
            _ = try await session.record(new)
            _ = try await session.erase(
                DataSubject(.fingerprint([Self.fingerprint]), of: new.facts.app),
                record
            )
            return try await session.record(new).isDuplicate
        }
        #expect(!isDuplicate)
    }

    @Test("erasures and names of erased rows are deleted after three years, also if nothing was ever counted")
    func oldNames() async throws {
        let test = try await TestStore()
        let now = TestStore.noon.milliseconds
        let subject = DataSubject(.user(live: [hash(1)], test: []), of: test.app)
        try await test.run { _ = try await $0.erase(subject, Self.record(.user)) }
        try test.execute(
            """
            INSERT INTO erasures SELECT 1, 2, 0, app_high, app_low, kind, actor, 0, 0, 0, 0, 0, 0, 0, 0 FROM erasures
            """
        )
        #expect(try test.integer("SELECT count(*) FROM erasures") == 2)
        try test.execute(
            """
            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
            INSERT INTO erased_rows SELECT i, 'clicks', i, i, 1, 1, 0 FROM n;
            INSERT INTO erased_rows VALUES (\(now << 16), 'clicks', 1, 1, 1, 1, \(now))
            """
        )
        test.clock.advance(seconds: 100 * 86_400)
        try test.database.deleteOldAudit()
        #expect(try test.integer("SELECT count(*) FROM erased_rows") == 1)
        #expect(try test.integer("SELECT count(*) FROM erasures") == 1)
        let holdings = try await test.run { try await $0.holdings() }
        #expect(holdings.first { $0.table == "erased_rows" }?.oldest == TestStore.noon)
    }

    @Test(
        "a click whose visitor asked not to be tracked is not a live click, before and after its erasure",
        arguments: backends
    )
    func untracked(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let (before, erasure, after) = try await test.run { session in
            _ = try await session.record(.sample())
            var new = try NewClick.sample(fingerprint: 2)
            new.fingerprints = []
            new.evidence.canonicalText = "ios" + ClickBasis.counted.suffix
            let click = try await session.record(new).click
            let before = try await session.statistics(StatisticsQuery(), at: TestStore.noon)
            let subject = DataSubject(.click(click.id), of: AppID(high: 1, low: 1))
            let erasure = try await session.erase(subject, Self.record(.click))
            return (before, erasure, try await session.statistics(StatisticsQuery(), at: TestStore.noon))
        }
        #expect(before.totals == [.clicks: 2] && before.liveClicks == 1)
        #expect(erasure.counts.clicks == 1)
        #expect(after.totals == [.clicks: 2] && after.liveClicks == 1)
    }

    @Test("an erasure does not change other apps, other people's data and the counts", arguments: backends)
    func leavesOthers(backend: Backend) async throws {
        let (test, click) = try await Self.filled(backend)
        let other = DataSubject(.click(click.id), of: AppID(high: 9, low: 9))
        let record = Self.record(.click)
        let (erasure, live, holdings) = try await test.run { session in
            let erasure = try await session.erase(other, record)
            _ = try await session.erase(Self.subject(.address, click), record)
            return (
                erasure, try await session.statistics(StatisticsQuery(), at: TestStore.noon),
                try await session.holdings()
            )
        }
        #expect(erasure.counts.isEmpty)
        #expect(live.totals[.clicks] == 301 && live.liveClicks == 250)
        let clicks = try #require(holdings.first { $0.table == "clicks" })
        #expect(clicks.count == 300 && clicks.oldest == TestStore.noon)
        #expect(holdings.first { $0.table == "erased_rows" }?.count == 3)
        // Elsewhere, claims have no table.
        #expect(holdings.contains { $0.table == "claims" } == (backend == .sqlite))
    }
}
