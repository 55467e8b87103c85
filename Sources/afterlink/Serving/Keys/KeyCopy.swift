internal import Attribution
internal import Glibc
internal import Server

/// The keys of a database on their way to or from its backup.
struct KeyCopy {
    let server: ServerKeyList
    /// The text of the file that the address keys come from; nil where there is none.
    let addresses: String?

    /// What the name of the file ends in that the address keys come from; it begins as the database's.
    static let addressSuffix = ".address-key"

    /// Reads a key file that must be there, whole, and its owner's only, and that of the address keys if it is there.
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

    /// Under which anything may be stored; those that are the present ones first.
    var keys: [ServerKey] { server.keys(at: WallClock.system.now())?.all ?? [] }

    /// Writes a text into a file for its owner's eyes only, new or in the place of what was there; returns when it is on
    /// disk.
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

    /// What a file holds; nil where there is none that can be read.
    static func text(at path: String) -> String? {
        (try? SecretFile(path: path).read())?.text
    }

    private static func failure(_ error: SystemError) -> CommandFailure {
        CommandFailure(
            "The server key could not be copied: \(error.text).",
            advice: "Nothing else was changed; make room or mend the folder's mode, and try again."
        )
    }
}
