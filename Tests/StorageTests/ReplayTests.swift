import Attribution
import Simulation
import TestDatabases
import Testing

@Suite("Repeated answers")
struct ReplayTests {
    /// Returns a store with a matched click, and the claim, which by default was sent to its caller.
    private func matched(
        _ backend: Backend,
        install: UInt64? = nil,
        grace: Int64 = 60_000,
        isAnswered: Bool = true
    ) async throws -> (TestStore, Claim) {
        let test = try await TestStore(backend)
        let (monotonic, firstByteAt) = (test.monotonic, test.monotonic.now)
        let claim = try await test.run { session in
            let click = try await session.record(.sample()).click
            let check = Check.sample(install: install, grace: grace, firstByteAt: firstByteAt)
            guard case .claimed(let claim) = try await session.claim(click, by: .fingerprint, for: check)
            else { throw StoreError(.defect, "the first claim failed") }
            monotonic.advance(milliseconds: 10)
            if isAnswered { session.receipt(for: claim).willRespond() }
            return claim
        }
        return (test, claim)
    }

    private func strangersClick() throws -> NewClick {
        var click = try NewClick.sample()
        click.evidence.address = AddressHashes(exact: 107, near: 7)
        return click
    }

    private func fromHome(_ check: Check) -> Check {
        var check = check
        check.set(details: LaunchDetails(address: LaunchAddress(AddressHashes(exact: 100, near: 1))))
        return check
    }

    @Test("an installation gets its answer again until the click's window ends", arguments: backends)
    func replaysForInstall(backend: Backend) async throws {
        let (test, claim) = try await matched(backend, install: 5)
        let end = TestStore.noon.advanced(byMilliseconds: 86_400_000)
        let outcomes = try await test.run { session in
            [
                // This check has another fingerprint and another caller.
                try await session.match(
                    .sample(fingerprint: 9, at: end, caller: 9, install: 5, firstByteAt: 0)
                ),
                try await session.match(.sample(at: end.advanced(byMilliseconds: 1), install: 5)),
                try await session.match(.sample(install: 6)),
            ]
        }
        #expect(outcomes == [.replay(claim), .noMatch(.alreadyClaimed), .noMatch(.alreadyClaimed)])
    }

    @Test("an installation's answer does not go to a test check", arguments: backends)
    func keepsInstallsApart(backend: Backend) async throws {
        let (test, _) = try await matched(backend, install: 5)
        let outcome = try await test.run { try await $0.match(.sample(install: 5, isTest: true)) }
        #expect(outcome == .noMatch(.noClick))
    }

    @Test(
        "a caller gets its answer again within the grace period",
        arguments: backends,
        [
            (after: 0, grace: 60_000, isReplayed: true), (after: 60_000, grace: 60_000, isReplayed: true),
            (after: 60_001, grace: 60_000, isReplayed: false), (after: 0, grace: 0, isReplayed: false),
            (after: -60_000, grace: 60_000, isReplayed: true),
            (after: -60_001, grace: 60_000, isReplayed: false),
        ] as [(after: Int64, grace: Int64, isReplayed: Bool)]
    )
    func replaysForCaller(
        backend: Backend,
        expected: (after: Int64, grace: Int64, isReplayed: Bool)
    ) async throws {
        let (test, claim) = try await matched(backend)
        let now = TestStore.noon.advanced(byMilliseconds: expected.after)
        let outcome = try await test.run { try await $0.match(.sample(at: now, grace: expected.grace)) }
        #expect(outcome == (expected.isReplayed ? .replay(claim) : .noMatch(.alreadyClaimed)))
    }

    @Test(
        "a caller gets its answer again although many newer clicks have the fingerprint",
        arguments: backends
    )
    func replaysAmongNewerClicks(backend: Backend) async throws {
        let (test, claim) = try await matched(backend)
        let outcomes = try await test.run { session in
            for _ in 0..<220 { _ = try await session.record(strangersClick()) }
            return [
                try await session.match(fromHome(.sample(grace: 60_000))),
                try await session.match(fromHome(.sample(caller: 2, grace: 60_000))),
            ]
        }
        #expect(outcomes[0] == .replay(claim))
        #expect(outcomes[1] != .replay(claim))
    }

