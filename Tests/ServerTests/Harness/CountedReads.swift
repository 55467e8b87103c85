import Attribution
import Storage
import Synchronization

/// The numbers of reads of exported tables and of sessions.
final class ReadCounts: Sendable {
    private let state = Mutex((exports: 0, sessions: 0))

    var exports: Int { state.withLock(\.exports) }
    var sessions: Int { state.withLock(\.sessions) }

    func countExport() { state.withLock { $0.exports += 1 } }
    func countSession() { state.withLock { $0.sessions += 1 } }
}

/// The real store of exports and sessions, whose reads ``ReadCounts`` counts.
final class CountedReads: ExportStore, SessionStore {
    private let session: any LoopSession
    private let counts: ReadCounts

    init(_ session: any LoopSession, _ counts: ReadCounts) { (self.session, self.counts) = (session, counts) }

    func end(of table: ExportTable, at now: Timestamp) async throws(StoreError) -> ExportCursor {
        try await session.end(of: table, at: now)
    }

    func export(_ query: ExportQuery) async throws(StoreError) -> ExportPage {
        counts.countExport()
        return try await session.export(query)
    }

    func session(_ digest: KeyDigest) async throws(StoreError) -> DashboardSession? {
        counts.countSession()
        return try await session.session(digest)
    }

    func sessions() async throws(StoreError) -> [DashboardSession] {
        counts.countSession()
        return try await session.sessions()
    }

    func start(_ started: DashboardSession) async throws(StoreError) { try await session.start(started) }

    func start(_ started: DashboardSession, by link: KeyDigest) async throws(StoreError) -> Bool {
        try await session.start(started, by: link)
    }

    func create(_ link: SignInLink) async throws(StoreError) { try await session.create(link) }

    func noteUse(of digest: KeyDigest, at now: Timestamp) async throws(StoreError) {
        try await session.noteUse(of: digest, at: now)
    }

    func end(_ digest: KeyDigest, by actor: AuditActor) async throws(StoreError) {
        try await session.end(digest, by: actor)
    }

    func endAll(but digest: KeyDigest, by actor: AuditActor) async throws(StoreError) {
        try await session.endAll(but: digest, by: actor)
    }

    func setDashboard(_ url: String) async throws(StoreError) { try await session.setDashboard(url) }
    func dashboards() async throws(StoreError) -> [(server: Int64, url: String)] {
        try await session.dashboards()
    }
}
