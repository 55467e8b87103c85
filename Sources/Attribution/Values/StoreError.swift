/// The reason why an operation of a store failed.
///
/// Nothing was recorded or consumed, except perhaps after `timedOut`: then the store undoes a late claim, or
/// returns it to the same caller again.
public struct StoreError: Error, Equatable, Sendable {
    public enum Code: String, Sendable {
        /// The queue is full; the request was rejected at once.
        case overloaded
        /// There was no result within the time limit; a request that still waited was withdrawn.
        case timedOut = "timed_out"
        /// The disk is full, or the database has reached its size limit.
        case full
        case readOnly = "read_only"
        /// Reading, writing or syncing failed.
        case inputOutput = "input_output"
        /// Another process has locked the database.
        case locked
        /// There is no connection to the database server.
        case unreachable
        /// Another server is perhaps answering the same launch; its answer will be known in a second or two.
        case underWay = "under_way"
        case corrupted
        /// A newer program created the database, or its migrations were changed.
        case incompatible
        /// The database was created by a version whose databases this program does not upgrade.
        case unsupported
        case stopping
        /// The system refused to create a thread.
        case resources
        /// The request contradicts what is stored, such as a second app of one name.
        case conflict
        case notFound = "not_found"
        /// A statement failed that should have succeeded, because of a defect.
        case defect
    }

    public let code: Code
    /// What happened and what to do, for the operator's log; without values of requests.
    public let explanation: String

    public init(_ code: Code, _ explanation: String) {
        self.code = code
        self.explanation = explanation
    }
}
