import Attribution
import Crypto
import Dispatch
import Foundation
import Server
import Storage
import Support
import Synchronization
import Testing

@testable import afterlink

@Suite("The keyring in a database", .blocking)
struct KeyringTests {
    private let database: SharedDatabase

    init() throws {
        database = try SharedDatabase()
        try database.makeSecret()
    }

    private func failure(_ body: () throws -> Void) throws -> CommandFailure {
        try #require(throws: CommandFailure.self) { try body() }
    }

    @Test("servers of a new database agree on the keys without files, and no row shows a key")
    func agree() throws {
        let first = try database.start(1, databaseIsNew: true)
        let second = try database.start(2)
        #expect(first.found == second.found && first.found.count == 1)
        #expect(first.addresses.seeds == second.addresses.seeds)
        let rows = try database.wrapped()
        #expect(Set(rows.map(\.kind)) == [.server, .addresses] && rows.count == 2)
        let list = try database.source().serverKeys()
        let secrets = list.entries.map(\.bytes) + first.addresses.seeds.map(\.bytes)
        for row in rows {
            let text = String(decoding: row.wrapped, as: UTF8.self)
            for secret in secrets {
                #expect(!text.contains(Hexadecimal.text(of: secret)))
                #expect(Data(row.wrapped).range(of: Data(secret)) == nil)
            }
        }
        for server in ["1", "2"] {
            let files = try FileManager.default.contentsOfDirectory(atPath: database.folder.file(server))
            #expect(files.isEmpty)
        }
    }

    @Test("servers that start at once on a new database use one key")
    func firstStarts() throws {
        for _ in 0..<4 {
            let database = try SharedDatabase()
            try database.makeSecret()
            let found = Mutex<[[KeyedHash]]>([])
            DispatchQueue.concurrentPerform(iterations: 4) { index in
                do {
                    let keys = try database.load(Int64(index), databaseIsNew: true)
                    found.withLock { $0.append(keys.server.all.map(\.checkValue)) }
                } catch {
                    Issue.record(error)
                }
            }
            #expect(Set(found.withLock { $0 }).count == 1)
            #expect(try database.wrapped().count == 2)
        }
    }

    @Test("another secret opens nothing, and a start with it is refused and changes nothing")
    func wrongSecret() throws {
        _ = try database.start(1, databaseIsNew: true)
        try database.makeSecret("other")
        let rows = try database.wrapped()
        let refusal = try failure { _ = try database.load(2, secret: "other") }
        #expect(refusal.exitCode == .configuration)
        #expect(refusal.explanation.contains("other does not open the keyring"))
        #expect(refusal.advice.contains("the secret that the other servers use"))
        let isNew = try failure { _ = try database.load(2, secret: "other", databaseIsNew: true) }
        #expect(isNew.explanation == refusal.explanation)
        #expect(try database.wrapped() == rows)
    }

