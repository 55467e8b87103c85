import Foundation
import SQLite
import Support
import Synchronization
import Testing

/// Posts clicks without a pause in the background of a test.
private final class SteadyClicks: Sendable {
    private struct State: Sendable {
        var acknowledged: Set<Int> = []
        var refusals: [Int] = []
        var isOver = false
    }

    private let state = Mutex(State())
    private let ended = DispatchSemaphore(value: 0)
    private let progress = DispatchSemaphore(value: 0)

    init(_ server: AfterlinkProcess, from first: Int) {
        let load = self
        Thread.detachNewThread {
            try? load.run(server, from: first)
            load.ended.signal()
        }
    }

    private func run(_ server: AfterlinkProcess, from first: Int) throws {
        let connections = try (0..<8).map { _ in try server.connect() }
        var next = first
        while !state.withLock({ $0.isOver }) {
            for (offset, connection) in connections.enumerated() {
                try connection.sendClick(fingerprint(next + offset))
            }
            for (offset, connection) in connections.enumerated() {
                let status = try connection.receive().status
                state.withLock { state in
                    if status == 201 {
                        state.acknowledged.insert(next + offset)
                    } else {
                        state.refusals.append(status)
                    }
                }
                progress.signal()
            }
            next += connections.count
            // A connection ends after a thousand requests.
            if next - first > 7200 { return }
        }
    }

    var acknowledged: Set<Int> { state.withLock { $0.acknowledged } }
    var refusals: [Int] { state.withLock { $0.refusals } }

    /// Waits for this number of acknowledgements; returns false if none comes for 60 s.
    func wait(for count: Int) -> Bool {
        while acknowledged.count < count {
            if progress.wait(timeout: .now() + 60) == .timedOut { return false }
        }
        return true
    }

    func stop() {
        state.withLock { $0.isOver = true }
        ended.wait()
    }
}

extension Installation {
    var backup: String { folder.appending(path: "backup.db").path }

    fileprivate func exists(_ name: String) -> Bool {
        FileManager.default.fileExists(atPath: folder.appending(path: name).path)
    }

    /// Posts a click with the fingerprint of each number, and requires the acknowledgement.
    fileprivate func record(_ numbers: ClosedRange<Int>, on server: AfterlinkProcess) throws {
        let connection = try server.connect()
        for number in numbers { #expect(try connection.click(fingerprint(number)).status == 201) }
    }

    /// Sends a check with the fingerprint of each number, and expects a match.
    fileprivate func expectMatches(_ numbers: some Sequence<Int>, on server: AfterlinkProcess) throws {
        var connection = try server.connect()
        for (index, number) in numbers.enumerated() {
            if index % 900 == 899 { connection = try server.connect() }
            let reply = try connection.check(fingerprint(number), key: keys.app)
            #expect(reply.isMatch, "click \(number) is not in the restored database: \(reply.text)")
        }
    }

    /// Restores the backup into a new folder.
    fileprivate func restoredElsewhere() throws -> Installation {
        let copy = try Installation(keys: keys)
        let output = try Installation.run(["restore", backup, "--database", copy.database.path, "--json"])
        #expect(output.status == 0, "\(output.errors)")
        return copy
    }
}

/// Sets who may read and write a file.
func setMode(_ mode: Int, of path: String) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
}

@Suite("Backup and restore", .blocking)
struct BackupTests {
    @Test("a backup under load has every click that was acknowledged before; each matches with the same key")
    func underLoad() throws {
        let installation = try Installation()
        let server = try AfterlinkProcess(installation, ["--replay-grace", "0"])
        let load = SteadyClicks(server, from: 1)
        #expect(load.wait(for: 200))
        let before = load.acknowledged
        let output = try installation.run(["backup", installation.backup, "--json"])
        let during = load.acknowledged.count
        #expect(load.wait(for: during + 50), "clicks continue during the backup")
        load.stop()
        #expect(output.status == 0, "\(output.errors)")
        #expect(load.refusals == [], "no click was refused meanwhile")
        let json = try #require(JSONSerialization.jsonObject(with: output.standardOutput) as? [String: Any])
        #expect((json["clicks"] as? Int ?? 0) >= before.count)
        #expect(json["server_key"] as? String == installation.backup + ".key")

        let restored = try installation.restoredElsewhere()
        #expect(try restored.run(["verify"]).status == 0)
        let second = try AfterlinkProcess(restored, ["--replay-grace", "0"])
        try installation.expectMatches(before, on: second)
    }

    @Test("a backup includes the log that a killed server left")
    func afterKill() throws {
        let installation = try Installation()
        let server = try AfterlinkProcess(installation)
        try installation.record(1...50, on: server)
        server.kill()
        #expect(installation.exists("afterlink.db-wal"))
        #expect(try installation.run(["verify"]).status == 0)
        #expect(try installation.run(["backup", installation.backup]).status == 0)
        let restored = try installation.restoredElsewhere()
        let second = try AfterlinkProcess(restored)
        try installation.expectMatches(1...50, on: second)
    }

    @Test("a killed backup leaves only an unfinished copy, which the next backup replaces")
    func killedBackup() throws {
        let installation = try Installation()
        let disk = try FaultyDisk(in: installation.folder)
        try disk.set(.stuckSync)
        let process = try ChildProcess(
            Installation.binary,
            ["backup", installation.backup, "--database", installation.database.path],
            environment: disk.environment,
            errorLog: installation.folder.appending(path: "backup.log")
        )
        #expect(Polling.until { installation.exists("backup.db.afterlink-partial") })
        process.kill()
        #expect(installation.exists("backup.db.afterlink-partial"))
        #expect(!installation.exists("backup.db"))
        #expect(try installation.run(["backup", installation.backup]).status == 0)
        #expect(!installation.exists("backup.db.afterlink-partial"))
        #expect(try Installation.run(["verify", "--database", installation.backup]).status == 0)
    }

