/// The key files of a backup in progress, written before the backup gets its name, so that no backup is ever without
/// its keys.
struct BackedUpKeys {
    private let keyPath: String
    private let addressPath: String
    private let server: ServerKeyList
    /// The previous content; nil if there was none.
    private let formerKey: String?
    private let formerAddresses: String?

    init(_ keys: KeyCopy, beside backup: String) throws {
        keyPath = backup + ".key"
        addressPath = backup + KeyCopy.addressSuffix
        server = keys.server
        formerKey = KeyCopy.text(at: keyPath)
        formerAddresses = KeyCopy.text(at: addressPath)
        // Until it is replaced, the previous backup of that name needs its own keys.
        let before = formerKey.flatMap { ServerKeyList($0) }
        try KeyCopy.put((before.map(server.joined) ?? server).text, at: keyPath)
        if let text = keys.addresses { try KeyCopy.put(text, at: addressPath) }
    }

    /// Restores the previous files, because the backup did not get its name.
    func putBack() {
        for (former, path) in [(formerKey, keyPath), (formerAddresses, addressPath)] {
            guard let former else {
                TextFile.delete(path)
                continue
            }
            try? KeyCopy.put(former, at: path)
        }
    }

    /// Removes the keys that only the previous backup needed.
    func finish() throws {
        try KeyCopy.put(server.text, at: keyPath)
    }
}
