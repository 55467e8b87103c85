internal import Attribution
internal import Server
internal import Storage

/// The keys of a serving process, read from their source and recognised by the database.
struct LoadedKeys {
    let source: any KeySource
    var list: ServerKeyList
    var server: ServerKeys
    var addresses: AddressKeys
    /// The number of previous server keys that the database knows and the source lacks.
    let missing: Int
    private let remarks: [String]

    /// Reads the keys, creates a new database's keys, and verifies that the keys belong to the database.
    ///
    /// With the keys of another database, every check would end in "no match".
    init(_ configuration: Configuration, _ store: OpenStore, databaseIsNew: Bool) throws {
        let source = try configuration.keySource(store.keyring)
        let now = WallClock.system.now()
        let found = try source.load(databaseIsNew: databaseIsNew, at: now) { list in
            guard let keys = list.keys(at: now) else { return .foreign }
            return try store.keys.confirm(keys.all.map(\.checkValue), at: now)
        }
        guard let server = found.list.keys(at: now) else { throw source.foreign }
        (self.source, self.server, list, missing) = (source, server, found.list, found.missing)
        (addresses, remarks) = (found.addresses, found.remarks)
        addresses.coversEarlierDays = configuration.usesTestClock
        // Until a report succeeds, other servers wait for this one before they store under a new key.
        if source.isShared { try? source.report(HeldKeys(server, addresses, at: now)) }
    }

    var keyring: Keyring { Keyring(server: server, addresses: addresses) }

    /// Warnings to log at the start.
    var warnings: [String] {
        guard missing > 0 else { return remarks }
        let keys = missing == 1 ? "a former server key is" : "\(missing) former server keys are"
        return remarks + [
            "\(keys) missing in \(source.serverPlace): clicks from before the rotation are not found;"
                + " \(source.formerKeyAdvice)"
        ]
    }
}
