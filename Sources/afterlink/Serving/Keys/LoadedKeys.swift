internal import Attribution
internal import Server

/// The keys of a serving process, from their files and recognised by the database.
struct LoadedKeys {
    let serverFile: ServerKeyFile
    let addressFile: AddressKeyFile
    var list: ServerKeyList
    var server: ServerKeys
    var addresses: AddressKeys
    /// The number of previous server keys that the database knows and the file lacks.
    let missing: Int

    /// Opens the files, creates those of a new database, and verifies that the keys are the database's own.
    ///
    /// With foreign keys every check would end in "no match", so that is detected at the start.
    init(_ configuration: Configuration, _ store: OpenStore, databaseIsNew: Bool) throws {
        serverFile = ServerKeyFile(path: configuration.serverKeyPath)
        addressFile = AddressKeyFile(path: configuration.addressKeyPath)
        // Delete drafts of changes that were killed; in a read-only folder there are none.
        for path in [serverFile.path, addressFile.path] { try? SecretFile(path: path).withLock {} }
        let now = WallClock.system.now()
        list = try serverFile.open(databaseIsNew: databaseIsNew)
        guard let server = list.keys(at: now) else { throw Self.foreign(configuration) }
        self.server = server
        let standing = try store.confirm(server.all.map(\.checkValue), now)
        guard case .own(let missing) = standing else { throw Self.foreign(configuration) }
        self.missing = missing
        addresses = try addressFile.open(at: now)
        addresses.coversEarlierDays = configuration.usesTestClock
    }

    var keyring: Keyring { Keyring(server: server, addresses: addresses) }

    /// Warnings to log at the start.
    var warnings: [String] {
        guard missing > 0 else { return [] }
        let keys = missing == 1 ? "a former server key is" : "\(missing) former server keys are"
        return [
            "\(keys) missing in \(serverFile.path): clicks that were stored before the rotation are not found; put it back"
                + " from the backup, as a further line of the file"
        ]
    }

    private static func foreign(_ configuration: Configuration) -> CommandFailure {
        CommandFailure(
            "The server key \(configuration.serverKeyPath) is not the one that \(configuration.databasePath) was made"
                + " with: no click in it could be found.",
            advice: "Put the database's own key back from the backup, or name it with --server-key-file."
        )
    }
}
