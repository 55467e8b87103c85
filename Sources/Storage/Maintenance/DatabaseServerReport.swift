/// The state of a database server, and of the servers that share the database on it.
public struct DatabaseServerReport: Sendable {
    /// The version of the database server, such as `15.18`.
    public var version = ""
    /// The encoding in which the database stores texts, as PostgreSQL names it.
    public var encoding = "UTF8"
    /// Whether the database server only repeats what another one writes.
    public var isStandby = false
    /// Whether the connection is encrypted; a connection within this machine need not be.
    public var isEncrypted = false
    public var isLocal = false
    /// Whether a pooler, such as PgBouncer, is between this program and the database server.
    public var isPooled = false
    /// Whether the database server waits until its disk has stored a commit.
    public var syncsDisk = true
    /// Whether a page that was half written at a power cut can be restored.
    public var restoresTornPages = true
    public var cleansUp = true
    /// The number of standbys that are receiving the current writes.
    public var standbyCount: Int64 = 0
    /// The standbys for which each commit waits, as PostgreSQL's setting names them; empty if a commit waits for none.
    public var synchronousStandbys = ""
    public var connectionCount: Int64 = 0
    public var maximumConnections: Int64 = 0
    /// How far this machine's clock is ahead of the database's, in milliseconds; 0 if the clocks may agree.
    public var clockLead: Int64 = 0
    /// The last day that has partitions, in days since 1970-01-01.
    public var lastDay: Int64 = 0
    /// The names of missing partitions whose clicks may not have expired.
    public var missingPartitions: [String] = []
    /// The number of batches whose counts are not added to the tables of counts yet.
    public var waitingCounts: Int64 = 0
    /// The number of transactions that are prepared (`PREPARE TRANSACTION`), and neither committed nor rolled back.
    public var preparedTransactions: Int64 = 0
    /// The versions of Afterlink that run now, one for each server.
    public var runningVersions: [String] = []
    /// The unexpired leases, each with its job and the number of the server that holds it; nil if that server
    /// no longer runs.
    public var leases: [(name: String, server: Int64?)] = []

    public init() {}
}
