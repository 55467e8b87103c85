public import Attribution

/// A database to which one thread writes; the thread waits for each step.
///
/// Only that thread uses the engine, and it starts each step after the step before has ended.
public protocol BlockingEngine: AnyObject, SendableMetatype {
    associatedtype Rules: StoreRules = FileRules

    /// Opens the transaction that the next writes share, and reads other processes' writes since the last transaction.
    func begin() throws(EngineFailure)
    /// Reads and locks the rows that the batch's writes will need, in one step before the first write.
    ///
    /// This function decides nothing: a write has the same result without it. A batch that is repeated is
    /// prepared again; if its writes are then done one by one, each is prepared alone.
    func prepare(_ writes: some Collection<Write>) throws(EngineFailure)
    /// Does a write in the open transaction.
    ///
    /// The same write may be done again, in a new transaction, if another write of the batch fails.
    func perform(_ write: Write) throws(EngineFailure) -> Written
    /// A number that increases with every change of a row.
    var changeCount: Int64 { get }
    func savepoint() throws(EngineFailure)
    /// Keeps the changes since the savepoint.
    func release() throws(EngineFailure)
    /// Undoes the changes since the savepoint.
    func undo() throws(EngineFailure)
    /// Commits the writes and their counts; on return, they are synced and readers can see them.
    func commit() throws(EngineFailure)
    func rollback()
    /// Opens a connection in place of the failed one, and makes sure that the failed connection's transaction
    /// has ended.
    ///
    /// A database in a file overwrites what a failed sync may have left on disk. If the failure left the commit in
    /// doubt (``EngineFailure/isInDoubt``), no ``rollback()`` came before this call. The engine then decides about its
    /// changes in memory: it keeps them if the transaction is committed, and drops them otherwise.
    ///
    /// - Returns: whether the transaction was committed or rolled back; callers read it only if the commit
    ///   was in doubt.
    func reopen() throws(EngineFailure) -> TransactionFate
    /// Runs after each commit, for work that callers need not wait for.
    func tidy() throws(EngineFailure)
    /// Closes the database after the last write.
    func close()
}

extension BlockingEngine {
    public func prepare(_ writes: some Collection<Write>) throws(EngineFailure) {}
}

/// What became of the transaction of a connection that failed.
public enum TransactionFate: Equatable, Sendable {
    case committed
    /// Committed, but readers may not see all of its changes for some seconds.
    case unseen
    case rolledBack
}

/// The failure of an engine's step.
public struct EngineFailure: Error, Equatable {
    public let error: StoreError
    /// Whether the whole transaction has failed, and not only one of its writes.
    public let endsBatch: Bool
    /// Whether the connection can no longer be relied on.
    public let endsConnection: Bool
    /// Whether the batch may succeed if it is done again: another server has changed the same rows, or only the
    /// connection was lost.
    public let mayRepeat: Bool
    /// Whether the transaction may be committed in spite of the failure, because the connection was lost after the
    /// request to commit; ``BlockingEngine/reopen()`` finds out whether it was.
    public let isInDoubt: Bool

    public init(
        _ error: StoreError,
        endsBatch: Bool,
        endsConnection: Bool,
        mayRepeat: Bool = false,
        isInDoubt: Bool = false
    ) {
        (self.error, self.endsBatch, self.endsConnection) = (error, endsBatch, endsConnection)
        (self.mayRepeat, self.isInDoubt) = (mayRepeat, isInDoubt)
    }
}
