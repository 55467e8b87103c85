package import Attribution
internal import HTTPServer
internal import Synchronization
package import Threads

extension Exchange {
    /// Counts the request against its address's limit for a class.
    ///
    /// A request with a server key is not refused: a customer's server sends the clicks and checks of all visitors from
    /// one address.
    ///
    /// - Throws: 429 if the address has used up its limit. `Retry-After` is ``RateLimiter/Refusal/retryAfter`` without
    ///   jitter; after this time, the next request passes.
    func checkRate(_ limitClass: RateLimitClass) throws(APIError) {
        guard let limiter = loop.rateLimiters[limitClass.index],
            let refusal = limiter.take(for: address, at: request.firstByteAt),
            (try? findKey(for: .anyoneOrKey([.server]))) == nil
        else { return }
        service.noteRefusedAddress(of: request)
        throw APIError(
            status: .tooManyRequests,
            code: .rateLimitExceeded,
            message: "Too many requests from this address; try again in \(refusal.retryAfter) s",
            retryAfter: refusal.retryAfter,
            fieldLines: [
                FieldLine(name: "X-RateLimit-Limit", value: String(limiter.burst)),
                FieldLine(name: "X-RateLimit-Remaining", value: "0"),
                FieldLine(name: "X-RateLimit-Reset", value: String(refusal.reset)),
            ]
        )
    }
}

/// A class of requests that share one limit for each address.
public enum RateLimitClass: String, CaseIterable, Sendable {
    case clicks, checks, admin
    /// QR codes, which are drawn for each request.
    case pictures
    /// Apple's postbacks, which devices send without a key.
    case applePostbacks = "apple-postbacks"

    /// The index of the class's limiter in an array.
    ///
    /// Every request reads a limiter, and a dictionary would hash the class each time.
    var index: Int {
        switch self {
        case .clicks: 0
        case .checks: 1
        case .admin: 2
        case .pictures: 3
        case .applePostbacks: 4
        }
    }
}

/// The limits of requests from one address, by class.
public struct RateLimits: Equatable, Sendable {
    /// A limit, and whether it applies to requests from this machine too.
    public struct Rule: Equatable, Sendable {
        public var limit: RateLimit
        public var countsLoopback: Bool

        public init(_ limit: RateLimit, countsLoopback: Bool) {
            self.limit = limit
            self.countsLoopback = countsLoopback
        }
    }

    private var rules: [RateLimitClass: Rule] = [:]

    /// No limits at all.
    public init() {}

    /// The class's rule; nil if the class has no limit.
    public subscript(_ limitClass: RateLimitClass) -> Rule? {
        get { rules[limitClass] }
        set { rules[limitClass] = newValue }
    }

    /// Makes a limiter for each class, in the order of the classes; nil for a class without a limit.
    func makeLimiters() -> [RateLimiter?] {
        RateLimitClass.allCases.map { rules[$0].map { RateLimiter($0) } }
    }

    /// The limits that apply if the operator sets none.
    ///
    /// More than ten thousand phones of a carrier may share one address, and an old client may lose its attribution
    /// permanently if its check is refused. So a burst of ten thousand clicks or checks passes, and then 500 a second.
    /// One machine serves many times this rate, and a campaign causes only a small part of it from one carrier's
    /// address. Requests from this machine itself are not limited: if the settings do not name a proxy on this machine,
    /// all its clients would share one bucket.
    public static let standard: RateLimits = {
        var limits = RateLimits()
        for limitClass in RateLimitClass.allCases {
            limits[limitClass] = standardLimit(limitClass).map { Rule($0, countsLoopback: false) }
        }
        return limits
    }()

    /// Returns the limit of a class in ``standard``; nil for none.
    public static func standardLimit(_ limitClass: RateLimitClass) -> RateLimit? {
        switch limitClass {
        case .clicks, .checks: RateLimit(perSecond: 500, burst: 10_000)
        case .applePostbacks: RateLimit(perSecond: 50, burst: 2000)
        case .admin, .pictures: RateLimit(perSecond: 20, burst: 400)
        }
    }
}

/// The number of requests that one address may make, per second in the long run and at once.
public struct RateLimit: Equatable, Sendable {
    /// Requests a second, 1 to 1,000,000.
    public let perSecond: Int64
    /// Requests that may come at once, 1 to 10,000,000.
    public let burst: Int64

    /// Creates a limit; nil if a number is outside its range.
    public init?(perSecond: Int64, burst: Int64) {
        guard (1...1_000_000).contains(perSecond), (1...10_000_000).contains(burst) else { return nil }
        self.perSecond = perSecond
        self.burst = burst
    }

    /// Parses the form `20/s:500`; nil for any other text, and for numbers outside their ranges.
    public init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].hasSuffix("/s"), let perSecond = Int64(parts[0].dropLast(2)),
            let burst = Int64(parts[1])
        else { return nil }
        self.init(perSecond: perSecond, burst: burst)
    }

    /// The limit in the form `20/s:500`, which ``init(_:)`` reads.
    public var text: String { "\(perSecond)/s:\(burst)" }
}

