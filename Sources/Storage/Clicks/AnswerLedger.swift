internal import Attribution
internal import Threads

/// The claims of this process (each consumes a click for a check), and when the response of each was written.
///
/// It is shared by the writer and all loops.
///
/// A check may get a lost answer again only if the check began after the answer was written: a check that overlaps with
/// the first check is another launch. If the ledger does not contain a claim, an earlier process has made it, and has
/// written or lost its response. If the claim is young, another server may have made it instead, and its response may
/// still be under way.
final class AnswerLedger: Sendable {
    private enum Entry: Sendable {
        case pending
        /// Nanoseconds of the monotonic clock.
        case answered(at: UInt64)
        /// The response was written at this time, and its delivery did not fail.
        case delivered(answeredAt: UInt64)
    }
    /// A claim that this process has made.
    private struct Made: Sendable {
        let claimedAt: Timestamp
        /// Whether the launch has an installation id.
        let hasInstall: Bool
    }
    /// A claim, and what became of its response.
    private struct Answer: Sendable {
        /// The claim; nil for one that this process only repeats.
        var claim: Made?
        var entry: Entry
    }
    private struct State: Sendable {
        /// The entries by the first half of the click's identifier.
        ///
        /// There are two generations; the older one is dropped as a whole.
        var current: [UInt64: Answer] = [:]
        var previous: [UInt64: Answer] = [:]
        var startOfCurrent: UInt64 = 0

        func answer(_ click: ClickID) -> Answer? { current[click.high] ?? previous[click.high] }
    }

    /// How long a generation lasts: longer than any request or delivery.
    ///
    /// So if a check no longer finds an entry, the check began after the entry's response was written.
    private static let generationNanoseconds: UInt64 = 120_000_000_000

    private let state = ConditionLock(State())
    private let now: @Sendable () -> UInt64
    private let markUndelivered: @Sendable (ClickID) -> Void
    private let foreignMilliseconds: Int64

    /// - Parameters:
    ///   - foreignMilliseconds: see ``StoreConfiguration/foreignAnswerMilliseconds``.
    ///   - now: returns nanoseconds of the monotonic clock.
    ///   - markUndelivered: requests that a failed delivery is marked on disk.
    init(
        foreignMilliseconds: Int64,
        now: @escaping @Sendable () -> UInt64,
        markUndelivered: @escaping @Sendable (ClickID) -> Void
    ) {
        self.foreignMilliseconds = foreignMilliseconds
        self.now = now
        self.markUndelivered = markUndelivered
    }

    /// Adds a claim that is about to be committed.
    func expect(_ click: ClickID, for request: ClaimRequest) {
        let claim = Made(claimedAt: request.at, hasInstall: !request.installs.isEmpty)
        let now = now()
        state.withLock { Self.set(Answer(claim: claim, entry: .pending), click, at: now, in: &$0) }
    }

    /// Returns an object that reports to the ledger when the response with a click's claim is written and delivered.
    func receipt(for click: ClickID) -> any Receipt { ClaimReceipt(click: click, ledger: self) }

    /// Records that a response with the claim is about to be written.
    ///
    /// If an earlier response was delivered, the answer counts as delivered even if this response is lost.
    func willRespond(with click: ClickID) {
        let now = now()
        state.withLock { state in
            var answer = Answer(claim: nil, entry: .answered(at: now))
            if let known = state.answer(click) {
                answer.claim = known.claim
                if case .delivered = known.entry { answer.entry = .delivered(answeredAt: now) }
            }
            Self.set(answer, click, at: now, in: &state)
        }
    }

    /// Returns whether the response with the claim of a click was written before a check's first byte was read.
    ///
    /// - Parameters:
    ///   - click: the click.
    ///   - claimedAt: when it was claimed.
    ///   - check: the check.
    /// - Returns: whether it was; nil if that is unknown, because another server may have made the claim just now.
    func wasAnswered(_ click: ClickID, claimedAt: Timestamp, before check: Check) -> Bool? {
        let entry = state.withLock { $0.answer(click)?.entry }
        switch entry {
        case .none:
            // The servers' clocks differ a little, so the claim may seem to be later than the check.
            return abs(check.at.milliseconds(since: claimedAt)) < foreignMilliseconds ? nil : true
        case .pending: return false
        case .answered(let moment), .delivered(let moment): return moment <= check.firstByteAt
        }
    }

    /// Records that the delivery of the response did not fail.
    func didDeliver(_ click: ClickID) {
        state.withLock { state in
            guard var answer = state.answer(click), case .answered(let moment) = answer.entry else { return }
            answer.entry = .delivered(answeredAt: moment)
            state.current[click.high] = answer
        }
    }

    /// Whether a lost answer may still be marked as undelivered, so that any check gets it.
    ///
    /// If it may not, only the installation or the caller of the claim can get the answer again. Other servers repeat a
    /// claim to its installation at once, and to a caller without an installation id once the claim is
    /// ``foreignMilliseconds`` old. The database does not contain their responses, so a marked answer could go to two
    /// launches.
    func mayMark(_ click: ClickID, at now: Timestamp) -> Bool {
        guard foreignMilliseconds > 0 else { return true }
        guard let claim = state.withLock({ $0.answer(click)?.claim }), !claim.hasInstall else { return false }
        // The last quarter of the time is for the commit of the mark, and for clocks that differ.
        return abs(now.milliseconds(since: claim.claimedAt)) < foreignMilliseconds * 3 / 4
    }

    /// Forgets claims whose lost answers are marked on disk, or can go only to their callers.
    ///
    /// With several servers, another one may give such an answer to a check. So this server repeats the claim as the
    /// others do, and does not assume that the answer is still under way here.
    func forget(_ clicks: [ClickID]) {
        guard foreignMilliseconds > 0, !clicks.isEmpty else { return }
        state.withLock { state in
            for click in clicks {
                state.current[click.high] = nil
                state.previous[click.high] = nil
            }
        }
    }

    /// Requests that the failed delivery of a response is marked on disk; checks wait until it is.
    ///
    /// Does nothing if a response for the click was delivered before, or if an earlier process made the claim.
    func didFailToDeliver(_ click: ClickID) { if isUndelivered(click) { markUndelivered(click) } }

    /// Whether no response for the click has been delivered yet.
    ///
    /// False for a claim of an earlier process, which this process only repeats.
    private func isUndelivered(_ click: ClickID) -> Bool {
        state.withLock { state in
            switch state.answer(click)?.entry {
            case .none, .delivered: false
            case .pending, .answered: true
            }
        }
    }

    private static func set(_ answer: Answer, _ click: ClickID, at now: UInt64, in state: inout State) {
        if now &- state.startOfCurrent > generationNanoseconds {
            state.previous = state.current
            // The capacity is the size of the last generation, so that the dictionary does not grow step by step.
            state.current = Dictionary(minimumCapacity: state.previous.count)
            state.startOfCurrent = now
        }
        state.current[click.high] = answer
    }
}

/// The receipt of a claim: three words, so that an existential holds it without an allocation.
private struct ClaimReceipt: Receipt {
    let click: ClickID
    let ledger: AnswerLedger

    func willRespond() { ledger.willRespond(with: click) }
    func delivered() { ledger.didDeliver(click) }
    func failed() { ledger.didFailToDeliver(click) }
}
