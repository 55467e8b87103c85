internal import Attribution
internal import Glibc
internal import Storage

/// The keys of a database, for copying them to or from its backup.
struct KeyCopy {
    let server: ServerKeyList
    /// The text of the file of the address keys; nil if there is none.
    let addresses: String?

    /// The suffix of the file of the server keys, after the database's path.
    static let serverSuffix = ".key"
    /// The suffix of the file of the address keys, after the database's path.
    static let addressSuffix = ".address-key"

    /// Reads the file of the server keys, which must be valid and closed to other users, and the file of the address
    /// keys if there is one.
    init(server path: String, addresses addressPath: String? = nil) throws {
        server = try ServerKeyFile(path: path).open(databaseIsNew: false)
        guard let addressPath, TextFile.exists(addressPath) else {
            addresses = nil
            return
        }
        addresses = try attempt(orElse: Self.failure) { try SecretFile(path: addressPath).read().text }
    }

    /// The keys that hashes may be stored under, the current one first.
    var keys: [ServerKey] { server.all }

    /// - Throws: an error with the sentence, if the database was last used with another key.
    func confirm(_ summary: DatabaseSummary, orElse sentence: String) throws(StoreError) {
        guard summary.fits(keys) == false else { return }
        throw StoreError(.incompatible, sentence)
    }

    /// Writes the keys beside a backup before the backup gets its name, so that no backup is ever without its keys.
    ///
    /// - Parameters:
    ///   - backup: the backup's path.
    ///   - publish: gives the backup its name.
    /// - Throws: what `publish` throws, after the previous files are restored; or an error if a file of keys cannot be
    ///   written.
    func accompany(_ backup: String, _ publish: () throws -> Void) throws {
        let paths = [backup + Self.serverSuffix, backup + Self.addressSuffix]
        let former = paths.map { path in (text: Self.text(at: path), exists: TextFile.exists(path)) }
        // Until the new backup has its name, the previous backup of that name needs the previous keys.
        let before = former[0].text.flatMap { ServerKeyList($0) }
        try Self.put((before.map(server.joined) ?? server).text, at: paths[0])
        if let addresses { try Self.put(addresses, at: paths[1]) }
        do {
            try publish()
        } catch {
            for (path, file) in zip(paths, former) {
                if let text = file.text {
                    try? Self.put(text, at: path)
                } else if !file.exists {
                    TextFile.delete(path)
                }
            }
            throw error
        }
        try Self.put(server.text, at: paths[0])
    }

    /// Writes the keys beside a restored database; other keys that were there move with the previous database.
    ///
    /// - Parameters:
    ///   - configuration: names the database.
    ///   - aside: the path that a previous database has now.
    ///   - hasReplaced: whether there was a previous database.
    /// - Throws: if a file of keys cannot be written.
    func restore(to configuration: Configuration, aside: String, hasReplaced: Bool) throws {
        try putServer(at: configuration.serverKeyPath, aside: aside + Self.serverSuffix, hasReplaced)
        // Without the backup's address keys, no launch would match the backup's live clicks by their addresses.
        let path = configuration.addressKeyPath
        let former = Self.text(at: path)
        guard let addresses, former != addresses else { return }
        if let former { try Self.put(former, at: aside + Self.addressSuffix) }
        try Self.put(addresses, at: path)
    }

    private func putServer(at path: String, aside: String, _ hasReplaced: Bool) throws {
        if isHeld(by: path) {
            // The database that was moved aside needs a key beside it, too.
            if hasReplaced, !TextFile.exists(aside), let text = Self.text(at: path) {
                try Self.put(text, at: aside)
            }
            return
        }
        if TextFile.exists(path) {
            try attempt(
                "The database is restored, but its key could not replace the previous one",
                advice: "Move \(path) away and copy the backup's key there, with mode 0600."
            ) { try SecretFile(path: path).move(to: aside) }
        }
        try Self.put(server.text, at: path)
    }

    /// Whether a file contains all of these server keys; it may also contain keys of a later rotation.
    func isHeld(by path: String) -> Bool { Self.list(at: path)?.holds(server) ?? false }

    /// Returns the server keys in a file; nil if it contains no valid keys.
    static func list(at path: String) -> ServerKeyList? { text(at: path).flatMap { ServerKeyList($0) } }

    /// Writes a text to a file that only its owner can read; returns when it is on disk.
    private static func put(_ text: String, at path: String) throws {
        let file = SecretFile(path: path)
        try attempt(orElse: failure) {
            guard TextFile.exists(path) else { return try file.create(text) }
            guard try file.read().text != text else { return }
            try file.withLock { try file.replace(by: text) }
        }
    }

    /// Returns the content of a file; nil if it cannot be read.
    private static func text(at path: String) -> String? { (try? SecretFile(path: path).read())?.text }

    private static func failure(_ error: SystemError) -> CommandFailure {
        CommandFailure.because("The keys could not be copied: \(error.text).")
            .advising("Make room or correct the folder's mode, and try again.")
    }
}