    @Test("the secret's file must exist, contain 64 digits, and be closed to other users")
    func secretFile() throws {
        let path = database.folder.file("secret")
        try database.write("abc\n", to: path)
        let damaged = try failure { _ = try KeyringSecret(path: path) }
        #expect(damaged.explanation.contains("must hold 64 hexadecimal digits"))
        try database.makeSecret()
        // Root's group may read a file of root.
        try FileManager.default.setAttributes([.posixPermissions: 0o604], ofItemAtPath: path)
        let open = try failure { _ = try KeyringSecret(path: path) }
        #expect(open.advice.contains("chmod 600"))
        try FileManager.default.removeItem(atPath: path)
        let missing = try failure { _ = try KeyringSecret(path: path) }
        #expect(
            missing.explanation.contains("cannot be read") && missing.advice.contains("openssl rand -hex 32")
        )
        #expect([damaged, open, missing].allSatisfy { $0.exitCode == .configuration })
    }

    @Test("a row with any changed byte, of another kind or with another number is refused")
    func damage() throws {
        let server = try database.start(1, databaseIsNew: true)
        try database.rotate()
        server.turn()
        let source = try database.source()
        let rows = try database.wrapped()
        let own = try #require(rows.first { $0.kind == .server })
        let addresses = try #require(rows.first { $0.kind == .addresses })
        let keyring = TableKeyring(tables: database.tables, server: nil)
        /// Puts these rows into the table, and returns why they are refused.
        func refusal(_ rows: [KeyringRow]) throws -> String {
            try database.tables.clear()
            for row in rows.sorted(by: { $0.number < $1.number }) { #expect(try keyring.insert(row)) }
            return try failure { _ = try source.serverKeys() }.explanation
        }
        func row(_ number: Int64, _ kind: KeyringRow.Kind, _ wrapped: [UInt8]) -> KeyringRow {
            KeyringRow(number: number, kind: kind, wrapped: wrapped, madeAt: own.madeAt)
        }
        for index in own.wrapped.indices {
            var wrapped = own.wrapped
            wrapped[index] ^= 0x80
            let text = try refusal([addresses, row(own.number, .server, wrapped)])
            #expect(text.contains("was damaged or exchanged"))
        }
        // The contents of both rows are exchanged, and the secret opens neither.
        let exchanged = try refusal([
            row(own.number, .server, addresses.wrapped), row(addresses.number, .addresses, own.wrapped),
        ])
        #expect(exchanged.contains("does not open the keyring"))
        // An old row cannot come back as a newer one, nor as one of the other kind.
        #expect(try refusal([addresses, row(own.number + 1, .server, own.wrapped)]).contains("exchanged"))
        #expect(try refusal([row(own.number, .addresses, own.wrapped), addresses]).contains("lacks keys"))
        // The maintenance of a running server logs the refusal once, and keeps the keys.
        let found = server.found
        _ = try refusal([addresses, row(own.number + 1, .server, own.wrapped)])
        for _ in 0..<3 { server.turn() }
        #expect(server.found == found)
        #expect(database.logged.components(separatedBy: "damaged or exchanged").count == 2)
    }

    @Test("servers store under a new key when every running server finds clicks under it")
    func rotation() throws {
        let (first, second) = (try database.start(1, databaseIsNew: true), try database.start(2))
        let former = first.current
        let new = try #require(try database.rotate().entries.first?.check)
        // The first server finds clicks under the new key; the second one does not know it yet.
        for _ in 0..<3 { first.turn() }
        #expect(first.current == former && Set(first.found) == [former, new])
        #expect(second.found == [former])
        // Until then, a second rotation adds no further key.
        #expect(try database.rotate().entries.count == 2)
        second.turn()
        #expect(second.current == new && first.current == former)
        first.turn()
        #expect(first.current == new && first.found == [new, former])
        #expect(second.found == [new, former])
        #expect(try database.wrapped().count == 2, "the former rows are deleted")
        // A server that starts now uses the new key.
        #expect(try database.start(3).current == new)
        for server in [first, second] {
            server.turn()
            #expect(server.current == new, "a server that starts does not bring a former key back")
        }
    }

    @Test(
        "a server that starts, or was silent for less than 30 s, delays a new key; a dead one does not"
    )
    func silentServers() throws {
        let first = try database.start(1, databaseIsNew: true)
        let former = first.current
        try database.tables.start(2)
        let new = try #require(try database.rotate().entries.first?.check)
        for _ in 0..<3 { first.turn() }
        #expect(first.current == former && first.found.contains(new))
        database.tables.now.withLock { $0 += 29_000 }
        try database.tables.touch(1)
        first.turn()
        #expect(first.current == former)
        database.tables.now.withLock { $0 += 2000 }
        first.turn()
        #expect(first.current == new)
    }

    @Test("`doctor` waits some seconds after a rotation before it names a server with other keys")
    func rotationInDoctor() throws {
        let (first, second) = (try database.start(1, databaseIsNew: true), try database.start(2))
        for server in [first, second] { server.turn() }
        let (now, source) = (WallClock.system.now(), try database.source())
        func problems(after seconds: Int64) throws -> [String] {
            let servers = try TableKeyring(tables: database.tables, server: nil).servers()
            let time = now.advanced(byMilliseconds: seconds * 1000)
            let found = try ServerKeyExamination.servers(servers, source.serverKeys(), source, at: time)
            return found.filter { $0.status == .problem }.map(\.line)
        }
        let key = ServerKeyList.Entry(bytes: SystemRandom.bytes(32), madeAt: now)
        try source.changeServerKeys(erasesFormer: false) { ServerKeyList([key] + $0.entries) }
        let seed = try #require(AddressKeyFile.newSeed(from: AddressKeys.day(of: now) + 1))
        try source.changeAddressKeys(at: now, erasesFormer: false) { $0.renewed(from: seed, readyUntil: now) }
        #expect(try problems(after: 1) == [])
        #expect(try problems(after: 6).count == 2)
        for server in [first, second] { server.turn() }
        #expect(try problems(after: 6) == [])
    }

    @Test("of several rotations at once, one adds a key")
    func rotationsAtOnce() throws {
        let server = try database.start(1, databaseIsNew: true)
        for count in 2...3 {
            DispatchQueue.concurrentPerform(iterations: 4) { _ in
                do { try database.rotate() } catch { Issue.record(error) }
            }
            #expect(try database.source().serverKeys().entries.count == count)
            server.turn()
        }
    }

    @Test("changes by several processes at once are all kept")
    func changesAtOnce() throws {
        _ = try database.start(1, databaseIsNew: true)
        let day = AddressKeys.day(of: WallClock.system.now())
        DispatchQueue.concurrentPerform(iterations: 4) { index in
            for offset in 1...10 {
                do {
                    let now = WallClock.system.now()
                    let source = try database.source()
                    if index == 0, offset < 6 {
                        try source.changeServerKeys(erasesFormer: false) { list in
                            ServerKeyList([.init(bytes: SystemRandom.bytes(32))] + list.entries)
                        }
                    }
                    // Each seed has a day of its own, later than the days of the seeds before it.
                    try source.changeAddressKeys(at: now, erasesFormer: false) { keys in
                        let last = keys.seeds.last?.day ?? day
                        return AddressKeyFile.newSeed(from: last + 1).map {
                            keys.renewed(from: $0, readyUntil: now)
                        }
                            ?? keys
                    }
                } catch {
                    Issue.record(error)
                }
            }
        }
        let source = try database.source()
        #expect(try source.serverKeys().entries.count == 6)
        let seeds = try source.addressKeys(at: WallClock.system.now()).seeds
        #expect(seeds.map(\.day) == (day...day + 40).map(\.self))
        #expect(try database.wrapped().count == 2)
    }

    @Test("the address keys of past days and a former server key are destroyed for all servers")
    func destruction() throws {
        let (first, second) = (try database.start(1, databaseIsNew: true), try database.start(2))
        let (seed, former) = (first.addresses.seeds, first.current)
        try database.rotate()
        for server in [first, second, first] { server.turn() }
        #expect(first.current != former && first.found.count == 2)
        let before = try database.wrapped()
        database.moveClock(byHours: 72)
        first.turn()
        #expect(first.addresses.firstDay > seed[0].day)
        for server in [first, second] {
            server.turn()
            #expect(server.found == [first.current])
            #expect(server.addresses.seeds == first.addresses.seeds && server.addresses.seeds != seed)
        }
        #expect(try Set(database.wrapped().map(\.number)).isDisjoint(with: before.map(\.number)))
        #expect(try database.wrapped().count == 2)
        #expect(database.logged.contains("a former server key was destroyed"))
    }

    @Test("if the keyring lacks a former server key, the warning at a start says to restore the table")
    func missingFormerKey() throws {
        let (first, second) = (try database.start(1, databaseIsNew: true), try database.start(2))
        try database.rotate()
        for server in [first, second, first] { server.turn() }
        let keys = try database.load(3)
        #expect(keys.server.all.count == 2 && keys.warnings.isEmpty)
        try database.source().changeServerKeys(erasesFormer: false) { ServerKeyList([$0.entries[0]]) }
        let warning = try database.load(4).warnings.joined()
        #expect(warning.contains("is missing in the keyring"), "\(warning)")
        #expect(warning.contains("restore the table `keyring`") && !warning.contains("file"), "\(warning)")
    }

    @Test(
        "a server with a secret copies its key files into the database; servers without a secret are then refused"
    )
    func copying() throws {
        let files = try database.start(1, secret: nil, databaseIsNew: true)
        // There are no key files in the folder of the second server.
        let missing = try failure { _ = try database.load(2) }
        #expect(missing.exitCode == .configuration)
        #expect(missing.explanation.contains("The keyring of the database is empty"))
        for name in ["afterlink.key", "afterlink.address-key"] {
            try FileManager.default.copyItem(
                atPath: database.folder.file("1/\(name)"),
                toPath: database.folder.file("2/\(name)")
            )
        }
        let keys = try database.load(2)
        #expect(keys.server.all.map(\.checkValue) == files.found)
        #expect(keys.addresses.seeds == files.addresses.seeds)
        #expect(keys.warnings.contains { $0.contains("were copied into the database") })
        let refusal = try failure { _ = try database.load(3, secret: nil) }
        #expect(refusal.advice.contains("--secret-file"))
        // A server that still has files does not get a new key, and until it stops, no server stores under
        // that key.
        try database.rotate()
        let second = try database.start(2)
        files.turn()
        second.turn()
        #expect(second.current == files.current && second.found.count == 2)
        // Key files of another database are not copied.
        let other = try SharedDatabase()
        try other.makeSecret()
        _ = try other.load(1, secret: nil, databaseIsNew: true)
        _ = try other.configuration("2")
        for name in ["afterlink.key", "afterlink.address-key"] {
            let path = other.folder.file("2/\(name)")
            try other.write(
                try String(contentsOfFile: database.folder.file("1/\(name)"), encoding: .utf8),
                to: path
            )
        }
        #expect(try failure { _ = try other.load(2) }.explanation.contains("is not the server key"))
        #expect(try other.wrapped().isEmpty)
    }
}

