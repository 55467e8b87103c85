internal import Attribution
internal import Glibc
internal import SQLite

extension StoreError {
    /// Runs `body`, and translates its errors; if `path` is given, they name this file for the operator.
    static func translating<Result>(
        _ path: String? = nil,
        _ body: () throws(SQLiteError) -> Result
    ) throws(StoreError) -> Result {
        do throws(SQLiteError) {
            return try body()
        } catch {
            throw StoreError(path.map(error.naming) ?? error)
        }
    }

    /// Creates the store's error for an error of SQLite; a refusal keeps its sentence.
    init(_ error: SQLiteError) {
        let (code, advice) = Self.meaning(of: error)
        guard !error.isRefusal else {
            self.init(code, error.message)
            return
        }
        let system = error.systemError == 0 ? "" : ", system \(error.systemError)"
        let cause = "\(error.context): \(error.message) (SQLite \(error.extendedCode)\(system))"
        self.init(code, (error.path.map { "\($0): " } ?? "") + "\(advice). \(cause)")
    }

    private static func meaning(of error: SQLiteError) -> (code: Code, advice: String) {
        let hasNoRoom = [ENOSPC, EDQUOT].contains(error.systemError)
        return switch error.code {
        case .full: (.full, "the disk is full, or the database may not grow; make room")
        // SQLite has a code of its own for a full disk only if a write of a page or of the log fails.
        case .inputOutput where hasNoRoom, .cannotOpen where hasNoRoom:
            (.full, "the disk is full, or this user has reached a quota; make room")
        case .readOnly: (.readOnly, "the database cannot be written to; check file modes and the mount")
        case .cannotOpen where [EACCES, EPERM, EROFS].contains(error.systemError):
            (.readOnly, "this user may not open the database, or a file beside it; check owners and modes")
        case .inputOutput, .cannotOpen:
            (.inputOutput, "the disk failed to read or write the database; check the disk")
        case .busy, .locked:
            (.locked, "another process has locked the database; end the process that keeps the lock")
        case .corrupt, .notADatabase: (.corrupted, "the database is damaged; restore it from a backup")
        case .error:
            // Tests prepare all statements, which are constants. If SQLite cannot prepare one, the tables
            // differ from the program's.
            (.corrupted, "the database's tables differ from the tables of this program; restore a backup")
        case .outOfMemory: (.overloaded, "SQLite had no memory left")
        case .missing where error.isRefusal: (.notFound, "")
        case .mismatch where error.isRefusal: (.incompatible, "")
        case .interrupted where error.isRefusal: (.stopping, "")
        case .constraint where error.isRefusal: (.conflict, "")
        default: (.defect, "a statement failed")
        }
    }
}

extension SQLiteError {
    /// Whether the connection must be replaced, because its state in memory may be wrong.
    ///
    /// After a failed sync, a later sync can succeed although pages are lost (PostgreSQL's fsync finding of 2018). A
    /// connection that was opened while the file was read-only never writes, even after the file becomes writable.
    var endsConnection: Bool {
        switch code {
        case .inputOutput, .corrupt, .notADatabase, .cannotOpen, .outOfMemory, .readOnly: true
        default: false
        }
    }

    /// Whether the error fails the whole transaction, and not only one of its writes.
    var endsBatch: Bool {
        switch code {
        case .constraint, .error: false
        default: true
        }
    }
}
