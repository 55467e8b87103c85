/// The rules of the shared storage code that differ between kinds of databases.
///
/// They are constants, so that the compiler leaves out what a kind of database does not need.
public protocol StoreRules: SendableMetatype {
    /// Whether a new click's number is larger than the numbers of all committed clicks of all processes.
    ///
    /// If so, each transaction starts by reading the clicks and posts with a larger number than the newest known one,
    /// which other processes have recorded. If not, the database's reader finds repeated posts: see
    /// ``WriterReader/click(ofPost:visit:in:recordedAt:)``.
    static var readsNewestClicks: Bool { get }
    /// Whether the writing thread decides which names have separate counts.
    ///
    /// If not, counts are written under all names, and the job that adds them up decides: see
    /// ``CountDeltas/admitted(by:read:)``.
    static var admitsNames: Bool { get }
    /// Whether apps and keys come into memory by ``DirectoryCache/publish(_:)``, so that loops never read them.
    static var publishesDirectory: Bool { get }
    /// How long a transaction takes further writes, in nanoseconds; 0 if it takes only the writes that wait when it
    /// begins.
    static var gatheringNanoseconds: UInt64 { get }
    /// The jobs of ``StoreThreads`` that the database needs.
    static var jobs: Set<JobName> { get }
}

/// The rules of a database in a file, which one machine reads and writes.
public enum FileRules: StoreRules {
    public static var readsNewestClicks: Bool { true }
    public static var admitsNames: Bool { true }
    public static var publishesDirectory: Bool { false }
    public static var gatheringNanoseconds: UInt64 { 4_000_000 }
    public static var jobs: Set<JobName> {
        [
            .filter, .summaries, .retention, .audit, .applePostbacks, .compaction, .learning, .drift, .fading,
            .collisions, .policyGrid, .postbacks,
        ]
    }
}