@Suite("Key files of several servers", .blocking)
struct SharedKeyFileTests {
    private let database: SharedDatabase
    private static let names = ["afterlink.key", "afterlink.address-key"]

    init() throws { database = try SharedDatabase() }

    private func failure(_ body: () throws -> Void) throws -> CommandFailure {
        try #require(throws: CommandFailure.self) { try body() }
    }

    private func path(_ server: Int64, _ name: String) -> String { database.folder.file("\(server)/\(name)") }

    private func text(_ server: Int64, _ name: String) throws -> String {
        try String(contentsOfFile: path(server, name), encoding: .utf8)
    }

    private func copy(_ names: [String] = names, to server: Int64) throws {
        _ = try database.configuration("\(server)", secret: nil)
        for name in names { try database.write(text(1, name), to: path(server, name)) }
    }

    @Test("the first start creates the files, and every other server is refused until it has both")
    func missing() throws {
        let first = try database.start(1, secret: nil, databaseIsNew: true)
        let none = try failure { _ = try database.load(2, secret: nil) }
        #expect(none.exitCode == .configuration && none.explanation.contains("2/afterlink.key are missing"))
        #expect(none.advice.contains("Copy") && none.advice.contains("--secret-file"))
        // The second server still sees a database without an app, because both start at once.
        for isSeen in [true, false] {
            if !isSeen { database.tables.now.withLock { $0 += 31_000 } }
            let race = try failure { _ = try database.load(2, secret: nil, databaseIsNew: true) }
            #expect(race.explanation.contains("2/afterlink.key are missing"))
            #expect(!FileManager.default.fileExists(atPath: path(2, "afterlink.key")))
        }
        try copy(["afterlink.key"], to: 2)
        let half = try failure { _ = try database.load(2, secret: nil) }
        #expect(half.explanation.contains("2/afterlink.address-key are missing"))
        try copy(to: 2)
        let second = try database.start(2, secret: nil)
        #expect(second.found == first.found && second.addresses.seeds == first.addresses.seeds)
    }

