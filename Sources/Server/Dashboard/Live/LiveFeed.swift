internal import Attribution
internal import Synchronization

/// The traffic of the last half hour, which all live pages of this server share.
///
/// Once a second, one page reads the new rows from the database for all pages. So the pages show the traffic
/// of every server, and any number of pages costs one read a second. Without pages, nothing is read.
final class LiveFeed: Sendable {
    struct Event: Sendable {
        /// The event's number, in the order in which this server read the events.
        let number: Int
        let at: Timestamp
        let id: String
        let group: Group
        /// Whether the event is a click; otherwise it is a launch.
        let isClick: Bool
        let isMatch: Bool
        let text: String
        let campaign: String?
    }

    /// The traffic that is counted together.
    struct Group: Hashable, Sendable {
        let app: String
        let isTest: Bool
    }

    /// The events that are kept together.
    private struct Kind: Hashable {
        let group: Group
        let isClick: Bool
    }

    struct Counts: Equatable, Sendable {
        var clicks: Int64 = 0
        var launches: Int64 = 0
        var matches: Int64 = 0

        var all: [Int64] { [clicks, launches, matches] }

        static func += (left: inout Counts, right: Counts) {
            left.clicks += right.clicks
            left.launches += right.launches
            left.matches += right.matches
        }
    }

    private struct State {
        var isReading = false
        var readAt: Int64 = 0
        /// The time from which the next read continues, in milliseconds.
        var position: Int64 = 0
        /// The newest rows by key, with their times in milliseconds, because the next read may return them again.
        var seen: [Int64: Int64] = [:]
        /// The newest events by kind, so that events of one kind do not displace another kind's events.
        var events: [Kind: [Event]] = [:]
        var eventCount = 0
        var minutes: [Int64: [Group: Counts]] = [:]
        var streamCount = 0
        /// The streams that wait until the current tick ends.
        var waiting: [CheckedContinuation<Bool, Never>] = []
        var isTicking = false
        /// The sessions that had not ended when they were last read.
        var sessions: Set<KeyDigest> = []
        var sessionsReadAt: Int64 = 0
    }

    static let minuteCount: Int64 = 30
    private static let streamLimit = 64
    /// At least this many of the newest events of each kind are kept: as many as a page lists.
    private static let eventLimit = LivePage.rowCount
    /// If a read of one table has returned this many rows, it ends, and the next read continues there.
    private static let rowLimit = 20_000
    /// The maximum time from the creation of a row's number to the commit of the row, in milliseconds.
    private static let overlap: Int64 = 2_000

    private let state = Mutex(State())

    /// Counts a stream; returns false if the limit of streams is reached.
    func openStream() -> Bool {
        state.withLock { state in
            guard state.streamCount < Self.streamLimit else { return false }
            state.streamCount += 1
            return true
        }
    }

    func closeStream() { state.withLock { $0.streamCount -= 1 } }

    /// Waits for the next tick, which comes a second after the first stream began to wait.
    ///
    /// - Returns: true for one stream, which must read and then call ``endTick()``; false for the others, which wait
    ///   for that call.
    func tick() async -> Bool {
        await withCheckedContinuation { stream in
            let starts = state.withLock { state in
                state.waiting.append(stream)
                defer { state.isTicking = true }
                return !state.isTicking
            }
            guard starts else { return }
            Task.detached { [self] in
                try? await Task.sleep(for: .seconds(1))
                state.withLock { $0.waiting.removeFirst() }.resume(returning: true)
            }
        }
    }

    /// Wakes the other streams, after the first one has read.
    func endTick() {
        let streams = state.withLock { state in
            defer { (state.waiting, state.isTicking) = ([], false) }
            return state.waiting
        }
        for stream in streams { stream.resume(returning: false) }
    }

    /// Returns the events with numbers above `number` whose groups `filter` accepts, in the order of their
    /// times, and the number of the last event.
    func events(after number: Int, _ filter: (Group) -> Bool) -> (events: [Event], last: Int) {
        let (kept, last) = state.withLock { ($0.events, $0.eventCount) }
        let found = kept.filter { filter($0.key.group) }.flatMap { $0.value.filter { $0.number > number } }
        return (found.sorted { ($0.at, $0.number) < ($1.at, $1.number) }, last)
    }

    /// Returns the counts of the last minutes, oldest first; the last minute has not ended.
    func minutes(at now: Timestamp, _ filter: (Group) -> Bool) -> [Counts] {
        let last = Self.minute(of: now.milliseconds)
        return state.withLock { state in
            (last - Self.minuteCount + 1...last).map { minute in
                var sum = Counts()
                for (group, counts) in state.minutes[minute] ?? [:] where filter(group) { sum += counts }
                return sum
            }
        }
    }

    private static func minute(of milliseconds: Int64) -> Int64 { milliseconds / 60_000 }

