import Attribution
import Crypto
import Foundation
import Server
import Storage
import Support
import Synchronization

@testable import afterlink

/// A database that several servers of one process use, each with a folder of its own for key files.
final class SharedDatabase: Sendable {
    let folder: TemporaryFolder
    let tables: KeyringTables
    let store: OpenStore
    let log: Log
    private let lines: Lines
    /// The clock of clicks, which moves only with ``moveClock(byHours:)``.
    private let clock = TestClock()

    private final class Lines: Sendable {
        let text = Mutex("")
    }

    private final class TestClock: Sendable {
        let aheadMilliseconds = Mutex<Int64>(0)
        var wallClock: WallClock {
            WallClock {
                WallClock.system.now().advanced(byMilliseconds: self.aheadMilliseconds.withLock { $0 })
            }
        }
    }

    init() throws {
        folder = try TemporaryFolder()
        tables = try KeyringTables(path: folder.file("keyring.db"))
        let lines = Lines()
        self.lines = lines
        log = try Log(format: .text, clock: .system) { bytes in
            lines.text.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
        }
        var configuration = afterlink.Configuration()
        configuration.dataDirectory = folder.path
        configuration.usesTestClock = true
        try CommandDatabase.prepareDirectory(configuration)
        store = try Wiring.database(configuration).open(for: .serving(clock: clock.wallClock, log: log))
    }

    deinit { store.stop(5000) }

    var logged: String {
        log.flush()
        return lines.text.withLock { $0 }
    }

    func moveClock(byHours hours: Int64) {
        clock.aheadMilliseconds.withLock { $0 += hours * 3_600_000 }
    }

    /// Returns the settings of a server; `secret` is the name of a file in the common folder.
    func configuration(_ server: String, secret: String? = "secret") throws -> afterlink.Configuration {
        var configuration = afterlink.Configuration()
        configuration.database = "postgres://database.example/afterlink"
        configuration.dataDirectory = folder.file(server)
        configuration.secretFile = secret.map(folder.file)
        try FileManager.default.createDirectory(
            atPath: configuration.dataDirectory,
            withIntermediateDirectories: true
        )
        return configuration
    }

    /// Writes a file that only its owner can read.
    func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }

    func makeSecret(_ name: String = "secret") throws {
        try write(Hexadecimal.text(of: SystemRandom.bytes(32)) + "\n", to: folder.file(name))
    }

    /// Reads the keys as a server does at its start; creates the keys of a new database.
    func load(_ server: Int64, secret: String? = "secret", databaseIsNew: Bool = false) throws -> LoadedKeys {
        try tables.start(server)
        var store = self.store
        store.keyring = TableKeyring(tables: tables, server: server)
        let configuration = try self.configuration("\(server)", secret: secret)
        do {
            return try LoadedKeys(configuration, store, databaseIsNew: databaseIsNew)
        } catch {
            // A process that ends disappears from the list of running servers soon.
            try tables.stop(server)
            throw error
        }
    }

    /// Starts a server, whose maintenance the test runs.
    func start(_ server: Int64, secret: String? = "secret", databaseIsNew: Bool = false) throws -> TestServer
    {
        let keys = try load(server, secret: secret, databaseIsNew: databaseIsNew)
        var store = self.store
        store.keyring = TableKeyring(tables: tables, server: server)
        var settings = ServiceSettings(version: "test")
        settings.usesTestClock = true
        let work = { (keyring: Keyring) in
            KeyMaintenance(keys, keyring, settings, clock: self.clock.wallClock, store: store, log: self.log)
        }
        return TestServer(keys, work)
    }

    /// The keys as a command reads them.
    func source(secret: String? = "secret", _ folder: String = "command") throws -> any KeySource {
        try configuration(folder, secret: secret).keySource(TableKeyring(tables: tables, server: nil))
    }

    /// Adds a server key as `afterlink server-key rotate` does, if the last one is in use.
    @discardableResult
    func rotate() throws -> ServerKeyList {
        try source().changeServerKeys(erasesFormer: false) { list in
            let now = WallClock.system.now()
            guard list.currentIndex(at: now) == 0 else { return nil }
            return ServerKeyList([.init(bytes: SystemRandom.bytes(32), madeAt: now)] + list.entries)
        }
    }

    /// Returns all rows, in the order of their numbers.
    func wrapped() throws -> [KeyringRow] {
        try TableKeyring(tables: tables, server: nil).rows().sorted { $0.number < $1.number }
    }
}

/// A running server, without loops.
final class TestServer {
    private let keyring: Keyring
    private var work: KeyMaintenance

    init(_ keys: LoadedKeys, _ work: (Keyring) -> KeyMaintenance) {
        keyring = keys.keyring
        self.work = work(keyring)
    }

    /// Does what the thread of the keys does twice a second.
    func turn() { work.runOnce() }

    /// The check value of the key that clicks are stored under.
    var current: KeyedHash { keyring.latest.server.current.checkValue }
    /// The check values of all keys that clicks are found under.
    var found: [KeyedHash] { keyring.latest.server.all.map(\.checkValue) }
    var addresses: AddressKeys { keyring.latest.addresses }
}
