public import Attribution

/// A database that one thread writes to, and waits for.
///
/// Only that thread uses the engine, and it starts each step after the step before has ended.
public protocol BlockingEngine: AnyObject, SendableMetatype {
    associatedtype Rules: StoreRules = FileRules

    /// Opens the transaction that the next writes share, and reads other processes' writes since the last transaction.
    func begin() throws(EngineFailure)
    /// Reads and locks at once what writes of the batch will need, before the first of them is done.
    ///
    /// It decides nothing: a write does the same without it. A repeated batch is prepared again, and each write alone if
    /// the batch is done one by one.
    func prepare(_ writes: some Collection<Write>) throws(EngineFailure)
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
    /// Opens a connection in place of one that failed, and makes sure that the transaction of that one has ended.
    ///
    /// A database in a file overwrites what a failed sync may have left on disk. After a failure that was in doubt
    /// (``EngineFailure/isInDoubt``) there was no ``rollback()``: the engine keeps its changes in memory if the transaction
    /// is committed, as after ``commit()``, and else drops them.
    ///
    /// - Returns: what became of the transaction; only read if it was in doubt.
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
    case rolledBack
}

/// The failure of an engine's step.
public struct EngineFailure: Error, Equatable {
    public let error: StoreError
    /// Whether the whole transaction has failed, and not only one of its writes.
    public let endsBatch: Bool
    /// Whether the connection can no longer be relied on.
    public let endsConnection: Bool
    /// Whether the batch may succeed if it is done again, because another server has changed the same rows meanwhile, or
    /// because only the connection was lost.
    public let mayRepeat: Bool
    /// Whether the transaction may be committed in spite of the failure, because the connection was lost after the request
    /// to commit; ``BlockingEngine/reopen()`` finds it out.
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