    @Test(
        "a caller's answer goes to no other caller, and to no check with an install id",
        arguments: backends
    )
    func refusesOthers(backend: Backend) async throws {
        let (test, _) = try await matched(backend)
        let outcomes = try await test.run { session in
            [
                try await session.match(.sample(caller: 2, grace: 60_000)),
                try await session.match(.sample(install: 5, grace: 60_000)),
            ]
        }
        #expect(outcomes == [.noMatch(.alreadyClaimed), .noMatch(.alreadyClaimed)])
    }

    @Test("a check that began before an answer was sent does not get that answer", arguments: backends)
    func refusesOverlapping(backend: Backend) async throws {
        let (test, claim) = try await matched(backend)
        let answeredAt = test.monotonic.now
        let outcomes = try await test.run { session in
            [
                try await session.match(.sample(grace: 60_000, firstByteAt: answeredAt - 1)),
                try await session.match(.sample(grace: 60_000, firstByteAt: answeredAt)),
            ]
        }
        #expect(outcomes == [.noMatch(.alreadyClaimed), .replay(claim)])
    }

    @Test("an answer that was not sent is not repeated", arguments: backends)
    func refusesUnanswered(backend: Backend) async throws {
        let (test, _) = try await matched(backend, isAnswered: false)
        let outcome = try await test.run { try await $0.match(.sample(grace: 60_000)) }
        #expect(outcome == .noMatch(.alreadyClaimed))
    }

    @Test("an earlier process's answer counts as sent", arguments: backends)
    func replaysAfterRestart(backend: Backend) async throws {
        let (first, claim) = try await matched(backend, isAnswered: false)
        first.stop()
        let second = try await TestStore(backend, in: first.place)
        // Before this time, another server could still be sending the answer.
        let later = TestStore.noon.advanced(byMilliseconds: 2000)
        let outcome = try await second.run { try await $0.match(.sample(at: later, grace: 60_000)) }
        #expect(outcome == .replay(claim))
    }

    @Test("an answer that was not delivered goes to the next check, once", arguments: backends)
    func redeliversOnce(backend: Backend) async throws {
        let (test, claim) = try await matched(backend, grace: 0)
        let outcomes = try await test.run { session in
            session.receipt(for: claim).failed()
            return [try await session.match(.sample(caller: 2)), try await session.match(.sample(caller: 3))]
        }
        #expect(outcomes == [.replay(claim), .noMatch(.alreadyClaimed)])
    }

    @Test("a delivered answer goes to no other check, even if a later response is lost", arguments: backends)
    func keepsDelivered(backend: Backend) async throws {
        let (test, claim) = try await matched(backend, grace: 0)
        let outcome = try await test.run { session in
            let receipt = session.receipt(for: claim)
            receipt.delivered()
            // An overlapping check of the installation gets the answer too.
            receipt.willRespond()
            receipt.failed()
            return try await session.match(.sample(caller: 2))
        }
        #expect(outcome == .noMatch(.alreadyClaimed))
    }

    @Test("of many checks at once, one gets an undelivered answer", arguments: backends)
    func redeliversToOneOfMany(backend: Backend) async throws {
        let (test, claim) = try await matched(backend, grace: 0)
        try await test.run { session in session.receipt(for: claim).failed() }
        let outcomes = try await test.runConcurrently(200) { session, number in
            try await session.match(.sample(caller: 10 + number, firstByteAt: 0))
        }
        #expect(outcomes.filter { $0 == .replay(claim) }.count == 1)
        #expect(outcomes.filter { $0 == .noMatch(.alreadyClaimed) }.count == 199)
    }

    @Test("an undelivered answer goes to its installation, and then to no other check", arguments: backends)
    func redeliversToInstall(backend: Backend) async throws {
        let (test, claim) = try await matched(backend, install: 5)
        let outcomes = try await test.run { session in
            session.receipt(for: claim).failed()
            return [
                try await session.match(.sample(install: 5)), try await session.match(.sample(caller: 3)),
            ]
        }
        #expect(outcomes == [.replay(claim), .noMatch(.alreadyClaimed)])
    }