    @Test("a server with other keys is refused; `doctor` names it if it runs already")
    func others() throws {
        let first = try database.start(1, secret: nil, databaseIsNew: true)
        try copy(to: 2)
        try database.write(String(repeating: "ab", count: 32) + "\n", to: path(2, "afterlink.key"))
        let server = try failure { _ = try database.load(2, secret: nil) }
        #expect(server.explanation.contains("Server 1 of the database stores clicks under a key that"))
        try copy(to: 2)
        let day = try text(1, "afterlink.address-key")
        try database.write(
            day.prefix(11) + String(repeating: "cd", count: 32) + "\n",
            to: path(2, "afterlink.address-key")
        )
        let addresses = try failure { _ = try database.load(2, secret: nil) }
        #expect(addresses.explanation.contains("Server 1 of the database has other address keys"))
        // Even while no other server runs, the database recognises that a server key is not its own.
        database.tables.now.withLock { $0 += 31_000 }
        try database.write(String(repeating: "ab", count: 32) + "\n", to: path(2, "afterlink.key"))
        #expect(
            try failure { _ = try database.load(2, secret: nil) }.explanation.contains(
                "is not the server key"
            )
        )
        // Server 2 has other address keys, which only a running server can show. So it starts, and `doctor`
        // names it.
        try copy(["afterlink.key"], to: 2)
        let second = try database.start(2, secret: nil)
        #expect(second.found == first.found)
        try database.tables.touch(1)
        let source = try database.source(secret: nil, "1")
        let findings = try ServerKeyExamination.servers(
            TableKeyring(tables: database.tables, server: nil).servers(),
            source.serverKeys(),
            source,
            at: WallClock.system.now()
        )
        #expect(findings.map(\.status) == [.problem])
        #expect(findings[0].line.contains("server 2 has other address keys than"))
    }

    @Test(
        "a rotation is refused with the advice to use a secret, and a changed file waits for the next start"
    )
    func rotation() throws {
        let first = try database.start(1, secret: nil, databaseIsNew: true)
        let refusal = try failure {
            _ = try database.source(secret: nil, "1").changeServerKeys(erasesFormer: false) { $0 }
        }
        #expect(refusal.explanation.contains("cannot be rotated while servers run"))
        #expect(refusal.advice.contains("--secret-file"))
        let own = first.current
        let new = String(repeating: "ab", count: 32) + "\n"
        let former = try text(1, "afterlink.key")
        try database.write(new + former, to: path(1, "afterlink.key"))
        for _ in 0..<3 { first.turn() }
        #expect(first.found == [own])
        #expect(database.logged.components(separatedBy: "takes effect at the next start only").count == 2)
        // The first server could not find the clicks of a server that stores under the new key at once.
        try copy(to: 2)
        let unknown = try failure { _ = try database.load(2, secret: nil) }
        #expect(unknown.explanation.contains("Server 1 of the database lacks the first key of"))
        #expect(unknown.advice.contains("Append the new key below the current one"))
        // If the file lists the new key after the current one, the server stores no clicks under the new key, and only
        // finds clicks under it.
        try database.write(former + new, to: path(2, "afterlink.key"))
        let second = try database.start(2, secret: nil)
        #expect(second.current == own && second.found.count == 2)
    }

    @Test("each server destroys the address keys of past days in its own file, and the files stay equal")
    func days() throws {
        let first = try database.start(1, secret: nil, databaseIsNew: true)
        try copy(to: 2)
        let second = try database.start(2, secret: nil)
        let before = first.addresses.seeds
        database.moveClock(byHours: 72)
        for server in [first, second, first] { server.turn() }
        #expect(first.addresses.firstDay > before[0].day)
        #expect(first.addresses.seeds == second.addresses.seeds)
        #expect(try text(1, "afterlink.address-key") == text(2, "afterlink.address-key"))
    }
}

