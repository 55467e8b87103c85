internal import Attribution
internal import Glibc
internal import Server

/// The keys of a database, as they are copied to or from its backup.
struct KeyCopy {
    let server: ServerKeyList
    /// The text of the file of the address keys; nil if there is none.
    let addresses: String?

    /// The suffix of the file of the address keys, after the database's path.
    static let addressSuffix = ".address-key"

    /// Reads a key file, which must exist, be valid and readable only by its owner, and that of the address keys if it exists.
    init(server path: String, addresses addressPath: String? = nil) throws {
        server = try ServerKeyFile(path: path).open(databaseIsNew: false)
        guard let addressPath, TextFile.exists(addressPath) else {
            addresses = nil
            return
        }
        addresses = try attempt {
            try SecretFile(path: addressPath).read().text
        } orElse: {
            Self.failure($0)
        }
    }

    /// The keys that anything may be stored under, the current ones first.
    var keys: [ServerKey] { server.keys(at: WallClock.system.now())?.all ?? [] }

    /// Writes a text to a file that only its owner can read, and replaces a previous one; returns when it is on disk.
    static func put(_ text: String, at path: String) throws {
        let file = SecretFile(path: path)
        try attempt {
            guard TextFile.exists(path) else { return try file.create(text) }
            guard try file.read().text != text else { return }
            try file.withLock { try file.replace(by: text) }
        } orElse: {
            failure($0)
        }
    }

    /// Returns the content of a file; nil if it cannot be read.
    static func text(at path: String) -> String? {
        (try? SecretFile(path: path).read())?.text
    }

    private static func failure(_ error: SystemError) -> CommandFailure {
        CommandFailure(
            "The server key could not be copied: \(error.text).",
            advice: "Nothing else was changed; make room or correct the folder's mode, and try again."
        )
    }
}
