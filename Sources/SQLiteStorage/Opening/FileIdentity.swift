internal import Attribution
internal import Glibc

/// Which file a path led to: what is deleted, moved away or replaced while it is open goes on taking writes, and
/// nobody will ever read them.
struct FileIdentity: Equatable, Sendable {
    private let device: UInt64
    private let node: UInt64

    /// Nil when there is none.
    init?(_ path: String) {
        var status = stat()
        // The path and the value outlive the call.
        guard unsafe stat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        node = UInt64(status.st_ino)
    }
}

/// The files of an open database, to be seen again before each transaction.
struct OpenFiles: Sendable {
    private let path: String
    private let database: FileIdentity?
    private let log: FileIdentity?

    /// Of the database at `path`, which is open and has a write-ahead log.
    init(path: String) {
        self.path = path
        database = FileIdentity(path)
        log = FileIdentity(path + "-wal")
    }

    /// - Throws: when another file, or none, is where they were.
    func check() throws(StoreError) {
        for (name, identity) in [(path, database), (path + "-wal", log)]
        where identity != nil && FileIdentity(name) != identity {
            throw StoreError(
                .inputOutput,
                "\(name) was deleted, moved or replaced while it was open. Stop the service, put the file back or"
                    + " restore a backup, and start the service again."
            )
        }
    }
}
