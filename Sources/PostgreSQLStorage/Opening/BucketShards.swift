#if PostgreSQL
/// The shards in which Citus stores the buckets: one statement reads or writes the buckets of one shard.
///
/// A shard keeps its number when it moves to another worker.
struct BucketShards: Equatable, Sendable {
    /// The number of each bucket's shard.
    private let numbers: [Int64]
    private let buckets: [Int64: [Int64]]

    /// - Parameter numbers: the number of each bucket's shard; empty without Citus.
    init(_ numbers: [Int64] = []) {
        self.numbers = numbers
        buckets = Dictionary(grouping: numbers.indices.map(Int64.init)) { numbers[Int($0)] }
    }

    /// Whether Citus distributes the large tables.
    var isCitus: Bool { !numbers.isEmpty }

    /// Returns the shard of the bucket in the lowest six bits of a hash; nil without Citus.
    func shard(of hash: Int64) -> Int64? { isCitus ? numbers[Int(hash & 63)] : nil }

    /// Returns the buckets of a shard.
    func buckets(of shard: Int64) -> [Int64] { buckets[shard] ?? [] }
}
#endif
