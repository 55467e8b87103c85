internal import Attribution
internal import SQLite
internal import Storage

/// Reads the table of jobs; a job's other reads are in the folder of its subject, such as `Drift`.
extension SQLiteReader: ClockReader {
    func numberedApps() throws(SQLiteError) -> [NumberedApp] {
        try connection.statement(Self.numberedApps).all { row in
            var app = NumberedApp(
                number: row.integer(0),
                name: row.text(1),
                window: row.optionalInteger(2).flatMap { AttributionWindow(seconds: $0) }
            )
            app.fingerprintWindow = row.optionalInteger(3).flatMap { AttributionWindow(seconds: $0) }
            return app
        }
    }

    private static let numberedApps: SQL = """
        SELECT number, name, window_seconds, fingerprint_window_seconds FROM apps
        """

    func storedProgress(of name: String) throws(SQLiteError) -> Int64? {
        try connection.statement(Self.jobProgress).first(name) { $0.integer(0) }
    }

    private static let jobProgress: SQL = "SELECT progress FROM jobs WHERE name = ?1"
}

extension SQLiteWriter {
    func take(_ lease: JobLease) throws(SQLiteError) -> Bool {
        let (job, now, length) = (lease.name, lease.now.milliseconds, lease.milliseconds)
        let isRenewal: Int64 = lease.isRenewal ? 1 : 0
        try connection.statement(Self.takeLease)
            .run(job, lease.holder, now, length, JobLease.noProgress, isRenewal)
        return connection.changeCount > 0
    }

    func finish(_ job: JobName, for holder: Int64, progress: Timestamp) throws(SQLiteError) {
        try connection.statement(Self.finishJob).run(job.rawValue, holder, progress.milliseconds)
    }

    func noteSettled(at now: Timestamp) throws(SQLiteError) {
        try connection.statement(Self.noteSettled).run(now.milliseconds)
    }

    /// Takes a lease that is free, is already the holder's, or lasts for more than twice its usual length.
    ///
    /// The end of such a long lease was set while the clock was ahead. A renewal takes the lease only if the holder was
    /// the last process that took it.
    private static let takeLease: SQL = """
        INSERT INTO jobs VALUES (?1, ?2, ?3 + ?4, ?5)
        ON CONFLICT DO UPDATE SET holder = excluded.holder, until = excluded.until
        WHERE holder = ?2 OR NOT ?6 AND (until <= ?3 OR until > ?3 + 2 * ?4)
        """
    private static let finishJob: SQL = """
        INSERT INTO jobs VALUES (?1, ?2, 0, ?3)
        ON CONFLICT DO UPDATE SET until = 0, progress = excluded.progress WHERE holder = ?2 OR until = 0
        """
    private static let noteSettled: SQL = """
        INSERT INTO jobs VALUES ('clock', 0, 0, ?1)
        ON CONFLICT DO UPDATE SET progress = excluded.progress
        WHERE NOT progress BETWEEN excluded.progress - 3600000 AND excluded.progress
        """
}
