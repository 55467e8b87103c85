/// A database that one thread writes to, and waits for.
///
/// Only that thread uses the engine, and it starts each step after the step before has ended.
public protocol BlockingEngine: AnyObject, SendableMetatype {
    /// Opens the transaction that the next writes share, and reads other processes' writes since the last transaction.
    func begin() throws(EngineFailure)
    /// Does a write in the open transaction.
    ///
    /// The same write may be done again, in a new transaction, if another write of the batch fails.
    func perform(_ write: Write) throws(EngineFailure) -> Written
    /// A number that every change of a row raises.
    var changeCount: Int64 { get }
    func savepoint() throws(EngineFailure)
    /// Keeps the changes since the savepoint.
    func release() throws(EngineFailure)
    /// Undoes the changes since the savepoint.
    func undo() throws(EngineFailure)
    /// Commits the writes and their counts; on return, they are synced and readers can see them.
    func commit() throws(EngineFailure)
    func rollback()
    /// Opens a connection in place of one that failed, and overwrites what a failed sync may have left on disk.
    func reopen() throws(EngineFailure)
    /// Runs after each commit, for work that callers need not wait for.
    func tidy() throws(EngineFailure)
    /// Closes the database after the last write.
    func close()
}
