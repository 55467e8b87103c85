internal import Attribution
internal import Synchronization
internal import Threads

/// The pending updates of all loops of a store; the thread that writes drains them.
final class UpdateCollector: Sendable {
    private let loops = ConditionLock<[PendingUpdates]>([])
    /// The number of failed deliveries that are not marked on disk yet.
    private let unmarkedDeliveries = Atomic(0)

    /// Creates the updates of a new loop.
    func makeUpdates() -> PendingUpdates {
        let updates = PendingUpdates()
        loops.withLock { $0.append(updates) }
        return updates
    }

    /// Whether the updates of all loops are written or being written.
    var isEmpty: Bool { loops.withLock { $0 }.allSatisfy(\.isEmpty) }

    /// Whether a failed delivery is not marked on disk yet, so that reads do not show it.
    var hasUnmarkedDeliveries: Bool { unmarkedDeliveries.load(ordering: .acquiring) > 0 }

    /// Adds an update that marks a click's claim as undelivered, so that the next check can get its answer.
    func addFailedDelivery(of click: ClickID) {
        unmarkedDeliveries.wrappingAdd(1, ordering: .releasing)
        first.update { $0.failedDeliveries.append(click) }
    }

    /// Removes and returns the updates of all loops.
    func drain() -> PendingUpdates.Content {
        var content = PendingUpdates.Content()
        for updates in loops.withLock({ $0 }) { content.merge(updates.drain()) }
        return content
    }

    /// Puts drained updates back if their write was refused; otherwise their failed deliveries count as marked.
    func finish(_ content: PendingUpdates.Content, _ written: Written) {
        if case .refused = written {
            first.update { $0.merge(content) }
        } else {
            unmarkedDeliveries.wrappingSubtract(content.failedDeliveries.count, ordering: .releasing)
        }
    }

    /// The updates of the first loop; newly created ones if there is no loop.
    private var first: PendingUpdates {
        loops.withLock { loops in
            if let first = loops.first { return first }
            let updates = PendingUpdates()
            loops.append(updates)
            return updates
        }
    }
}
