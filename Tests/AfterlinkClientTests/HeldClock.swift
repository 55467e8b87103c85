import AfterlinkCore
import Foundation
import Synchronization

/// The system's clock, but pauses of one length last until the test ends them.
final class HeldClock: ClientClock {
    private struct State {
        var count = 0
        var isReleased = false
        /// The pauses that last, by their numbers.
        var pauses: [Int: CheckedContinuation<Void, Never>] = [:]
        /// The numbers of pauses whose tasks were cancelled before they began.
        var cancelled: Set<Int> = []
    }

    private let seconds: Double
    private let state = Mutex(State())

    /// - Parameter seconds: the length of the pauses that last until ``release()``.
    init(holding seconds: Double) { self.seconds = seconds }

    var now: Date { SystemClock().now }

    /// The number of pauses that wait for ``release()``.
    var heldCount: Int { state.withLock(\.pauses.count) }

    /// Ends the pauses; all later ones have their usual length.
    func release() {
        let pauses = state.withLock { state in
            state.isReleased = true
            defer { state.pauses = [:] }
            return state.pauses.values
        }
        for pause in pauses { pause.resume() }
    }

    func sleep(seconds: Double) async throws {
        let number = state.withLock { state -> Int? in
            guard seconds == self.seconds, !state.isReleased else { return nil }
            state.count += 1
            return state.count
        }
        guard let number else { return try await SystemClock().sleep(seconds: seconds) }
        await withTaskCancellationHandler {
            await withCheckedContinuation { pause in
                let isOver = state.withLock { state in
                    guard !state.isReleased, !state.cancelled.contains(number) else { return true }
                    state.pauses[number] = pause
                    return false
                }
                if isOver { pause.resume() }
            }
        } onCancel: {
            let pause = state.withLock { state in
                state.cancelled.insert(number)
                return state.pauses.removeValue(forKey: number)
            }
            pause?.resume()
        }
        try Task.checkCancellation()
    }
}
