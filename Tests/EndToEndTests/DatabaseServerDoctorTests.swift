import Attribution
import Storage
import Support
import Testing
import afterlink

@Suite("The findings of doctor about a database server")
struct DatabaseServerDoctorTests {
    private static let now = Timestamp(milliseconds: 1_800_000_000_000)

    private func findings(_ change: (inout DatabaseServerReport) -> Void) -> [Diagnosis] {
        var report = DatabaseServerReport()
        report.version = "15.18"
        report.isLocal = true
        report.maximumConnections = 100
        report.lastDay = Self.now.milliseconds / 86_400_000 + 3
        change(&report)
        return DatabaseServerExamination(report, version: "1.0", at: Self.now).diagnoses()
    }

    @Test("a sound database server with one running Afterlink server gets no warning")
    func sound() {
        let found = findings { $0.runningVersions = ["1.0"] }
        #expect(found.allSatisfy { $0.status == .ok }, "\(found.map(\.line))")
        #expect(found.first?.text == "PostgreSQL 15.18, within this machine")
    }

    /// The name of a finding, its status, and a change of the facts that leads to this status.
    private static let faults: [(String, Diagnosis.Status, @Sendable (inout DatabaseServerReport) -> Void)] =
        [
            ("database_server", .problem, { $0.isStandby = true }),
            ("database_server", .problem, { $0.encoding = "LATIN1" }),
            ("database_disk", .problem, { $0.syncsDisk = false }),
            ("database_disk", .problem, { $0.restoresTornPages = false }),
            ("database_disk", .warning, { $0.cleansUp = false }),
            ("standbys", .warning, { $0.standbyCount = 1 }),
            ("standbys", .problem, { $0.synchronousStandbys = "b" }),
            ("database_clock", .problem, { $0.clockLead = -1001 }),
            ("database_connections", .warning, { $0.connectionCount = 81 }),
            ("servers", .warning, { $0.runningVersions = ["0.1"] }),
            (
                "partitions", .warning,
                {
                    $0.lastDay = now.milliseconds / 86_400_000
                    $0.runningVersions = ["1.0"]
                }
            ),
            ("partitions", .problem, { $0.missingPartitions = ["clicks_d20833"] }),
            (
                "counts", .warning,
                {
                    $0.waitingCounts = 1001
                    $0.runningVersions = ["1.0"]
                }
            ),
            ("transactions", .warning, { $0.preparedTransactions = 1 }),
        ]

    @Test("each fault gets one finding with advice", arguments: faults.indices)
    func fault(index: Int) {
        let (name, status, change) = Self.faults[index]
        let found = findings(change).filter { $0.status != .ok }
        #expect(found.map(\.name) == [name])
        #expect(found.map(\.status) == [status])
        #expect(found.allSatisfy { $0.advice != nil })
    }

    @Test("a pooler, the holders of leases and the waiting counts are named")
    func sharing() {
        let found = findings {
            $0.isPooled = true
            $0.waitingCounts = 3
            $0.leases = [("drift", nil), ("postbacks/7", 1), ("fold", 0)]
            $0.leases += (0..<12).map { ("postbacks/\($0 + 10)", 0) }
        }
        let texts = found.filter { ["leases", "counts", "database_server"].contains($0.name) }.map(\.text)
        let postbacks = (10..<21).map { ", postbacks/\($0)" }.joined()
        #expect(
            texts == [
                "PostgreSQL 15.18, within this machine, through a pooler in session mode",
                "server 0 does fold\(postbacks) and 1 more; server 1 does postbacks/7; a server that has ended does drift",
                "3 batches not in the statistics yet",
            ]
        )
    }

    @Test(
        "a synchronous standby is named, with the statement that a failover to it loses no acknowledged click"
    )
    func synchronous() {
        let found = findings {
            $0.synchronousStandbys = "FIRST 1 (b)"
            $0.standbyCount = 1
        }
        let text =
            "commits wait for FIRST 1 (b); 1 standby connected: a failover to it loses no acknowledged click"
        #expect(found.first { $0.name == "standbys" }?.text == text)
    }
}

#if PostgreSQL
@Suite("The command doctor on a PostgreSQL server", .blocking, .onPostgreSQL)
struct DatabaseServerDoctorRunTests {
    @Test("reads the facts of a real server")
    func facts() throws {
        let database = try PostgreSQLTestDatabase()
        let folder = try TemporaryFolder()
        let arguments = ["--database", database.socketURL, "--data-directory", folder.path]
        #expect(try Installation.run(["init"] + arguments).status == 0)
        let output = try Installation.run(["doctor", "--listen", "127.0.0.1:0"] + arguments)
        #expect(output.status == 0, "\(output.text) \(output.errors)")
        for line in [
            "database_server: PostgreSQL 1", "database_disk: fsync, full_page_writes and autovacuum are on",
            "standbys: none", "database_clock: it agrees", "servers: 0 servers running",
            "leases: no server does background work", "counts: 0 batches not in the statistics yet",
        ] { #expect(output.text.contains(line), "\(line): \(output.text)") }
        let maximum = try database.execute("SHOW max_connections")
        #expect(output.text.contains(" of \(maximum) in use"))
        // The last day with partitions comes from the database's own list.
        let day = try database.execute(
            "SELECT to_char(to_timestamp(max(slot) * 86400::int8), 'YYYY-MM-DD') FROM partitions"
        )
        #expect(output.text.contains("partitions: the last day with partitions is \(day)"))
    }
}
#endif