    @Test("on a full or failing disk a backup fails with the reason, and the last backup remains")
    func failingDisk() throws {
        let installation = try Installation()
        #expect(try installation.run(["backup", installation.backup]).status == 0)
        let last = try Data(contentsOf: URL(fileURLWithPath: installation.backup))
        let disk = try FaultyDisk(in: installation.folder)
        for isFull in [true, false] {
            try disk.set(Fault(isFull ? .write : .sync, of: .copy, .fail(isFull ? ENOSPC : EIO)))
            let words = ["backup", installation.backup, "--overwrite"]
            let output = try installation.run(words, environment: disk.environment)
            #expect(output.status == 1)
            #expect(output.errors.contains("No backup was made"))
            if isFull { #expect(output.errors.contains("full")) }
            #expect(try Data(contentsOf: URL(fileURLWithPath: installation.backup)) == last)
            #expect(!installation.exists("backup.db.afterlink-partial"))
        }
    }

    @Test("a database with an unreadable page is not backed up, and the last backup remains")
    func damagedSource() throws {
        let installation = try Installation()
        #expect(try installation.run(["backup", installation.backup]).status == 0)
        let last = try Data(contentsOf: URL(fileURLWithPath: installation.backup))
        try damage(table: "counts", of: installation.database)
        let output = try installation.run(["backup", installation.backup, "--overwrite"])
        #expect(output.status == 1)
        #expect(output.errors.contains("damaged"), "\(output.errors)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: installation.backup)) == last)
        let other = installation.folder.appending(path: "other.db").path
        #expect(try installation.run(["backup", other]).status == 1)
        #expect(!installation.exists("other.db") && !installation.exists("other.db.afterlink-partial"))
    }

    /// Overwrites the first page of a table; a mere copy of the database's pages does not notice this.
    private func damage(table: String, of database: URL) throws {
        let connection = try SQLiteConnection(path: database.path, access: .readWrite, busyMilliseconds: 5000)
        let statement = try connection.prepare(
            "SELECT rootpage FROM sqlite_schema WHERE type = 'table' AND name = ?1"
        )
        let page = try #require(try statement.first(table) { $0.integer(0) })
        let file = try FileHandle(forWritingTo: database)
        try file.seek(toOffset: UInt64(page - 1) * 4096)
        try file.write(contentsOf: Data(repeating: 0xA5, count: 4096))
        try file.close()
    }

    @Test("only the owner can read a backup and its key")
    func modes() throws {
        let installation = try Installation()
        #expect(try installation.run(["backup", installation.backup]).status == 0)
        for path in [installation.backup, installation.backup + ".key"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test("a backup to an unusable path is refused with advice, and changes nothing")
    func refusedNames() throws {
        let installation = try Installation()
        #expect(try installation.run(["backup", installation.backup]).status == 0)
        let before = try FileManager.default.contentsOfDirectory(atPath: installation.folder.path).sorted()
        let database = installation.database.path
        for (name, says) in [
            (installation.backup, "exists already"), (database, "is the database itself"),
            (database + "-wal", "is the database itself"),
            (installation.folder.appending(path: "none/a.db").path, "create it"),
            (installation.folder.path, "is not a file"),
        ] {
            let output = try installation.run(["backup", name])
            #expect(output.status == 1 && output.errors.contains(says), "\(name): \(output.errors)")
        }
        #expect(try installation.run(["backup", installation.folder.path + "/"]).status == 2)
        #expect(try installation.run(["backup"]).status == 2)
        #expect(try installation.run(["backup", database, "--overwrite"]).status == 1)
        let after = try FileManager.default.contentsOfDirectory(atPath: installation.folder.path).sorted()
        #expect(after == before)
    }

    @Test("a wrong server key is not backed up or restored, and a backup without a key is reported")
    func keys() throws {
        let installation = try Installation()
        let key = URL(fileURLWithPath: installation.database.path + ".key")
        let own = try String(contentsOf: key, encoding: .utf8)
        let other = String(own.filter { $0 != "\n" }.reversed())
        try FileHandle(forWritingTo: key).write(contentsOf: Data(other.utf8))
        let wrong = try installation.run(["backup", installation.backup])
        #expect(wrong.status == 1 && wrong.errors.contains("is not the server key of the database"))
        #expect(!installation.exists("backup.db") && !installation.exists("backup.db.key"))

        let without = try installation.run(["backup", installation.backup, "--without-server-key"])
        #expect(without.status == 0 && without.text.contains("no click of a restored database can be found"))
        #expect(!installation.exists("backup.db.key"))
        let target = installation.folder.appending(path: "restored.db").path
        let refused = try Installation.run(["restore", installation.backup, "--database", target])
        #expect(refused.status == 1 && refused.errors.contains("There is no server key"))
        try Data(other.utf8).write(to: URL(fileURLWithPath: installation.backup + ".key"))
        try setMode(0o600, of: installation.backup + ".key")
        let foreign = try Installation.run(["restore", installation.backup, "--database", target])
        #expect(foreign.status == 1 && foreign.errors.contains("is not the backup's"))
        #expect(!installation.exists("restored.db"))
    }
}
