internal import Attribution

/// What a loop noted in passing and the writer will write: a second of it may be lost with the process.
final class Notes: Sendable {
    struct NoMatch: Hashable, Sendable {
        let scope: Scope
        let hour: Timestamp
        let platform: Platform
        let reason: NoMatchReason
    }
    struct Replay: Hashable, Sendable {
        let scope: Scope
        let hour: Timestamp
        let platform: Platform
        let traits: CountedTraits
    }
    struct Content: Sendable {
        var noMatches: [NoMatch: Int64] = [:]
        var replays: [Replay: Int64] = [:]
        var keyUses: [KeyID: Timestamp] = [:]
        /// Clicks whose answer was seen to fail on its way, each time that it was.
        var failedDeliveries: [ClickID] = []

        var isEmpty: Bool {
            noMatches.isEmpty && replays.isEmpty && keyUses.isEmpty && failedDeliveries.isEmpty
        }

        mutating func merge(_ other: Content) {
            noMatches.merge(other.noMatches, uniquingKeysWith: +)
            replays.merge(other.replays, uniquingKeysWith: +)
            keyUses.merge(other.keyUses, uniquingKeysWith: max)
            failedDeliveries += other.failedDeliveries
        }
    }

    private let content = Monitor(Content())

    func update(_ body: (inout Content) -> Void) {
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