@Suite("Reports of held keys")
struct HeldKeyTests {
    @Test("a report is read as it was written, and bytes of any other length are refused")
    func bytes() {
        for count in 1...4 {
            let held = HeldKeys(
                server: (0..<count).map { UInt64($0) &* 0x9E37_79B9_7F4A_7C15 &- 1 },
                addresses: .max,
                addressDay: -5
            )
            #expect(held.bytes.count == 16 + 8 * count)
            #expect(HeldKeys(bytes: held.bytes) == held)
            for length in 0..<held.bytes.count where length < 24 || !length.isMultiple(of: 8) {
                #expect(HeldKeys(bytes: Array(held.bytes.prefix(length))) == nil)
            }
        }
    }

    @Test(
        "servers agree even if they have destroyed the keys of different days, and differ if their seeds differ"
    )
    func agreement() throws {
        let start = Timestamp(milliseconds: 20_000 * AddressKeys.period)
        let seed = try #require(AddressKeys.Seed(day: 20_000, bytes: SystemRandom.bytes(32)))
        let keys = try #require(AddressKeys([seed], readyUntil: start))
        let server = ServerKeys(try #require(ServerKey(bytes: SystemRandom.bytes(32))))
        for days in [Int64(0), 1, 32, 64, 100] {
            let later = start.advanced(byMilliseconds: days * AddressKeys.period)
            let advanced = keys.advanced(to: 20_000 + days, readyUntil: later)
            #expect(HeldKeys(server, keys, at: later).fits(advanced))
            #expect(HeldKeys(server, advanced, at: later) == HeldKeys(server, keys, at: later))
            #expect(HeldKeys(server, keys, at: start).fits(advanced) || days > 32)
        }
        let other = try #require(AddressKeys.Seed(day: 20_001, bytes: SystemRandom.bytes(32)))
        let renewed = keys.renewed(from: other, readyUntil: start)
        #expect(!HeldKeys(server, keys, at: start).fits(renewed))
        #expect(!HeldKeys(server, renewed, at: start).fits(keys))
    }
}