/// A token bucket for each address, for one class of requests.
///
/// A bucket is stored as the time at which it will be full again (the generic cell rate algorithm, ITU-T I.371). A time
/// in the past means a full bucket, which need not be stored. The table is bounded, so that a flood of addresses does
/// not fill the memory. A shard is a part of the table with its own lock. If all buckets of a shard are in use, the
/// shard's new addresses share one bucket.
package final class RateLimiter: Sendable {
    package struct Refusal: Equatable {
        /// Whole seconds until the next request is allowed, at least 1.
        package let retryAfter: Int
        /// Whole seconds until the whole burst is allowed again, at least 1.
        package let reset: Int
    }

    private static let shardCount = 16
    private static let entriesPerShard = 8192
    private static let sweepInterval: UInt64 = 1_000_000_000

    private struct Shard {
        /// Nanoseconds of the monotonic clock at which the address's bucket is full again.
        var fullAt: [NetworkAddress: UInt64] = [:]
        var sharedFullAt: UInt64 = 0
        /// The earliest time of the next search for full buckets; a search for every new address would cost too much.
        var nextSweep: UInt64 = 0
    }

    /// The number of requests that may come at once.
    let burst: Int64
    private let countsLoopback: Bool
    private let interval: UInt64
    private let shards: [Lock]

    private final class Lock: Sendable { let shard = Mutex(Shard()) }

    package convenience init(_ rule: RateLimits.Rule) {
        self.init(
            every: 1_000_000_000 / UInt64(rule.limit.perSecond),
            burst: rule.limit.burst,
            countsLoopback: rule.countsLoopback
        )
    }

    /// - Parameters:
    ///   - interval: nanoseconds between requests in the long run.
    ///   - burst: the number of requests that may come at once.
    ///   - countsLoopback: whether requests from this machine are limited too.
    init(every interval: UInt64, burst: Int64, countsLoopback: Bool) {
        (self.interval, self.burst, self.countsLoopback) = (interval, burst, countsLoopback)
        shards = (0..<Self.shardCount).map { _ in Lock() }
    }

    /// Takes a token of the address's bucket; all IPv6 addresses of a /64 network share one bucket.
    ///
    /// - Returns: nil if the request is allowed.
    package func take(for address: NetworkAddress, at now: MonotonicTime) -> Refusal? {
        guard countsLoopback || !address.isLoopback else { return nil }
        let (bucket, shard) = place(of: address)
        return shard.shard.withLock { take(bucket, now.nanoseconds, &$0) }
    }

    /// Returns what ``take(for:at:)`` would return, and takes nothing.
    package func refusal(for address: NetworkAddress, at now: MonotonicTime) -> Refusal? {
        guard countsLoopback || !address.isLoopback else { return nil }
        let (bucket, shard) = place(of: address)
        return shard.shard.withLock { take(bucket, now.nanoseconds, &$0, counts: false) }
    }

    /// Returns the bucket of an address, and the shard that contains it.
    private func place(of address: NetworkAddress) -> (bucket: NetworkAddress, shard: Lock) {
        let bucket = address.prefix(ipv4Bits: 32, ipv6Bits: 64)
        // Each process seeds its hashes at random, so that clients cannot choose addresses that share a shard.
        let index = Int(truncatingIfNeeded: UInt(bitPattern: bucket.hashValue) % UInt(Self.shardCount))
        return (bucket, shards[index])
    }

    /// The number of stored addresses.
    package var count: Int { shards.reduce(0) { sum, lock in sum + lock.shard.withLock { $0.fullAt.count } } }

    /// The largest possible ``count``.
    package static let maximumCount = shardCount * entriesPerShard

    /// Takes a token, unless `counts` is false; returns nil if the bucket has one.
    private func take(_ address: NetworkAddress, _ now: UInt64, _ shard: inout Shard, counts: Bool = true)
        -> Refusal?
    {
        if shard.fullAt.count >= Self.entriesPerShard, shard.fullAt[address] == nil, now >= shard.nextSweep {
            shard.fullAt = shard.fullAt.filter { $0.value > now }
            shard.nextSweep = now + Self.sweepInterval
        }
        let isKept = shard.fullAt[address] != nil || shard.fullAt.count < Self.entriesPerShard
        let fullAt = max(isKept ? shard.fullAt[address] ?? 0 : shard.sharedFullAt, now)
        let room = interval * UInt64(burst)
        guard fullAt + interval <= now + room else {
            let (wait, reset) = (fullAt + interval - now - room, fullAt - now)
            return Refusal(retryAfter: Self.wholeSeconds(wait), reset: Self.wholeSeconds(reset))
        }
        guard counts else { return nil }
        if isKept {
            shard.fullAt[address] = fullAt + interval
        } else {
            shard.sharedFullAt = fullAt + interval
        }
        return nil
    }

    private static func wholeSeconds(_ nanoseconds: UInt64) -> Int {
        max(1, Int((nanoseconds + 999_999_999) / 1_000_000_000))
    }
}
