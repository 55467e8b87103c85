public import Attribution
internal import Threads

/// What a loop has counted in passing and the writer will write: a second of it may be lost with the process.
public final class PendingUpdates: Sendable {
    public struct NoMatch: Hashable, Sendable {
        public let scope: Scope
        public let hour: Timestamp
        public let platform: Platform
        public let reason: NoMatchReason
        /// Nil where there are too many different ones to count each.
        public internal(set) var launch: CountedLaunch?

        public init(
            scope: Scope,
            hour: Timestamp,
            platform: Platform,
            reason: NoMatchReason,
            launch: CountedLaunch?
        ) {
            self.scope = scope
            self.hour = hour
            self.platform = platform
            self.reason = reason
            self.launch = launch
        }
    }
    public struct Replay: Hashable, Sendable {
        public let scope: Scope
        public let hour: Timestamp
        public let platform: Platform
        public let traits: CountedTraits

        public init(scope: Scope, hour: Timestamp, platform: Platform, traits: CountedTraits) {
            self.scope = scope
            self.hour = hour
            self.platform = platform
            self.traits = traits
        }
    }
    public struct Content: Sendable {
        public private(set) var noMatches: [NoMatch: Int64] = [:]
        public var replays: [Replay: Int64] = [:]
        public private(set) var keyUses: [KeyID: Timestamp] = [:]
        /// The last one counted, and where: most checks end as the one before.
        private var lastNoMatch: (note: NoMatch, index: Dictionary<NoMatch, Int64>.Index)?
        /// Clicks whose answer was seen to fail on its way, each time that it was.
        public var failedDeliveries: [ClickID] = []
        public var checks = PendingCheckRecords()

        public init() {}

        public var isEmpty: Bool {
            noMatches.isEmpty && replays.isEmpty && keyUses.isEmpty && failedDeliveries.isEmpty
                && checks.isEmpty
        }

        /// Launches that are counted each until the next write, which takes them all away.
        private static let launchLimit = 4096

        public mutating func count(_ noMatch: NoMatch) {
            if let lastNoMatch, lastNoMatch.note == noMatch {
                noMatches.values[lastNoMatch.index] += 1
                return
            }
            var noMatch = noMatch
            // What strangers write into headers must not fill the memory.
            if noMatches.count >= Self.launchLimit, noMatches[noMatch] == nil { noMatch.launch = nil }
            noMatches[noMatch, default: 0] += 1
            lastNoMatch = noMatches.index(forKey: noMatch).map { (noMatch, $0) }
        }

        public mutating func noteUse(of key: KeyID, at now: Timestamp) {
            keyUses[key] = max(now, keyUses[key] ?? now)
        }

        public mutating func merge(_ other: Content) {
            // Places in a table that grows are others.
            lastNoMatch = nil
            noMatches.merge(other.noMatches, uniquingKeysWith: +)
            replays.merge(other.replays, uniquingKeysWith: +)
            keyUses.merge(other.keyUses, uniquingKeysWith: max)
            failedDeliveries += other.failedDeliveries
            checks.merge(other.checks)
        }
    }

    private let content = ConditionLock(Content())

    public init() {}

    public func update(_ body: (inout Content) -> Void) {
        content.withLock { body(&$0) }
    }

    /// Changes the content, and returns what the change says.
    public func withContent<Result>(_ body: (inout Content) -> Result) -> Result {
        content.withLock { body(&$0) }
    }

    public var isEmpty: Bool { content.withLock { $0.isEmpty } }

    /// Takes everything away.
    public func drain() -> Content {
        content.withLock { content in
            let drained = content
            content = Content()
            return drained
        }
    }
}
