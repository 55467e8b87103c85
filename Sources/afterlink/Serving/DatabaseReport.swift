internal import Attribution
internal import Storage

/// The result of examining a database without changing it.
struct DatabaseReport: Sendable {
    let path: String
    /// A process that has the database open; 0 where its number is not to be seen, nil where there is none.
    let holder: Int32?
    let summary: DatabaseSummary
    let directory: Directory
    let writeAheadLogBytes: Int64
    /// Nil where the disk does not say.
    let freeBytes: Int64?
    /// Robots' clicks included, to the hour.
    let clicksOfLastDay: Int64
    /// The beginning of the first day on which anything was counted.
    let firstDay: Timestamp?
}
