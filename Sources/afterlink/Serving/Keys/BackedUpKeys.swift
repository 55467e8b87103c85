/// The key files of a backup while it is made: written before the backup has its name, so that it never stands without
/// the keys that it needs.
struct BackedUpKeys {
    private let keyPath: String
    private let addressPath: String
    private let server: ServerKeyList
    /// What was there before; nil where nothing was.
    private let formerKey: String?
    private let formerAddresses: String?

    init(_ keys: KeyCopy, beside backup: String) throws {
        keyPath = backup + ".key"
        addressPath = backup + KeyCopy.addressSuffix
        server = keys.server
        formerKey = KeyCopy.text(at: keyPath)
        formerAddresses = KeyCopy.text(at: addressPath)
        // Until it is replaced, the backup of that name needs the keys that it was made with.
        let before = formerKey.flatMap { ServerKeyList($0) }
        try KeyCopy.put((before.map(server.joined) ?? server).text, at: keyPath)
        if let text = keys.addresses { try KeyCopy.put(text, at: addressPath) }
    }

    /// The backup did not get its name.
    func putBack() {
        for (former, path) in [(formerKey, keyPath), (formerAddresses, addressPath)] {
            guard let former else {
                TextFile.delete(path)
                continue
            }
            try? KeyCopy.put(former, at: path)
        }
    }

    /// The backup that needed others is gone.
    func finish() throws {
        try KeyCopy.put(server.text, at: keyPath)
    }
}
