#if PostgreSQL
internal import PostgreSQL

/// The statements of the table of jobs.
///
/// Leases end at times of the database's clock: each server subtracts the lead of its own clock. All other times in
/// this table come from the servers' clocks.
enum JobRows {
    /// Takes a lease if it is free, if the holder has it already, or if it ends so late that a wrong clock
    /// must have set the end.
    ///
    /// A renewal takes it only if the holder was the last process that took it. The parameters are the job, the holder,
    /// now, the length in milliseconds, ``JobLease/noProgress`` and whether it is a renewal. The statement returns the
    /// job's progress, or no row if the lease is not taken.
    static let take: PreparedStatement = """
        INSERT INTO jobs VALUES ($1, $2, $3 + $4, $5)
        ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
        WHERE jobs.holder = $2 OR NOT $6 AND (jobs.until <= $3 OR jobs.until > $3 + 2 * $4) RETURNING progress
        """
    /// Releases a lease; the parameters are the job, the holder and the progress.
    static let finish: PreparedStatement = """
        INSERT INTO jobs VALUES ($1, $2, 0, $3)
        ON CONFLICT (name) DO UPDATE SET until = 0, progress = excluded.progress
        WHERE jobs.holder = $2 OR jobs.until = 0
        """
    /// Stores, at most once an hour, the time at which jobs used the wall clock.
    static let noteSettled: PreparedStatement = """
        INSERT INTO jobs VALUES ('clock', 0, 0, $1) ON CONFLICT (name) DO UPDATE SET progress = excluded.progress
        WHERE NOT jobs.progress BETWEEN excluded.progress - 3600000 AND excluded.progress
        """
}
#endif
