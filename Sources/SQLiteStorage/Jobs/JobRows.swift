internal import Attribution
internal import SQLite
internal import Storage

/// Reads and writes the table of jobs.
enum JobRows {
    /// How far a job is; nil before its first end.
    static func progress(of job: JobName, on connection: SQLiteConnection) throws(SQLiteError) -> Timestamp? {
        let progress = try connection.statement(progress).first(job.rawValue) { $0.integer(0) }
        return progress.flatMap { $0 == none ? nil : Timestamp(milliseconds: $0) }
    }

    /// When jobs last went by the wall clock; where no process has noted that, when the newest record was made.
    ///
    /// Nil for a database without either.
    static func lastSettled(on connection: SQLiteConnection) throws(SQLiteError) -> Timestamp? {
        if let noted = try connection.statement(progress).first(clock, read: { $0.integer(0) }) {
            return Timestamp(milliseconds: noted)
        }
        let newest = try connection.integer(KeySQL.newestRecord)
        return newest > 0 ? RowIdentifier.moment(of: newest) : nil
    }

    fileprivate static let clock = "clock"
    /// The progress of a job that has never ended.
    fileprivate static let none = Int64.min

    static let progress: StaticString = "SELECT progress FROM jobs WHERE name = ?1"
    /// A lease far in the future was taken by a clock that had leapt ahead.
    fileprivate static let take: StaticString = """
        INSERT INTO jobs VALUES (?1, ?2, ?3 + ?4, ?5)
        ON CONFLICT DO UPDATE SET holder = excluded.holder, until = excluded.until
        WHERE holder = ?2 OR until <= ?3 OR until > ?3 + 2 * ?4
        """
    fileprivate static let finish: StaticString = """
        INSERT INTO jobs VALUES (?1, ?2, 0, ?3)
        ON CONFLICT DO UPDATE SET until = 0, progress = excluded.progress WHERE holder = ?2 OR until = 0
        """
    fileprivate static let noteSettled: StaticString = """
        INSERT INTO jobs VALUES ('clock', 0, 0, ?1)
        ON CONFLICT DO UPDATE SET progress = excluded.progress
        WHERE NOT progress BETWEEN excluded.progress - 3600000 AND excluded.progress
        """
}

extension WriteContext {
    /// Takes or renews the lease of a job for the number of this process's store; false while another process holds it.
    func take(_ lease: JobLease) throws(SQLiteError) -> Bool {
        try connection.statement(JobRows.take)
            .run(lease.job.rawValue, lease.holder, lease.now.milliseconds, lease.milliseconds, JobRows.none)
        return connection.changeCount > 0
    }

    /// Gives up the lease of a job that has got as far as `progress`.
    func finish(_ job: JobName, for holder: Int64, progress: Timestamp) throws(SQLiteError) {
        try connection.statement(JobRows.finish).run(job.rawValue, holder, progress.milliseconds)
    }

    /// Notes that jobs go by the wall clock, once an hour.
    func noteSettled(at now: Timestamp) throws(SQLiteError) {
        try connection.statement(JobRows.noteSettled).run(now.milliseconds)
    }
}
