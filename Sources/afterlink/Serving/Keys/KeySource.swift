internal import Attribution
internal import Storage

/// The place where a deployment stores its server keys and address keys.
///
/// Its functions may wait for a disk or a database, so an event loop must not call them.
protocol KeySource: Sendable {
    /// The path of the server keys, or another name for messages.
    var serverPlace: String { get }
    /// Whether several servers use the keys; each server then reports the keys that it holds.
    var isShared: Bool { get }
    /// Whether this process may remove server keys that nothing needs.
    var destroysServerKeys: Bool { get }

    /// Reads the keys at the start, and creates a new database's keys.
    ///
    /// - Parameters:
    ///   - databaseIsNew: whether nothing in the database depends on a key.
    ///   - now: the current time.
    ///   - recognize: asks the database whether the server keys are its own.
    /// - Returns: the keys.
    /// - Throws: if keys are missing or damaged, or are not the keys that the database or its other servers use.
    func load(
        databaseIsNew: Bool,
        at now: Timestamp,
        _ recognize: (ServerKeyList) throws -> ServerKeyRecognition
    ) throws -> StartKeys

    func serverKeys() throws -> ServerKeyList
    func addressKeys(at now: Timestamp) throws -> AddressKeys

    /// Returns the keys that this server reported, and a stamp.
    ///
    /// The stamp changes when the stored keys change, and when the keys that other servers hold change.
    func observe() throws -> (stamp: [[Int]], reported: HeldKeys?)

    /// Reports to other servers the keys under which this process can find clicks.
    func report(_ keys: HeldKeys) throws

    /// Returns why a running service must not replace its server keys `former` with `list`; nil if it may.
    func refusal(of list: ServerKeyList, after former: ServerKeyList) -> CommandFailure?

    /// Changes the server keys in one step for all processes.
    ///
    /// - Parameters:
    ///   - erasesFormer: whether the previous content is destroyed.
    ///   - body: returns the keys that replace the current ones; nil to change nothing. It may run more than once.
    /// - Returns: the keys that are stored now.
    /// - Throws: if the keys cannot be read or changed.
    @discardableResult
    func changeServerKeys(
        erasesFormer: Bool,
        _ body: (ServerKeyList) throws -> ServerKeyList?
    ) throws -> ServerKeyList

    /// Changes the address keys in one step for all processes, as ``changeServerKeys(erasesFormer:_:)``.
    @discardableResult
    func changeAddressKeys(
        at now: Timestamp,
        erasesFormer: Bool,
        _ body: (AddressKeys) -> AddressKeys
    ) throws -> AddressKeys

    /// The failure for server keys that do not belong to the database.
    var foreign: CommandFailure { get }

    /// How to restore the former server keys that the database knows but the source lacks.
    var formerKeyAdvice: String { get }
}

extension KeySource {
    var formerKeyAdvice: String {
        "restore each from the backup, as a further line of the file, below the newer keys"
    }

    func report(_ keys: HeldKeys) throws {}
    func refusal(of list: ServerKeyList, after former: ServerKeyList) -> CommandFailure? { nil }
}

/// The keys that a process starts with.
struct StartKeys {
    let list: ServerKeyList
    var addresses: AddressKeys
    /// The number of previous server keys that the database knows and the source lacks.
    let missing: Int
    /// Remarks for the log at the start, each a clause.
    var remarks: [String] = []
}

extension Configuration {
    /// Returns the source of a database's keys; `keyring` is nil if the database has no table for a keyring.
    func keySource(_ keyring: (any KeyringRows)?) throws -> any KeySource {
        let files = KeyFiles(self)
        guard let keyring else { return files }
        guard let secretFile else { return SharedKeyFiles(files, keyring) }
        return DatabaseKeyring(keyring, secret: try KeyringSecret(path: secretFile), files)
    }

