#if PostgreSQL
internal import Storage

/// The rules of a PostgreSQL database, which several servers read and write.
enum PostgreSQLRules: StoreRules {
    static var readsNewestClicks: Bool { false }
    static var admitsNames: Bool { false }
    static var publishesDirectory: Bool { true }
    static var gatheringNanoseconds: UInt64 { 0 }
    static var jobs: Set<JobName> {
        [
            .summaries, .audit, .applePostbacks, .compaction, .learning, .drift, .fading, .collisions,
            .policyGrid, .postbacks,
        ]
    }

    /// Creates the jobs that only PostgreSQL has, except ``DirectoryJob``, on the thread that will run them.
    static func makeJobs(_ context: JobContext<PostgreSQLReader>) -> [any Job] {
        [FoldJob(context), PartitionJob(context), SweepJob(context), SizeJob(context)]
    }
}
#endif
