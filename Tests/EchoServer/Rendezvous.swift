import Synchronization

/// A point at which requests wait for each other.
final class Rendezvous: Sendable {
    private let waiting = Mutex<[CheckedContinuation<Void, Never>]>([])

    /// Waits until `count` requests have joined.
    func join(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let complete = waiting.withLock { waiting in
                waiting.append(continuation)
                guard waiting.count >= count else { return [CheckedContinuation<Void, Never>]() }
                defer { waiting = [] }
                return waiting
            }
            for continuation in complete { continuation.resume() }
        }
    }
}