    /// Reads the rows that are new since the last read, unless a read is under way or the last one was less than 0.9
    /// seconds ago.
    func catchUp(_ store: any ExportStore, at now: Timestamp) async throws(StoreError) {
        let time = now.milliseconds
        let start = state.withLock { state -> Int64? in
            guard !state.isReading, time < state.readAt || time - state.readAt >= 900 else { return nil }
            state.isReading = true
            // If the clock was set back, or the last read was more than half an hour ago, read the last half hour.
            let oldest = time - Self.minuteCount * 60_000
            guard state.position >= oldest, state.position <= time else {
                // Forget everything: ``seen`` no longer contains the keys of older rows, so the read would count these
                // rows again.
                (state.seen, state.events, state.minutes) = ([:], [:], [:])
                return oldest
            }
            return state.position - Self.overlap
        }
        guard let start else { return }
        defer { state.withLock { $0.isReading = false } }
        var end = time
        for table in [ExportTable.clicks, .checks] {
            end = try await min(end, read(table, from: start, store))
        }
        // If the rows of the overlap alone fill a read, the next read would get no further. So skip the rows up to now.
        let position = end > start + Self.overlap ? end : time
        state.withLock { state in
            (state.readAt, state.position) = (time, position)
            state.seen = state.seen.filter { $1 >= position - 2 * Self.overlap }
            let oldest = Self.minute(of: time) - Self.minuteCount
            state.minutes = state.minutes.filter { $0.key > oldest }
            state.events = state.events.filter { Self.minute(of: $1.last?.at.milliseconds ?? 0) > oldest }
        }
    }

    /// Reads, for all streams, which sessions have not ended, unless they were read in the last five seconds.
    func readSessions(_ store: any SessionStore, at now: Timestamp) async throws(StoreError) {
        let readAt = state.withLock(\.sessionsReadAt)
        guard now.milliseconds < readAt || now.milliseconds - readAt >= 5_000 else { return }
        let valid = Set(try await store.sessions().filter { $0.isValid(at: now) }.map(\.digest))
        state.withLock { ($0.sessions, $0.sessionsReadAt) = (valid, now.milliseconds) }
    }

    /// Returns whether a stream's session has ended; false until the sessions have been read after `openedAt`.
    func hasEnded(_ session: KeyDigest, openedAt: Timestamp) -> Bool {
        state.withLock { $0.sessionsReadAt > openedAt.milliseconds && !$0.sessions.contains(session) }
    }

    /// Reads the rows of a table that were recorded after a time, until the table ends or the limit is reached.
    ///
    /// - Returns: the time up to which the table was read; the largest number if it was read to its end.
    private func read(_ table: ExportTable, from start: Int64, _ store: any ExportStore)
        async throws(StoreError) -> Int64
    {
        var query = ExportQuery(table, end: .row(.max))
        query.since = .row(start << 16)
        var count = 0
        repeat {
            let page = try await store.export(query)
            state.withLock { state in for row in page.rows { Self.add(row, of: table, to: &state) } }
            (query.since, count) = (page.next, count + page.rows.count)
        } while query.since != nil && count < Self.rowLimit
        guard case .row(let last)? = query.since else { return .max }
        return last >> 16
    }

    private static func add(_ row: ExportRow, of table: ExportTable, to state: inout State) {
        guard case .row(let number) = row.cursor else { return }
        // A click and a check may have the same number.
        let key = table == .clicks ? number : ~number
        let at = number >> 16
        guard state.seen.updateValue(at, forKey: key) == nil else { return }
        func value(_ name: String) -> ExportValue {
            table.columns.firstIndex(of: name).map { row.values[$0] } ?? .none
        }
        func text(_ name: String) -> String? { if case .text(let text) = value(name) { text } else { nil } }
        let group = Group(app: text("app") ?? "", isTest: value("test") == .flag(true))
        let outcome = text("outcome").flatMap { CheckOutcome(rawValue: $0) }
        let isRobot = value("robot") == .flag(true)
        var weight: Int64 = 1
        if case .integer(let stored) = value("weight") { weight = stored }
        state.minutes[minute(of: at), default: [:]][group, default: Counts()] += Counts(
            clicks: table == .clicks && !isRobot ? 1 : 0,
            launches: outcome == .match || outcome == .noMatch ? weight : 0,
            matches: outcome == .match ? 1 : 0
        )
        let reason = text("reason").flatMap { NoMatchReason(rawValue: $0) }
        let name = outcome.map { outcome in
            reason.map { "\(DashboardText.name(of: outcome)): \($0.name)" } ?? DashboardText.name(of: outcome)
        }
        state.eventCount += 1
        let kind = Kind(group: group, isClick: table == .clicks)
        var events = state.events.removeValue(forKey: kind) ?? []
        events.append(
            Event(
                number: state.eventCount,
                at: Timestamp(milliseconds: at),
                id: text("id") ?? "",
                group: group,
                isClick: table == .clicks,
                isMatch: outcome == .match,
                text: name ?? (isRobot ? DashboardText.robotClick : DashboardText.click),
                campaign: text("campaign")
            )
        )
        if events.count > 2 * eventLimit { events.removeFirst(eventLimit) }
        state.events[kind] = events
    }
}
