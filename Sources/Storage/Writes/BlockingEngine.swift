/// A database whose writes are done by one thread, which waits for the disk.
///
/// Used on that thread alone.
public protocol BlockingEngine: AnyObject {
    /// Begins the transaction that the next writes share, and takes note of what other processes wrote meanwhile.
    func begin() throws(EngineFailure)
    /// Does a write within the open transaction; does it anew if the transaction had to start again.
    func perform(_ write: Write) throws(EngineFailure) -> Written
    /// A number that moves with every row that is changed.
    var changeCount: Int64 { get }
    func savepoint() throws(EngineFailure)
    /// Keeps what was done since the savepoint.
    func release() throws(EngineFailure)
    /// Undoes what was done since the savepoint.
    func undo() throws(EngineFailure)
    /// Commits the writes and counts; on return, they are synced and readers can see them.
    func commit() throws(EngineFailure)
    func rollback()
    /// Opens another connection in the place of the one that failed, and makes harmless what a failed sync may have
    /// left.
    func reopen() throws(EngineFailure)
    /// Tidies up after a commit.
    func tidy() throws(EngineFailure)
    /// Closes, when there is nothing more to write.
    func close()
}
