internal import Attribution
internal import SQLite

/// Copying one database page by page into a draft.
extension DatabaseDraft {
    /// Pages copied at once.
    private static let stepPages: Int32 = 256
    /// Pages after which the draft is synced: on many file systems, what others sync meanwhile waits for all that
    /// is not written yet.
    private static let syncedPages = 2048

    /// Fills the draft with what the source holds at the moment of its open transaction.
    ///
    /// - Parameters:
    ///   - source: within a read transaction.
    ///   - isInterrupted: asked now and then; true ends the copy.
    /// - Throws: `stopping` when it was interrupted.
    func fill(from source: SQLiteConnection, unless isInterrupted: () -> Bool) throws(StoreError) {
        let copy = try translated { () throws(SQLiteError) in
            let connection = try SQLiteConnection(path: path, access: .readWrite, busyMilliseconds: 0)
            // The draft is nobody's before it is published, and synced before that: nothing needs to be undone.
            try connection.execute("PRAGMA synchronous = OFF")
            try connection.execute("PRAGMA journal_mode = MEMORY")
            try connection.execute("PRAGMA cache_size = -2048")
            return try OnlineBackup(from: source, to: connection)
        }
        var synced = 0
        while try translated({ () throws(SQLiteError) in try copy.step(pages: Self.stepPages) }) {
            if isInterrupted() {
                throw StoreError(.stopping, "the copy was interrupted, and nothing is left of it")
            }
            let progress = copy.progress
            let copied = progress.pageCount - progress.remaining
            guard copied - synced >= Self.syncedPages else { continue }
            synced = copied
            try sync()
        }
        try translated { () throws(SQLiteError) in try copy.finish() }
    }

    /// Reads all of the draft and compares it with itself.
    ///
    /// - Parameter isThorough: also compares each index with its table, which takes several times as long.
    /// - Throws: `corrupted` with the first difference.
    func check(isThorough: Bool) throws(StoreError) {
        let problems = try translated { () throws(SQLiteError) in
            let connection = try SQLiteConnection(path: path, access: .immutable, busyMilliseconds: 0)
            return try SQLiteReader(connection: connection).integrityProblems(isThorough: isThorough)
        }
        guard let first = problems.first else { return }
        throw Self.damaged(first)
    }

    private func translated<Result>(_ body: () throws(SQLiteError) -> Result) throws(StoreError) -> Result {
        do throws(SQLiteError) {
            return try body()
        } catch {
            let cause = StoreError(error)
            guard cause.code != .corrupted else { throw Self.damaged(error.message) }
            throw StoreError(cause.code, "\(path): \(cause.explanation)")
        }
    }

    private static func damaged(_ detail: String) -> StoreError {
        StoreError(.corrupted, "what is to be copied is damaged, and no copy is left of it: \(detail)")
    }
}
