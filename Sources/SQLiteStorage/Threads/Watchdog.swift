internal import Attribution
internal import Threads

/// Answers who has waited too long, and sees to it that notes are written within a second.
struct Watchdog {
    let shared: SharedState

    private static let busyInterval: UInt64 = 50_000_000
    /// Shorter than any time limit, so that a write that comes right after a look is looked at in time.
    private static let idleInterval: UInt64 = 250_000_000
    private static let notesInterval: UInt64 = 500_000_000

    func run() {
        var notesAreDueAt: UInt64 = 0
        while true {
            let now = MonotonicTime.now().nanoseconds
            shared.queue.expire(at: now)
            if now >= notesAreDueAt, shared.hasNotes {
                notesAreDueAt = now + Self.notesInterval
                shared.queueNotes()
            }
            let pause = shared.queue.count > 0 ? Self.busyInterval : Self.idleInterval
            let hasEnded = shared.background.wait(until: now + pause) { $0.hasEnded ? true : nil }
            if hasEnded == true { return }
        }
    }
}
