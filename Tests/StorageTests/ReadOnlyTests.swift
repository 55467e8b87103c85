import Attribution
import SQLite
import SQLiteStorage
import Storage
import Testing

@Suite("A database that is opened for reading")
struct ReadOnlyTests {
    @Test("a read-only database is read while another process has the write lock, and refuses writes")
    func readsBesideWriter() async throws {
        let first = try await TestStore()
        try await first.run { _ = try await $0.record(.sample()) }
        let other = try SQLiteConnection(path: first.path, access: .readWrite, busyMilliseconds: 1000)
        try other.begin(.immediate)
        other.releaseFromThread()
        let second = try await TestStore(in: first.place) { $0.isReadOnly = true }
        let (report, directory, refusal) = try await second.run { session in
            let refusal = await code { _ = try await session.record(.sample()) }
            return (
                try await session.statistics(StatisticsQuery(), at: TestStore.noon), try session.directory(),
                refusal
            )
        }
        #expect(report.totals[.clicks] == 1)
        #expect(directory.apps.map(\.settings.name) == ["Shop"])
        #expect(refusal == .readOnly)
        second.stop()
        other.releaseFromThread()
        try other.rollback()
    }

    @Test("a database can be opened for reading after its writer has closed it")
    func readsClosed() async throws {
        let first = try await TestStore()
        try await first.run { _ = try await $0.record(.sample()) }
        first.stop()
        let second = try await TestStore(in: first.place) { $0.isReadOnly = true }
        let report = try await second.run { try await $0.statistics(StatisticsQuery(), at: TestStore.noon) }
        #expect(report.totals[.clicks] == 1)
    }
}
