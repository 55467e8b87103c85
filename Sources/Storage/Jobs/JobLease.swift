public import Attribution

/// A background job that one process does for all processes of a database.
public enum JobName: String, Sendable {
    case drift
    case collisions
}

/// The right of one process to do a job for a while.
public struct JobLease: Sendable {
    public let job: JobName
    /// The number of this process's store.
    public let holder: Int64
    public let now: Timestamp
    /// How long it lasts; longer than a slice of the job takes.
    public let milliseconds: Int64

    public init(of job: JobName, holder: Int64, at now: Timestamp, milliseconds: Int64) {
        self.job = job
        self.holder = holder
        self.now = now
        self.milliseconds = milliseconds
    }
}
