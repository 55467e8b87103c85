import Attribution
import Storage
import Support
import Synchronization
import TestDatabases

/// A database on which the contract of claims (``ClaimContract``) is tested.
protocol ClaimBackend: Sendable {
    /// Opens the database as another process does.
    func openProcess() async throws -> any ClaimProcess
    /// Makes every later transaction fail in which this caller claims a click.
    func fail(caller: UInt64) throws
}

/// An open database with its own writer, which stands for a process; the tests open several in one real process.
protocol ClaimProcess: Sendable {
    var queueLength: Int { get }
    func runClaims<Result: Sendable>(_ body: @escaping @Sendable (any ClickStore) async throws -> Result)
        async throws -> Result
    func queueWork(_ body: @escaping @Sendable () -> Void)
    func expireWaiting()
    func stop()
}

/// Two open databases, standing for two processes, that record and claim in the same rows.
final class TwoProcesses: Sendable {
    let backend: any ClaimBackend
    private let processes: Mutex<[any ClaimProcess]>

    init(_ backend: any ClaimBackend) async throws {
        self.backend = backend
        processes = Mutex([try await backend.openProcess(), try await backend.openProcess()])
    }

    deinit { stop() }

    private func process(_ number: Int) -> any ClaimProcess { processes.withLock { $0[number] } }

    func record(_ click: NewClick) async throws -> Click {
        try await process(0).runClaims { try await $0.record(click).click }
    }

    /// Claims a click through process 0 or 1.
    func claim(_ click: Click, for check: Check, by process: Int) async throws -> ClaimOutcome {
        try await self.process(process).runClaims { try await $0.claim(click, by: .fingerprint, for: check) }
    }

    /// Matches a check through process 0 or 1, which reads, decides and claims until there is an outcome.
    func match(_ check: Check, by process: Int) async throws -> MatchOutcome {
        try await self.process(process).runClaims { try await $0.match(check) }
    }

    /// Returns the live clicks of fingerprint 1 that a process sees, newest first, by the first half of their ids.
    func live(in process: Int) async throws -> [UInt64] {
        try await self.process(process).runClaims { try await $0.view(for: .sample(caller: 99)).live }
    }

    /// Makes a claim that is committed after its caller's time limit.
    ///
    /// - Returns: the code of the error that the caller gets; nil if the caller gets none.
    func claimLate(_ click: Click, for check: Check) async throws -> StoreError.Code? {
        let process = process(0)
        let (before, within) = (Gate(), Gate())
        process.queueWork { before.pass() }
        await before.wait()
        async let late = claimCode(click, for: check)
        while process.queueLength < 2 { await Task.yield() }
        // This work, which is queued behind the claim, keeps the claim's transaction open.
        process.queueWork { within.pass() }
        before.open()
        await within.wait()
        process.expireWaiting()
        let result = await late
        within.open()
        return result
    }

    private func claimCode(_ click: Click, for check: Check) async -> StoreError.Code? {
        await code { _ = try await claim(click, for: check, by: 0) }
    }

    /// Closes the database in both processes and opens it again.
    func restart() async throws {
        stop()
        let again = [try await backend.openProcess(), try await backend.openProcess()]
        processes.withLock { $0 = again }
    }

    private func stop() { for process in processes.withLock({ $0 }) { process.stop() } }
}

/// A database that each process opens as a store.
final class StoredClaims: ClaimBackend {
    let place: any TestPlace

    init(_ backend: Backend) async throws { place = try await backend.makePlace(at: TestStore.noon) }

    func openProcess() async throws -> any ClaimProcess { try await TestStore(place.backend, in: place) }
    func fail(caller: UInt64) throws { try place.change(.failClaims(caller: hash(caller))) }
}

extension TestStore: ClaimProcess {
    var queueLength: Int { database.health.queueLength }

    func runClaims<Result: Sendable>(_ body: @escaping @Sendable (any ClickStore) async throws -> Result)
        async throws -> Result
    { try await run { try await body($0) } }

    func queueWork(_ body: @escaping @Sendable () -> Void) { database.queueWork(body) }
    func expireWaiting() { database.expireWaiting() }
}

extension MemoryDatabase: ClaimBackend {
    func openProcess() throws -> any ClaimProcess { try MemoryStore(self) }
    func fail(caller: UInt64) { failing.withLock { _ = $0.insert(hash(caller).index) } }
}

extension MemoryStore: ClaimProcess {
    var queueLength: Int { state.healthSnapshot.queueLength }

    func runClaims<Result: Sendable>(_ body: @escaping @Sendable (any ClickStore) async throws -> Result)
        async throws -> Result
    {
        try await onLoop { [self] in
            let session = makeSession()
            defer { session.endTurn() }
            return try await body(session)
        }
    }

    func queueWork(_ body: @escaping @Sendable () -> Void) { state.queueWork(body) }
    func expireWaiting() { state.expireWaiting() }
}
