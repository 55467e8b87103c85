/// Why a store failed to do what it was asked.
///
/// Nothing was recorded or consumed if one is thrown, unless the cause is `timedOut`: then the store undoes
/// what happens later, or offers it again.
public struct StoreError: Error, Equatable, Sendable {
    public enum Code: String, Sendable {
        /// The queue is full; the request was rejected at once.
        case overloaded
        /// No result within the time limit; the queued request was withdrawn.
        case timedOut = "timed_out"
        /// The disk, or the space that the database may use, is full.
        case full
        case readOnly = "read_only"
        /// Reading, writing or syncing failed.
        case inputOutput = "input_output"
        /// Another process holds the database.
        case locked
        case corrupted
        /// A newer program created the database, or its migrations were changed.
        case incompatible
        /// A version created the database whose databases this program does not upgrade.
        case unsupported
        case stopping
        /// The system refused to create a thread.
        case resources
        /// The request contradicts what is stored, such as a second app of one name.
        case conflict
        case notFound = "not_found"
        /// A statement failed that should have worked: a defect.
        case defect
    }

    public let code: Code
    /// What happened and what to do, for the operator's log.
    ///
    /// Contains no values of requests.
    public let explanation: String

    public init(_ code: Code, _ explanation: String) {
        self.code = code
        self.explanation = explanation
    }
}