    @Test(
        "the caller of a redelivered answer gets the answer again if other servers may use the database",
        arguments: backends
    )
    func repeatsRedelivered(backend: Backend) async throws {
        let (test, claim) = try await matched(backend)
        let monotonic = test.monotonic
        let outcomes = try await test.run { session in
            session.receipt(for: claim).failed()
            let new = Check.sample(caller: 2, grace: 60_000, firstByteAt: monotonic.now)
            var outcomes = [try await session.match(new)]
            session.receipt(for: claim).willRespond()
            for _ in 0..<220 { _ = try await session.record(strangersClick()) }
            monotonic.advance(milliseconds: 10)
            let repeated = Check.sample(caller: 2, grace: 60_000, firstByteAt: monotonic.now)
            outcomes.append(try await session.match(fromHome(repeated)))
            return outcomes
        }
        #expect(outcomes[0] == .replay(claim))
        // SQLite keeps the first caller, because one process knows of each answer whether it was delivered.
        if backend != .sqlite { #expect(outcomes[1] == .replay(claim)) }
        try test.database.catchUp()
        #expect(try test.verify().problems == [])
    }

    @Test(
        "an undelivered answer goes only to a check with its click's fingerprint, within the click's window",
        arguments: backends
    )
    func refusesLateRedelivery(backend: Backend) async throws {
        let (test, claim) = try await matched(backend, grace: 0)
        let after = TestStore.noon.advanced(byMilliseconds: 86_400_001)
        let outcomes = try await test.run { session in
            session.receipt(for: claim).failed()
            return [
                try await session.match(.sample(fingerprint: 2)), try await session.match(.sample(at: after)),
            ]
        }
        #expect(outcomes == [.noMatch(.noClick), .noMatch(.alreadyClaimed)])
    }

    @Test(
        "a caller's answer is repeated despite newer clicks, unless one is from the caller's address",
        arguments: backends,
        [
            (exact: 107, near: 7, isRepeated: true), (exact: 101, near: 1, isRepeated: true),
            (exact: 100, near: 1, isRepeated: false), (exact: nil, near: 0, isRepeated: true),
        ] as [(exact: UInt64?, near: UInt64, isRepeated: Bool)]
    )
    func distinguishesStrangersClicks(
        backend: Backend,
        example: (exact: UInt64?, near: UInt64, isRepeated: Bool)
    ) async throws {
        let (test, claim) = try await matched(backend)
        let later = TestStore.noon.advanced(byMilliseconds: 1000)
        let outcome = try await test.run { session in
            var click = try NewClick.sample(at: later)
            click.evidence.address = example.exact.map { AddressHashes(exact: $0, near: example.near) }
            _ = try await session.record(click)
            return try await session.match(fromHome(.sample(at: later, grace: 60_000)))
        }
        #expect((outcome == .replay(claim)) == example.isRepeated)
    }

    @Test("a click that comes after a claim, in its millisecond, matches", arguments: backends)
    func prefersClickOfSameMillisecond(backend: Backend) async throws {
        let (test, _) = try await matched(backend)
        let (outcome, click) = try await test.run { session in
            let click = try await session.record(.sample()).click
            return (try await session.match(.sample(grace: 60_000)), click)
        }
        #expect(outcome.isMatch(of: click, at: TestStore.noon))
    }

    @Test("a newer click matches before an earlier answer is repeated", arguments: backends)
    func prefersNewerClick(backend: Backend) async throws {
        let (test, claim) = try await matched(backend)
        let later = TestStore.noon.advanced(byMilliseconds: 1000)
        let (outcome, click) = try await test.run { session in
            session.receipt(for: claim).failed()
            let click = try await session.record(.sample(at: later)).click
            return (try await session.match(.sample(at: later, grace: 60_000)), click)
        }
        #expect(outcome.isMatch(of: click, at: later))
    }
}
