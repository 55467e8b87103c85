/// Why a store could not do what it was asked.
///
/// Nothing was recorded or consumed when one is thrown, except where the cause is `timedOut`: then the store
/// sees to it that what happens later is undone or offered again.
public struct StoreError: Error, Equatable, Sendable {
    public enum Code: String, Sendable {
        /// More is waiting than the store accepts; it was refused at once.
        case overloaded
        /// No answer within the time limit; what was queued has been withdrawn.
        case timedOut = "timed_out"
        /// The disk, or the room that the database may take, is full.
        case full
        case readOnly = "read_only"
        /// Reading, writing or syncing failed.
        case inputOutput = "input_output"
        /// Somebody else holds the database.
        case locked
        case corrupted
        /// The database is of a newer program, or its migrations were changed.
        case incompatible
        /// A version made the database whose databases this program does not upgrade.
        case unsupported
        case stopping
        /// The system refused a thread.
        case resources
        /// What was asked contradicts what is stored, such as a second app of one name.
        case conflict
        case notFound = "not_found"
        /// A statement that should have worked did not: a defect.
        case defect
    }

    public let code: Code
    /// For the operator's log: what happened and what to do.
    ///
    /// Holds no values of requests.
    public let explanation: String

    public init(_ code: Code, _ explanation: String) {
        self.code = code
        self.explanation = explanation
    }
}
