package import Attribution
internal import Foundation
package import SQLite
package import SQLiteStorage
package import Storage
package import Support

/// An SQLite database file in a folder.
package final class SQLitePlace: TestPlace {
    package let folder: TemporaryFolder
    package var path: String { folder.file("afterlink.db") }
    package var backend: Backend { .sqlite }

    private let pageLimit: Int64?
    private let permit: TestPermit?

    /// Uses a new folder by default, and limits the number of pages of the database if `pageLimit` is set.
    package init(_ folder: TemporaryFolder? = nil, pageLimit: Int64? = nil, permit: TestPermit? = nil)
        throws
    {
        self.folder = try folder ?? TemporaryFolder()
        self.pageLimit = pageLimit
        self.permit = permit
    }

    package func open(_ configuration: StoreConfiguration) throws(StoreError) -> any TestDatabase {
        var configuration = self.configuration(configuration)
        configuration.pageLimit = pageLimit
        return try SQLiteStore.open(configuration)
    }

    private func configuration(_ store: StoreConfiguration) -> SQLiteConfiguration {
        SQLiteConfiguration(path: path, store: store)
    }

    /// Returns a number as a connection of another process reads it.
    package func integer(_ sql: SQL) throws -> Int64 { try connect(.readOnly).integer(sql) }

    /// Runs a script as a connection of another process does.
    package func execute(_ script: String) throws { try connect(.readWrite).execute(script) }

    private func connect(_ access: SQLiteConnection.Access) throws(SQLiteError) -> SQLiteConnection {
        try SQLiteConnection(path: path, access: access, busyMilliseconds: 1000)
    }

    package func count(_ what: TestCount) throws -> Int64 {
        try connect(.readOnly).prepare(text: what.rawValue).first { $0.integer(0) } ?? 0
    }

    package func change(_ change: TestChange) throws { try execute(change.script) }

    /// Opens the database for a move; no store may have it open.
    package func moveSource() throws(StoreError) -> any MoveSource {
        try SQLiteMoveSource(configuration(StoreConfiguration(clock: .fixed(Timestamp(milliseconds: 0)))))
    }

    package func traces(of texts: [String], _ words: [UInt64]) throws -> (found: [String], missing: [String])
    {
        let files = ["", "-wal", "-shm"].compactMap { FileManager.default.contents(atPath: path + $0) }
        // An integer in a row has its highest byte first; a blob has the lowest byte of each word first.
        let wanted =
            texts.map { (name: $0, forms: [Data($0.utf8)]) }
            + words.map { word in
                (
                    name: String(word, radix: 16),
                    forms: [word.bigEndian, word.littleEndian].map { word in
                        Data((0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) })
                    }
                )
            }
        var (found, missing): ([String], [String]) = ([], [])
        for (name, forms) in wanted {
            let isFound = files.contains { file in forms.contains { file.holds($0) } }
            if isFound { found.append(name) } else { missing.append(name) }
        }
        return (found, missing)
    }

    package func roundTrip<Kept: Record>(_ record: Kept, in table: StaticString) throws -> Kept? {
        let connection = try connect(.readWrite)
        try connection.statement(.insert(table, Kept.columns)).run(record)
        return try connection.statement("SELECT \(Kept.columns) FROM \(table)").first(Kept.self)
    }

    package func verify(at now: Timestamp) throws(StoreError) -> VerificationReport {
        try DatabaseVerification.run(SQLiteConfiguration(path: path, clock: .fixed(now)))
    }

    package func history(of app: AppID, _ configuration: StoreConfiguration, keys: [ServerKey])
        throws(StoreError) -> any TrafficHistory
    {
        try SQLiteHistory.open(
            self.configuration(configuration),
            of: app,
            isTest: false,
            remaking: FingerprintReconstruction(keys: keys, data: .embedded, localization: .unknown)
        )
    }
}

extension SQLiteStore: TestDatabase {
    package func openSession(on loop: LoopThread) -> any LoopSession { makeSession() }
}

extension TestChange {
    fileprivate var script: String {
        switch self {
        case .failClaims(let caller):
            """
            CREATE TRIGGER defect BEFORE INSERT ON claims WHEN NEW.caller = \(Int64(bitPattern: caller.index))
            BEGIN SELECT RAISE(ROLLBACK, 'defect'); END
            """
        case .failMatches:
            """
            CREATE TRIGGER defect BEFORE INSERT ON checks WHEN NEW.outcome = 'match'
            BEGIN SELECT RAISE(ABORT, 'defect'); END
            """
        case .failDeletions:
            "CREATE TRIGGER defect BEFORE DELETE ON checks BEGIN SELECT RAISE(ABORT, 'defect'); END"
        case .failNothing: "DROP TRIGGER defect"
        case .hideLinks: "ALTER TABLE links RENAME TO gone"
        case .deleteMatches: "DELETE FROM checks WHERE outcome = 'match'"
        case .deleteRobots: "DELETE FROM click_index WHERE state = 1 AND closed_as = 'robot_click'"
        case .age:
            """
            UPDATE clicks SET visitor = NULL;
            UPDATE checks SET caller = NULL, probability = NULL;
            UPDATE checks SET exact_address = NULL, near_address = NULL WHERE id % 2 = 0;
            DELETE FROM checks WHERE id IN (SELECT id FROM checks WHERE outcome = 'match' LIMIT 3);
            """
        case .copyAddress(let times):
            """
            WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < \(times))
            INSERT INTO click_addresses (scope, near_address, clicked_at, click, exact_address, marks)
            SELECT scope, near_address, clicked_at + n * 400, click + n, exact_address + iif(n % 512, 1, 0), marks
            FROM number, (SELECT * FROM click_addresses LIMIT 1)
            """
        case .copyNewestEntry(let times):
            """
            WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < \(times))
            INSERT INTO click_index (
                scope, hash, state, since, click, hash_rest, expires_at, visit, platform_form, weight, visitor,
                destination, campaign
            )
            SELECT scope, hash, 0, since + iif(n % 2, 60000 + n, -60000 - n), click + n, hash_rest,
                expires_at, n, platform_form, weight, n, destination, campaign
            FROM number, (SELECT * FROM click_index ORDER BY click DESC LIMIT 1)
            """
        case .addLinks(let count):
            """
            INSERT INTO links (id_high, id_low, app, slug, search_text, created_at, updated_at)
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
            SELECT 100, i, 1, 'slug' || i, 'slug' || i, 0, 0 FROM n
            """
        case .addModels(let now):
            """
            INSERT INTO learning (scope, began_at, landmark)
            VALUES (99, \(now.milliseconds - 8640000), \(now.milliseconds)),
                (98, \(now.milliseconds), \(now.milliseconds + 500 * 86_400_000));
            INSERT INTO learnt_counters (scope, family, key, value) VALUES (98, 1, 0, 5);
            WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 3000)
            INSERT INTO learnt_counters (scope, family, key, value)
            SELECT 99, 7, n, n FROM number UNION ALL SELECT 99, 9, n, 0.01 FROM number;
            """
        case .delayModels: "UPDATE learning SET began_at = began_at + 86400000"
        case .addMatchRates(let group, let side, let days, let end):
            Self.insert(of: group, side, days, end: end)
        }
    }
}
