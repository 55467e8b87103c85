public import Attribution
internal import Threads

/// Which of this process's claims have been answered, and when.
///
/// Shared by the writer and all loops.
///
/// A check may get a lost answer again only if it began after the answer was written: one that overlaps with the
/// first is another launch that came at the same time. A claim that the ledger does not know was made by an
/// earlier process, whose answers are all written or lost.
public final class AnswerLedger: Sendable {
    private enum Entry: Sendable {
        case pending
        /// Nanoseconds of the monotonic clock.
        case answered(at: UInt64)
        /// Answered then, and nothing spoke against the answer's arrival.
        case delivered(answeredAt: UInt64)
    }
    private struct State: Sendable {
        /// By the first half of the click's identifier.
        ///
        /// Two generations: the older one is dropped as a whole.
        var current: [UInt64: Entry] = [:]
        var previous: [UInt64: Entry] = [:]
        var startOfCurrent: UInt64 = 0
    }

    /// Longer than any request lives, and than an answer's delivery is watched: a check that asks later
    /// began after every entry that is forgotten.
    private static let generationNanoseconds: UInt64 = 120_000_000_000

    private let state = ConditionLock(State())
    private let now: @Sendable () -> UInt64
    private let markUndelivered: @Sendable (ClickID) -> Void

    /// - Parameters:
    ///   - now: returns nanoseconds of the monotonic clock.
    ///   - markUndelivered: has an answer that failed marked on disk.
    public init(
        now: @escaping @Sendable () -> UInt64,
        markUndelivered: @escaping @Sendable (ClickID) -> Void
    ) {
        self.now = now
        self.markUndelivered = markUndelivered
    }

    /// A claim is about to become visible, and its answer is still to be written.
    public func expect(_ click: ClickID) {
        set(.pending, click)
    }

    /// The receipt of a response that has the claim of a click.
    public func receipt(for click: ClickID) -> any Receipt {
        ClaimReceipt(click: click, ledger: self)
    }

    /// A response that has the claim is about to be written.
    func willRespond(with click: ClickID) {
        set(.answered(at: now()), click)
    }

    /// Whether the answer for the click was being written when the check's first byte was read.
    public func wasAnswered(_ click: ClickID, before firstByteAt: UInt64) -> Bool {
        state.withLock { state in
            switch state.current[click.high] ?? state.previous[click.high] {
            case .none: true
            case .pending: false
            case .answered(let moment), .delivered(let moment): moment <= firstByteAt
            }
        }
    }

    /// The answer for the click seems to have arrived.
    func didDeliver(_ click: ClickID) {
        state.withLock { state in
            guard case .answered(let moment) = state.current[click.high] ?? state.previous[click.high] else {
                return
            }
            state.current[click.high] = .delivered(answeredAt: moment)
        }
    }

    /// The answer for the click has failed on its way: from now until that is marked on disk, every read waits for it.
    func didFailToDeliver(_ click: ClickID) {
        if isUndelivered(click) { markUndelivered(click) }
    }

    /// Whether no caller is known to have received the answer for the click yet.
    ///
    /// False for a claim of an earlier process: what is answered here are repetitions.
    private func isUndelivered(_ click: ClickID) -> Bool {
        state.withLock { state in
            switch state.current[click.high] ?? state.previous[click.high] {
            case .none, .delivered: false
            case .pending, .answered: true
            }
        }
    }

    private func set(_ entry: Entry, _ click: ClickID) {
        let now = now()
        state.withLock { state in
            if now &- state.startOfCurrent > Self.generationNanoseconds {
                state.previous = state.current
                // As many may come again: it does not grow again each time.
                state.current = Dictionary(minimumCapacity: state.previous.count)
                state.startOfCurrent = now
            }
            state.current[click.high] = entry
        }
    }
}

/// Three words, so that it needs no memory of its own.
private struct ClaimReceipt: Receipt {
    let click: ClickID
    let ledger: AnswerLedger

    func willRespond() { ledger.willRespond(with: click) }
    func delivered() { ledger.didDeliver(click) }
    func failed() { ledger.didFailToDeliver(click) }
}
