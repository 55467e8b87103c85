#if PostgreSQL
import Attribution
import Foundation
import PostgreSQLStorage
import Server
import Support
import Testing

/// Servers of two versions on one database under load.
extension FleetTests {
    private static let formerProgram = ProcessInfo.processInfo.environment["AFTERLINK_TEST_OLD_BINARY"]
        .map { URL(filePath: $0) }

    @Test("servers run on while the next version migrates their database, and cannot start again")
    func migration() throws {
        let fleet = try Fleet(on: Fleet.shared().cluster)
        let load = FleetLoad(fleet, seed: 11)
        var next = try PostgreSQLConfiguration(url: fleet.url, name: "the fleet's database", clock: .system)
        load.run(for: .milliseconds(600))
        for number in 9001...(isLong ? 9020 : 9001) {
            next.migrations.append((name: "\(number)_next.sql", text: Self.migration(number)))
            let newer = next
            try load.run { try PostgreSQLStore.open(newer).stop(within: 1000) }
            let recovery = load.recover()
            #expect(recovery < Self.recoveryLimit)
        }
        fleet.kill(0)
        let error = #expect(throws: ChildProcess.Failure.self) { try fleet.start(0) }
        #expect(error?.description.contains("start a newer program") == true)
        // The programs of this version accept the database again.
        try fleet.database.execute("DELETE FROM migrations WHERE number > 9000")
        try fleet.start(0)
        try load.finish()
        print("migrations of the next version: \(load.summary)")
    }

    /// Returns a migration that locks the tables of clicks and checks, and extends a table that every server reads.
    private static func migration(_ number: Int) -> String {
        """
        ALTER TABLE checks ADD COLUMN next_\(number) text;
        ALTER TABLE clicks ADD COLUMN next_\(number) text;
        ALTER TABLE apps ADD COLUMN next_\(number) text NOT NULL DEFAULT 'next';
        CREATE INDEX next_\(number) ON attributed_installs (matched_at, click);
        """
    }

    @Test(
        "servers of the former version are replaced one by one, and each version matches the other's clicks",
        .enabled(if: formerProgram != nil, "AFTERLINK_TEST_OLD_BINARY names no binary of the former version")
    )
    func update() throws {
        let former = try #require(Self.formerProgram)
        let fleet = try Fleet(on: Fleet.shared().cluster, program: former)
        let load = FleetLoad(fleet, seed: 12)
        load.run(for: .milliseconds(600))
        func matches(_ recording: URL, by matching: URL) -> Int {
            load.ledger.matchCounts[.init(recording: recording, matching: matching)] ?? 0
        }
        func crossings() -> (ofFormer: Int, ofThis: Int) {
            (matches(former, by: Installation.binary), matches(Installation.binary, by: former))
        }
        for index in 0..<Fleet.serverCount {
            try load.run {
                fleet.stop(index)
                try fleet.start(index)
            }
            let recovery = load.recover()
            #expect(recovery < Self.recoveryLimit)
            print("server \(index + 1) of \(Fleet.serverCount) replaced: success after \(recovery.inSeconds)")
            guard index < Fleet.serverCount - 1 else { break }
            let (enough, end) = ((index + 1) * (isLong ? 1000 : 50), Polling.end)
            while min(crossings().ofFormer, crossings().ofThis) < enough, ContinuousClock.now < end {
                load.run(for: .milliseconds(100))
            }
            #expect(min(crossings().ofFormer, crossings().ofThis) >= enough)
        }
        try load.finish()
        print(
            "\(crossings().ofFormer) clicks of the former version matched by this version,"
                + " \(crossings().ofThis) the other way; \(load.summary)"
        )
    }
}
#endif
