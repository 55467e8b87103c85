internal import Attribution
internal import Glibc
internal import SQLite

extension StoreError {
    /// The domain's word for what SQLite reported.
    init(_ error: SQLiteError) {
        let detail = "\(error.context): \(error.message) (SQLite \(error.extendedCode)"
        let cause = error.systemError == 0 ? "\(detail))" : "\(detail), system \(error.systemError))"
        switch error.code {
        case .full:
            self.init(.full, "the disk is full, or the database may not grow; make room. \(cause)")
        case .readOnly:
            self.init(
                .readOnly,
                "the database cannot be written to; check file modes and the mount. \(cause)"
            )
        case .cannotOpen where [EACCES, EPERM, EROFS].contains(error.systemError):
            self.init(
                .readOnly,
                "this user may not open the database, or a file beside it; check owners and modes. \(cause)"
            )
        case .inputOutput, .cannotOpen:
            self.init(.inputOutput, "the database's disk does not answer as it should; check it. \(cause)")
        case .busy, .locked:
            self.init(.locked, "another process holds the database; end what writes to it for long. \(cause)")
        case .corrupt, .notADatabase:
            self.init(.corrupted, "the database is damaged; restore it from a backup. \(cause)")
        case .error:
            // Our statements are constants that tests prepare: one that SQLite cannot prepare here met other tables.
            self.init(.corrupted, "the database's tables are not as they were made; restore it. \(cause)")
        case .outOfMemory:
            self.init(.overloaded, "SQLite had no memory left. \(cause)")
        default:
            self.init(.defect, "a statement failed. \(cause)")
        }
    }
}

extension SQLiteError {
    /// Whether nothing that the connection holds in memory may be relied on any more.
    ///
    /// After a failed sync in particular, a later one can succeed without the lost pages (PostgreSQL's fsync
    /// finding of 2018). And a connection that was opened while the file could only be read never writes again,
    /// even when the file can be written to once more.
    var endsConnection: Bool {
        switch code {
        case .inputOutput, .corrupt, .notADatabase, .cannotOpen, .outOfMemory, .readOnly: true
        default: false
        }
    }

    /// Whether it is the database that failed, not the one request: nobody in the transaction can go on.
    var endsBatch: Bool {
        switch code {
        case .constraint, .error: false
        default: true
        }
    }
}
