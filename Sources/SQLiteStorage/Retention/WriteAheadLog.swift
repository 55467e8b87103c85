internal import Attribution
internal import SQLite

/// Copies the write-ahead log into the database, on the background thread, and keeps it bounded.
enum WriteAheadLog {
    /// What the log's file is cut down to when SQLite begins it anew.
    static let limitBytes: Int64 = 67_108_864
    /// Pages that are not copied yet after which copying begins: what follows each other on one page is copied once,
    /// and each copying syncs the disk that commits wait for.
    static let copyingPages = 1000
    /// Pages after which each commit is copied at once, so that the pause below finds little left to copy.
    static let closingPages = 7168
    /// Pages after which the writer lets the copying catch up: with writes going on without a pause, SQLite could
    /// never begin the log anew, because its end moves on.
    static let pausePages = 8192
    /// Pages that the writer copies at most while it lets the copying catch up.
    ///
    /// A reader that stayed for long, such as
    /// a backup, leaves more behind: that is copied in the background, and nobody waits for it.
    static let pausedBacklogPages = 16_384
}
