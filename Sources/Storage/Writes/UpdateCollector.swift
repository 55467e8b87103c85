public import Attribution
internal import Synchronization
internal import Threads

/// The pending updates of all loops of a store, which the thread that writes takes away.
public final class UpdateCollector: Sendable {
    private let loops = ConditionLock<[PendingUpdates]>([])
    /// Answers that failed on their way and are not marked on disk yet.
    private let unmarkedDeliveries = Atomic(0)

    public init() {}

    /// Creates the updates of a new loop.
    public func makeUpdates() -> PendingUpdates {
        let updates = PendingUpdates()
        loops.withLock { $0.append(updates) }
        return updates
    }

    /// Whether no loop has counted anything that is not written yet.
    public var isEmpty: Bool {
        loops.withLock { $0 }.allSatisfy(\.isEmpty)
    }

    /// Whether an answer that failed on its way is still to be marked: until then, reads do not show it.
    public var hasUnmarkedDeliveries: Bool { unmarkedDeliveries.load(ordering: .acquiring) > 0 }

    /// Makes the answer for a click, which failed on its way, available to the next check.
    public func addFailedDelivery(of click: ClickID) {
        unmarkedDeliveries.wrappingAdd(1, ordering: .releasing)
        first.update { $0.failedDeliveries.append(click) }
    }

    /// Takes away what all loops have counted.
    func drain() -> PendingUpdates.Content {
        var content = PendingUpdates.Content()
        for updates in loops.withLock({ $0 }) { content.merge(updates.drain()) }
        return content
    }

    /// Finishes what ``drain()`` took: it is on disk, or goes back.
    func finish(_ content: PendingUpdates.Content, _ written: Written) {
        if case .refused = written {
            first.update { $0.merge(content) }
        } else {
            unmarkedDeliveries.wrappingSubtract(content.failedDeliveries.count, ordering: .releasing)
        }
    }

    /// The updates of the first loop; those that no loop has made, where there is none.
    private var first: PendingUpdates {
        loops.withLock { loops in
            if let first = loops.first { return first }
            let updates = PendingUpdates()
            loops.append(updates)
            return updates
        }
    }
}