    /// Returns the source of the keys for a command, which does not serve.
    ///
    /// - Parameter store: the database, if the command has opened it for writing.
    /// - Returns: the source.
    /// - Throws: if the database cannot be reached, or if its keyring needs a secret that the settings lack.
    func keySource(of store: OpenStore? = nil) throws -> any KeySource {
        let keyring: (any KeyringRows)?
        if let store {
            keyring = store.keyring
        } else {
            keyring = try CommandDatabase.explaining(self) { try $0.keyring() }
        }
        let source = try keySource(keyring)
        try (source as? SharedKeyFiles)?.requireEmptyKeyring()
        return source
    }

    /// Returns the server keys for a command, the current one first.
    func storedServerKeys() throws -> [ServerKey] { try keySource().serverKeys().all }
}

/// Key files that the processes of one database on one machine share.
struct KeyFiles: KeySource {
    let server: ServerKeyFile
    let addresses: AddressKeyFile
    private let database: String

    init(_ configuration: Configuration) {
        let isShared = configuration.isOnServer
        server = ServerKeyFile(path: configuration.serverKeyPath, isShared: isShared)
        addresses = AddressKeyFile(path: configuration.addressKeyPath, isShared: isShared)
        database = configuration.databaseName
    }

    var serverPlace: String { server.path }
    var isShared: Bool { false }
    var destroysServerKeys: Bool { true }

    func load(
        databaseIsNew: Bool,
        at now: Timestamp,
        _ recognize: (ServerKeyList) throws -> ServerKeyRecognition
    ) throws -> StartKeys {
        deleteDrafts(at: now)
        let list = try server.open(databaseIsNew: databaseIsNew)
        guard case .own(let missing) = try recognize(list) else { throw foreign }
        return StartKeys(list: list, addresses: try addresses.open(at: now), missing: missing)
    }

    /// Deletes the drafts that killed processes left; a read-only folder has no drafts.
    func deleteDrafts(at now: Timestamp) {
        for path in [server.path, addresses.path] {
            try? SecretFile(path: path).withLock {}
            TextFile.deleteDrafts(of: path, at: now)
        }
    }

    func serverKeys() throws -> ServerKeyList { try server.open(databaseIsNew: false) }
    func addressKeys(at now: Timestamp) throws -> AddressKeys { try addresses.open(at: now) }

    var stamps: [[Int]] { [server.stamp, addresses.stamp] }

    func observe() -> (stamp: [[Int]], reported: HeldKeys?) { (stamps, nil) }

    func changeServerKeys(
        erasesFormer: Bool,
        _ body: (ServerKeyList) throws -> ServerKeyList?
    ) throws -> ServerKeyList { try server.change(erasesFormer: erasesFormer, body) }

    func changeAddressKeys(
        at now: Timestamp,
        erasesFormer: Bool,
        _ body: (AddressKeys) -> AddressKeys
    ) throws -> AddressKeys { try addresses.change(at: now, erasesFormer: erasesFormer, body) }

    var foreign: CommandFailure {
        CommandFailure.configuration(
            "\(server.path) is not the server key of \(database): no click could be found."
        )
        .advising("Restore the database's key from the backup, or name it with --server-key-file.")
    }
}

extension HeldKeys {
    /// Describes the keys of a process.
    init(_ server: ServerKeys, _ addresses: AddressKeys, at now: Timestamp) {
        // Servers destroy the keys of old days, and begin new seeds, at slightly different times, so their keys for
        // today may differ. For a day after today and after the newest seed's day, all servers have the same key.
        let last = max(addresses.seeds.last?.day ?? 0, AddressKeys.day(of: now))
        let day = (last / Self.days + 1) * Self.days
        self.init(
            server: server.all.map(\.checkValue.index),
            addresses: Self.check(addresses, on: day),
            addressDay: day
        )
    }

    /// The number of days after which ``addressDay`` changes.
    private static let days: Int64 = 64

    /// Whether these address keys are the server's.
    func fits(_ keys: AddressKeys) -> Bool { Self.check(keys, on: addressDay) == addresses }

    private static func check(_ keys: AddressKeys, on day: Int64) -> UInt64 {
        keys.key(on: day).secret.checkValue.index
    }
}
