public import Attribution
internal import Threads

/// Updates of a loop that are written in batches; the updates of the last second may be lost with the process.
public final class PendingUpdates: Sendable {
    struct NoMatch: Hashable, Sendable {
        let scope: Scope
        let hour: Timestamp
        let platform: Platform
        let reason: NoMatchReason
        /// Nil if there are too many different launches to count each separately.
        var launch: CountedLaunch?
    }
    struct Replay: Hashable, Sendable {
        let scope: Scope
        let hour: Timestamp
        let platform: Platform
        let traits: CountedTraits
    }
    public struct Content: Sendable {
        private(set) var noMatches: [NoMatch: Int64] = [:]
        private(set) var replays: [Replay: Int64] = [:]
        private(set) var keyUses: [KeyID: Timestamp] = [:]
        /// The no-match that was counted last, and its index, because most checks end like the check before.
        private var lastNoMatch: (note: NoMatch, index: Dictionary<NoMatch, Int64>.Index)?
        /// A click for each delivery that failed.
        public internal(set) var failedDeliveries: [ClickID] = []
        var checks = PendingCheckRecords()

        var isEmpty: Bool {
            noMatches.isEmpty && replays.isEmpty && keyUses.isEmpty && failedDeliveries.isEmpty
                && checks.isEmpty
        }

        /// If this many different no-matches are in memory, the no-matches of further launches are counted together.
        private static let launchLimit = 4096

        /// Counts the end of a check; matches are counted with their claims.
        mutating func count(_ ending: MatchOutcome, of check: Check, _ scope: Scope) {
            let (hour, platform) = (Granularity.hour.start(of: check.at), check.platform)
            switch ending {
            case .match: return
            case .noMatch(let why):
                let launch = check.launch
                count(NoMatch(scope: scope, hour: hour, platform: platform, reason: why, launch: launch))
            case .replay(let claim):
                let traits = CountedTraits(claim.click.facts)
                let replay = Replay(scope: scope, hour: hour, platform: platform, traits: traits)
                replays[replay, default: 0] += 1
            }
        }

        private mutating func count(_ noMatch: NoMatch) {
            if let lastNoMatch, lastNoMatch.note == noMatch {
                noMatches.values[lastNoMatch.index] += 1
                return
            }
            var noMatch = noMatch
            // Clients choose the text of headers, which must not fill the memory.
            if noMatches.count >= Self.launchLimit, noMatches[noMatch] == nil { noMatch.launch = nil }
            noMatches[noMatch, default: 0] += 1
            lastNoMatch = noMatches.index(forKey: noMatch).map { (noMatch, $0) }
        }

        mutating func noteUse(of key: KeyID, at now: Timestamp) {
            keyUses[key] = max(now, keyUses[key] ?? now)
        }

        mutating func merge(_ other: Content) {
            // The indices of a dictionary that grows become invalid.
            lastNoMatch = nil
            noMatches.merge(other.noMatches, uniquingKeysWith: +)
            replays.merge(other.replays, uniquingKeysWith: +)
            keyUses.merge(other.keyUses, uniquingKeysWith: max)
            failedDeliveries += other.failedDeliveries
            checks.merge(other.checks)
        }
    }

    private let content = ConditionLock(Content())

    func update(_ body: (inout Content) -> Void) { content.withLock { body(&$0) } }

    /// Changes the content, and returns the result of `body`.
    func withContent<Result>(_ body: (inout Content) -> Result) -> Result { content.withLock { body(&$0) } }

    var isEmpty: Bool { content.withLock { $0.isEmpty } }

    /// Removes and returns everything.
    func drain() -> Content {
        content.withLock { content in
            let drained = content
            content = Content()
            return drained
        }
    }
}
