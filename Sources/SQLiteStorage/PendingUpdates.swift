internal import Attribution

/// What a loop noted in passing and the writer will write: a second of it may be lost with the process.
final class PendingUpdates: Sendable {
    struct NoMatch: Hashable, Sendable {
        let scope: Scope
        let hour: Timestamp
        let platform: Platform
        let reason: NoMatchReason
        /// Nil where it is one of too many different ones to be told apart.
        var launch: CountedLaunch?
    }
    struct Replay: Hashable, Sendable {
        let scope: Scope
        let hour: Timestamp
        let platform: Platform
        let traits: CountedTraits
    }
    struct Content: Sendable {
        private(set) var noMatches: [NoMatch: Int64] = [:]
        var replays: [Replay: Int64] = [:]
        private(set) var keyUses: [KeyID: Timestamp] = [:]
        /// The last one counted, and where: most checks end as the one before.
        private var lastNoMatch: (note: NoMatch, index: Dictionary<NoMatch, Int64>.Index)?
        /// Clicks whose answer was seen to fail on its way, each time that it was.
        var failedDeliveries: [ClickID] = []
        var checks = PendingCheckRecords()

        var isEmpty: Bool {
            noMatches.isEmpty && replays.isEmpty && keyUses.isEmpty && failedDeliveries.isEmpty
                && checks.isEmpty
        }

        /// Launches that are told apart until the next write, which takes them all away.
        private static let launchLimit = 4096

        mutating func count(_ noMatch: NoMatch) {
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

        mutating func noteUse(of key: KeyID, at now: Timestamp) {
            keyUses[key] = max(now, keyUses[key] ?? now)
        }

        mutating func merge(_ other: Content) {
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

    func update(_ body: (inout Content) -> Void) {
        content.withLock { body(&$0) }
    }

    /// As ``update(_:)``, with an answer.
    func withContent<Result>(_ body: (inout Content) -> Result) -> Result {
        content.withLock { body(&$0) }
    }

    var isEmpty: Bool { content.withLock { $0.isEmpty } }

    /// Takes everything away.
    func drain() -> Content {
        content.withLock { content in
            let drained = content
            content = Content()
            return drained
        }
    }
}
