import Attribution
import Storage
import TestDatabases
import Testing

/// The sessions of the dashboard, and the links that start them.
@Suite("Dashboard sessions")
struct SessionTests {
    private static func digest(_ text: String) -> KeyDigest { KeyDigest(of: text) }

    private static func session(_ text: String, at start: Timestamp = TestStore.noon, key: KeyID? = nil)
        -> DashboardSession
    {
        DashboardSession(
            digest: digest(text),
            key: key,
            createdAt: start,
            usedAt: start,
            expiresAt: start.advanced(byMilliseconds: DashboardSession.maximumMilliseconds)
        )
    }

    @Test("are stored by their digest until they end", arguments: backends)
    func startAndEnd(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let first = Self.session("a", key: KeyID(high: 0xffff_0000_0000_0001, low: 2))
        let second = Self.session("b")
        let found = try await test.run { session in
            try await session.start(first)
            try await session.start(second)
            try await session.end(Self.digest("b"))
            return [
                try await session.session(Self.digest("a")), try await session.session(Self.digest("b")),
                try await session.session(Self.digest("c")),
            ]
        }
        #expect(found == [first, nil, nil])
    }

    @Test("have the time of their last use, which never goes back", arguments: backends)
    func use(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let later = TestStore.noon.advanced(byMilliseconds: 3_600_000)
        let used = try await test.run { session in
            try await session.start(Self.session("a"))
            try await session.noteUse(of: Self.digest("a"), at: later)
            try await session.noteUse(of: Self.digest("a"), at: TestStore.noon)
            return try await session.session(Self.digest("a"))?.usedAt
        }
        #expect(used == later)
    }

    @Test("are deleted when a later one starts after their end", arguments: backends)
    func ended(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let old = Self.session("old")
        let isThere = try await test.run { session in
            try await session.start(old)
            try await session.start(Self.session("new", at: old.expiresAt))
            return try await session.session(old.digest) != nil
        }
        #expect(!isThere)
    }

    @Test("a link starts one session, and only until it expires", arguments: backends)
    func link(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let end = TestStore.noon.advanced(byMilliseconds: SignInLink.milliseconds)
        let last = end.advanced(byMilliseconds: -1)
        let outcomes = try await test.run { session in
            for text in ["x", "y"] {
                try await session.create(SignInLink(digest: Self.digest(text), expiresAt: end))
            }
            return [
                try await session.start(Self.session("late", at: end), by: Self.digest("x")),
                try await session.start(Self.session("a", at: last), by: Self.digest("y")),
                try await session.start(Self.session("b", at: last), by: Self.digest("y")),
                try await session.start(Self.session("c", at: last), by: Self.digest("unknown")),
                try await session.session(Self.digest("a")) != nil,
                try await session.session(Self.digest("late")) != nil,
                try await session.session(Self.digest("b")) != nil,
            ]
        }
        #expect(outcomes == [false, true, false, false, true, false, false])
    }

    @Test("a link that several browsers use at once starts one session", arguments: backends)
    func linkAtOnce(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let end = TestStore.noon.advanced(byMilliseconds: SignInLink.milliseconds)
        try await test.run { try await $0.create(SignInLink(digest: Self.digest("x"), expiresAt: end)) }
        let started = try await test.runConcurrently(20) { session, number in
            try await session.start(Self.session("\(number)"), by: Self.digest("x"))
        }
        #expect(started.count { $0 } == 1)
    }

    @Test("end after twelve hours without use, and after seven days in any case")
    func limits() {
        var session = Self.session("a")
        let idle = TestStore.noon.advanced(byMilliseconds: DashboardSession.idleMilliseconds)
        #expect(session.isValid(at: idle.advanced(byMilliseconds: -1)) && !session.isValid(at: idle))
        session.usedAt = session.expiresAt.advanced(byMilliseconds: -1)
        #expect(session.isValid(at: session.usedAt) && !session.isValid(at: session.expiresAt))
    }
}
