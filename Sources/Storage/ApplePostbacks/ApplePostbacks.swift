public import Attribution

/// A change of Apple's postbacks or of probes.
public enum ApplePostbackChange: Sendable {
    /// The answer is ``Written/applePostback(_:)``.
    case store(StoredApplePostback)
    case start(AppleProbe, at: Timestamp)
    case noteArrival(nonce: String, KeyDigest)
    /// Deletes up to `limit` postbacks after their retention; ``Written/flag(_:)`` is true if there may be more.
    case deleteOld(ApplePostbackDeadlines, limit: Int)
}

/// The row numbers before which postbacks are deleted; a row number starts with the time of its postback.
public struct ApplePostbackDeadlines: Sendable {
    /// For postbacks of apps that this service does not know: 30 days.
    public let unclaimed: Int64
    /// For postbacks whose signature is not verified: 90 days.
    public let unverified: Int64
    /// For all other postbacks: 400 days, so that a month can be compared with the same month of the previous year.
    public let all: Int64

    public init(at now: Timestamp) {
        func number(days: Int64) -> Int64 {
            RowIdentifier.first(at: now.advanced(byMilliseconds: -days * 86_400_000))
        }
        (unclaimed, unverified, all) = (number(days: 30), number(days: 90), number(days: 400))
    }
}

/// The reads of Apple's postbacks and of probes.
public protocol ApplePostbackRows {
    associatedtype Failure: Error

    /// Passes the postbacks with numbers in `first..<end` to `body`, newest first, until `body` returns false.
    func applePostbacks(from first: Int64, before end: Int64, _ body: (StoredApplePostback) -> Bool)
        throws(Failure)
    /// Groups the postbacks with numbers in `first..<end` by equal values, and returns the size of each group.
    func applePostbackSums(from first: Int64, before end: Int64) throws(Failure) -> [ApplePostbackSum]
    /// Returns the postbacks with these numbers, lowest first, and at most `limit` of them.
    func applePostbacks(_ numbers: ClosedRange<Int64>, atMost limit: Int) throws(Failure)
        -> [StoredApplePostback]
    func arrival(ofProbe nonce: String) throws(Failure) -> AppleProbe.Arrival?
}

/// The statements that change Apple's postbacks and probes.
public protocol ApplePostbackWriter: ClickWriter {
    /// Stores a postback.
    ///
    /// Returns false, and stores nothing, if the same body is stored already. It also returns false for a
    /// counted postback if another counted one with the same identifier is stored.
    func insert(_ postback: ApplePostbackRecord) throws(Failure) -> Bool
    /// Returns the largest number of a postback; 0 if there is no postback.
    ///
    /// It is called only where ``StoreRules/readsNewestClicks`` is true; elsewhere each server makes numbers of its own.
    func newestApplePostback() throws(Failure) -> Int64
    /// Deletes postbacks after their retention; returns how many.
    func deleteApplePostbacks(_ deadlines: ApplePostbackDeadlines, atMost limit: Int64) throws(Failure)
        -> Int64
    func insert(_ probe: AppleProbe) throws(Failure)
    func removeProbes(before now: Timestamp) throws(Failure)
    func setArrival(ofProbe nonce: String, _ digest: KeyDigest) throws(Failure)
}

extension ApplePostbackWriter {
    public func newestApplePostback() -> Int64 { 0 }
}

extension WriteTransaction {
    func perform(_ change: ApplePostbackChange) throws(Failure) -> Written {
        switch change {
        case .store(let stored): return .applePostback(try store(stored))
        case .start(let probe, let now):
            try writer.removeProbes(before: now)
            try writer.insert(probe)
        case .noteArrival(let nonce, let digest): try writer.setArrival(ofProbe: nonce, digest)
        case .deleteOld(let deadlines, let limit):
            return .flag(try writer.deleteApplePostbacks(deadlines, atMost: Int64(limit)) == limit)
        }
        return .done
    }

    private func store(_ stored: StoredApplePostback) throws(Failure) -> ApplePostbackOutcome {
        let now = state.configuration.clock.now()
        let newest = Rules.readsNewestClicks ? try writer.newestApplePostback() : 0
        let last = max(self.last(memory.numbers.applePostback, at: now), newest)
        let number = numbers.check(after: last, at: now)
        memory.numbers.applePostback.value = number
        var record = ApplePostbackRecord(stored)
        record.stored.number = number
        if record.stored.isCounted, try writer.insert(record) {
            try publish(record.stored)
            return .counted
        }
        record.stored.isCounted = false
        return try writer.insert(record) ? .stored : .duplicate
    }
}

extension DatabaseSession where Backend.Reader: ReportReader {
    public func store(_ postback: StoredApplePostback) async throws(StoreError) -> ApplePostbackOutcome {
        guard case .applePostback(let outcome) = try await loop.write(.applePostbacks(.store(postback)))
        else { throw .mismatch }
        return outcome
    }

    public func applePostbacks(_ query: ApplePostbackQuery) async throws(StoreError) -> ApplePostbackPage {
        try await loop.readInBackground { reader throws(Backend.Reader.Failure) in
            var walk = PageWalk<StoredApplePostback, Int64>(limit: query.limit, rowLimit: 20_000)
            let end = query.to.map { RowIdentifier.first(at: $0) } ?? .max
            let first = query.from.map { RowIdentifier.first(at: $0) } ?? 0
            try reader.applePostbacks(from: first, before: min(end, query.before ?? .max)) { stored in
                walk.add(query.matches(stored) ? stored : nil, at: stored.number)
            }
            return ApplePostbackPage(postbacks: walk.elements, next: walk.next)
        }
    }

    public func applePostbackSums(from start: Timestamp, to end: Timestamp) async throws(StoreError)
        -> [ApplePostbackSum]
    {
        let (first, last) = (RowIdentifier.first(at: start), RowIdentifier.first(at: end))
        return try await loop.readInBackground { reader throws(Backend.Reader.Failure) in
            try reader.applePostbackSums(from: first, before: last)
        }
    }

    public func start(_ probe: AppleProbe, at now: Timestamp) async throws(StoreError) {
        try await loop.write(.applePostbacks(.start(probe, at: now)))
    }

    public func noteArrival(ofProbe nonce: String, _ digest: KeyDigest) async throws(StoreError) {
        try await loop.write(.applePostbacks(.noteArrival(nonce: nonce, digest)))
    }

    public func arrival(ofProbe nonce: String) async throws(StoreError) -> AppleProbe.Arrival {
        try await loop.readInBackground { reader throws(Backend.Reader.Failure) in
            try reader.arrival(ofProbe: nonce) ?? .missing
        }
    }
}

/// Deletes Apple's postbacks after their retention.
public struct ApplePostbackJob<Reader: JobReader>: Job {
    public let name = JobName.applePostbacks
    public let share = 1.0 / 8

    private let context: JobContext<Reader>
    private static var interval: UInt64 { 3_600_000_000_000 }
    private static var limit: Int { 500 }

    public init(_ context: JobContext<Reader>) { self.context = context }

    public mutating func slice(at _: UInt64) throws(StoreError) -> Due {
        guard let now = context.clock.settledNow() else { return .after(60_000_000_000) }
        let change = ApplePostbackChange.deleteOld(ApplePostbackDeadlines(at: now), limit: Self.limit)
        guard case .flag(true) = try context.queue.perform(.applePostbacks(change)) else {
            return .after(Self.interval)
        }
        return .more
    }
}
