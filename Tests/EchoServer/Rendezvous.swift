import Synchronization

/// Where requests wait for each other.
final class Rendezvous: Sendable {
    private let waiting = Mutex<[CheckedContinuation<Void, Never>]>([])

    /// Waits until so many are there.
    func join(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let everybody = waiting.withLock { waiting in
                waiting.append(continuation)
                guard waiting.count >= count else { return [CheckedContinuation<Void, Never>]() }
                defer { waiting = [] }
                return waiting
            }
            for one in everybody { one.resume() }
        }
    }
}
