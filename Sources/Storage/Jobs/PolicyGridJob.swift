public import Attribution
internal import Synchronization
internal import Threads

/// The values that a store needs to replay recorded traffic, and that only the service knows.
public struct ReplaySettings: Sendable {
    /// The time in which a caller without an install id gets an answer again, in milliseconds.
    public let grace: Int64
    /// Returns what reconstructs the fingerprints of an app's clicks; nil before the service has its keys.
    public let reconstruction: @Sendable (App.Settings) -> FingerprintReconstruction?

    public init(
        grace: Int64,
        reconstruction: @escaping @Sendable (App.Settings) -> FingerprintReconstruction?
    ) {
        (self.grace, self.reconstruction) = (grace, reconstruction)
    }
}

/// Compares other windows and minimum confidences by a backtest of each app's live traffic, and stores the results.
///
/// It does so on request, and daily; the first daily comparison comes a day after the first launch.
///
/// If several processes have the database open, only the process with the job's lease (the right to do it) compares.
///
/// The cost of an app's comparison is bounded for any traffic. At most ``PolicyGrid/eventLimit`` clicks and launches
/// are in memory; they have hashes instead of texts, so with their replay they take some 100 MB. One read gets at most
/// ``EventCollection/readLimit`` of them. All settings together are replayed for at most
/// ``PolicyGrid/timeLimitSeconds``; settings that are not reached have no result. The dashboard states when the number
/// of events or the time was limited.
public struct PolicyGridJob<Reader: ReportReader>: Job {
    public let name = JobName.policyGrid
    public let share = 0.05

    private let context: JobContext<Reader>
    private let eventLimit: Int
    /// The maximum time for the replays of one app's settings, and the time that they have taken, in nanoseconds.
    private let timeLimit: UInt64
    private var replayedTime: UInt64 = 0
    private var lease = RenewedLease(of: .policyGrid, milliseconds: 300_000)
    /// The apps that are not compared yet.
    private var waiting: [App] = []
    /// Whether a comparison of all apps is under way, so that its end is stored.
    private var isDaily = false
    /// Whether the current comparison began after an operator requested one; a later request needs another comparison.
    private var answersRequest = false
    private var collection: EventCollection?
    private var replay: GridReplay?

    private static var pause: Due { .after(10_000_000_000) }
    private static var dayMilliseconds: Int64 { 86_400_000 }
    /// How long a slice replays events, in nanoseconds.
    private static var sliceNanoseconds: UInt64 { 4_000_000 }

    public init(
        _ context: JobContext<Reader>,
        eventLimit: Int = PolicyGrid.eventLimit,
        timeLimitSeconds: UInt64 = PolicyGrid.timeLimitSeconds
    ) {
        (self.context, self.eventLimit) = (context, eventLimit)
        timeLimit = timeLimitSeconds * 1_000_000_000
    }

    public mutating func slice(at _: UInt64) throws(StoreError) -> Due {
        guard let settings = context.state.configuration.replays else { return .whenAsked }
        guard let now = context.clock.settledNow() else { return Self.pause }
        if waiting.isEmpty { try begin(settings, at: now) }
        guard let app = waiting.last else { return Self.pause }
        guard try lease.isHeld(at: now, in: context) else {
            // Another process compares all apps; a request to this process waits until that comparison has ended.
            if isDaily { (waiting, isDaily) = ([], false) }
            // The next comparison may start with another app, which must not get this one's events.
            (collection, replay) = (nil, nil)
            return Self.pause
        }
        do throws(StoreError) {
            if try work(on: app, settings, at: now) { return .more }
        } catch {
            // The next slice starts this app again.
            (collection, replay) = (nil, nil)
            throw error
        }
        waiting.removeLast()
        if answersRequest { context.state.gridRequests.withLock { _ = $0.remove(app.id) } }
        guard waiting.isEmpty else { return .more }
        let before = try context.read { reader throws(Reader.Failure) in
            try reader.storedProgress(of: name.rawValue)
        }
        let progress = isDaily ? now.milliseconds : before ?? JobLease.noProgress
        try lease.finish(progress: Timestamp(milliseconds: progress), in: context)
        isDaily = false
        return Self.pause
    }

    /// Chooses the apps to compare: all once a day, and otherwise those that were requested.
    private mutating func begin(_ settings: ReplaySettings, at now: Timestamp) throws(StoreError) {
        let requested = context.state.gridRequests.withLock { $0 }
        let (last, checks) = try context.read { reader throws(Reader.Failure) in
            (try reader.progress(of: .policyGrid), try reader.checkRecordBounds())
        }
        // The first comparison waits until there is a day of launches to compare.
        let reference = checks.map { last ?? RowIdentifier.time(of: $0.lowerBound) }
        isDaily = reference.map { !(0..<Self.dayMilliseconds).contains(now.milliseconds(since: $0)) } ?? false
        guard isDaily || !requested.isEmpty else { return }
        // Pending records must be in the database before they are read.
        context.queue.requestUpdates()
        try context.queue.perform(.barrier)
        let directory = try context.read { reader throws(Reader.Failure) in try reader.directorySnapshot() }
        waiting = directory.directory.apps.filter { isDaily || requested.contains($0.id) }
        if waiting.isEmpty { context.state.gridRequests.withLock { $0 = [] } }
        // The service reads its keys after the store has opened.
        if let app = waiting.last, settings.reconstruction(app.settings) == nil { waiting = [] }
    }

    /// Reads or replays some events of an app, or stores the result at the end; returns whether there is more to do.
    private mutating func work(on app: App, _ settings: ReplaySettings, at now: Timestamp) throws(StoreError)
        -> Bool
    {
        if var replay {
            // The replay is moved out of the property, because a copy is large.
            self.replay = nil
            let start = MonotonicTime.now().nanoseconds
            let end = start + min(Self.sliceNanoseconds, timeLimit - replayedTime)
            let isMore = replay.play { MonotonicTime.now().nanoseconds >= end }
            replayedTime = min(timeLimit, replayedTime + MonotonicTime.now().nanoseconds - start)
            replay.grid.isUnfinished = isMore && replayedTime == timeLimit
            guard isMore, !replay.grid.isUnfinished else {
                try keep(replay.grid, of: app.id, at: now)
                return false
            }
            self.replay = replay
            return true
        }
        if collection == nil {
            answersRequest = context.state.gridRequests.withLock { $0.contains(app.id) }
            collection = try makeCollection(of: app, settings, at: now)
        }
        guard var collection else { return false }
        self.collection = nil
        let isMore = try context.read { reader throws(Reader.Failure) in try collection.read(reader) }
        guard !isMore else {
            self.collection = collection
            return true
        }
        replay = GridReplay(
            collection.takeEvents(),
            of: app.settings,
            standardWindow: context.state.configuration.standardWindow,
            replayGrace: settings.grace,
            isWhole: collection.isWhole,
            at: now
        )
        replay?.grid.isLimited = collection.isLimited
        replayedTime = 0
        // Without an event, the stored comparison remains.
        return replay != nil
    }

    private func makeCollection(of app: App, _ settings: ReplaySettings, at now: Timestamp)
        throws(StoreError) -> EventCollection?
    {
        guard let reconstruction = settings.reconstruction(app.settings) else { return nil }
        let (id, limit) = (app.id, eventLimit)
        return try context.read { reader throws(Reader.Failure) in
            guard let number = try reader.number(of: id) else { return nil }
            let scope = Scope(app: number, isTest: false)
            var collection = EventCollection(of: scope, reconstruction, limit: limit, at: now)
            // If the model has learnt nothing yet, no event is missing.
            let began = try reader.learningEpoch(of: scope)?.began ?? now
            let deadlines = context.state.configuration.deadlines(at: now)
            let isWhole = began >= max(collection.oldest, deadlines.checks)
            collection.isWhole = try reader.value(of: .deletedUpTo) == nil ? isWhole : false
            return collection
        }
    }

    private func keep(_ grid: PolicyGrid, of app: AppID, at now: Timestamp) throws(StoreError) {
        var grid = grid
        grid.computedAt = now
        let number = try context.read { reader throws(Reader.Failure) in try reader.number(of: app) }
        guard let number else { return }
        try context.queue.perform(.job(.policyGrid(grid, of: Scope(app: number, isTest: false))))
    }
}

/// The newest clicks and launches of an app, read from the newest ones back to the limits of a ``PolicyGrid``.
struct EventCollection {
    private let scope: Scope
    let oldest: Timestamp
    private let limit: Int
    private var reconstruction: EventReconstruction
    /// The end of the next piece, exclusive.
    private var end: Timestamp
    private var pieces: [[RecordedEvent]] = []
    private var count = 0
    private(set) var isLimited = false
    /// Whether these are all events from which the app's model learnt.
    var isWhole = false

    /// The length of the next piece, in milliseconds.
    private var length: Int64 = 900_000

    /// The minimum and maximum length of a piece, in milliseconds; pieces are short in busy times, so that
    /// each read is short.
    private static let minimumLength: Int64 = 1_000
    private static let maximumLength: Int64 = 21_600_000
    /// If a piece has fewer events than this, and fewer rows than half of ``rowLimit``, the next piece is twice as long.
    private static let fewEvents = 500
    /// The maximum number of events of a piece; a piece with more events is read again with an eighth of its length.
    static let readLimit = 10_000
    /// The maximum number of rows of all apps in a piece, so that a small app's piece is as short as a large app's.
    private static let rowLimit = 20_000

    init(of scope: Scope, _ remaking: FingerprintReconstruction, limit: Int, at now: Timestamp) {
        (self.scope, self.limit) = (scope, limit)
        oldest = now.advanced(byMilliseconds: -PolicyGrid.maximumDays * 86_400_000)
        end = now.advanced(byMilliseconds: 1)
        // The launches that claimed these clicks are replayed too, so no click counts as claimed before the replay.
        reconstruction = EventReconstruction(remaking, firstCheckAt: Timestamp(milliseconds: .min))
    }

    /// Reads the piece of time before the last one that was read; returns false after the oldest piece.
    mutating func read<Reader: HistoryRows>(_ reader: Reader) throws(Reader.Failure) -> Bool {
        let start = end.advanced(byMilliseconds: -length)
        // `first(at:)` returns the smallest number of a time.
        let (after, through) = (RowIdentifier.first(at: start) - 1, RowIdentifier.first(at: end) - 1)
        let room = min(limit - count, Self.readLimit) + 1
        var (piece, readCount): ([RecordedEvent], Int) = ([], 0)
        // Rows of all apps are read, because a limit of one app's rows does not bound how many the database reads.
        func rows(isJoined: Bool) -> NumberedRows {
            let limit = Self.rowLimit - readCount
            return NumberedRows(.ascending, after: after, through: through, limit: limit, isJoined: isJoined)
        }
        try reader.clicks(rows(isJoined: true)) { click, _ in
            readCount += 1
            guard click.record.scope == scope else { return true }
            piece.append(.click(reconstruction.click(click.record, claimedAt: click.claimedAt)))
            return piece.count < room
        }
        try reader.checks(rows(isJoined: false)) { check in
            readCount += 1
            guard check.record.scope == scope else { return true }
            piece.append(.launch(reconstruction.launch(check.record.facts)))
            return piece.count < room
        }
        guard piece.count < room, readCount < Self.rowLimit else {
            // A shorter piece may fit.
            guard length == Self.minimumLength else {
                length = max(length / 8, Self.minimumLength)
                return true
            }
            (isLimited, isWhole) = (true, false)
            return false
        }
        if piece.count < Self.fewEvents, readCount < Self.rowLimit / 2 {
            length = min(2 * length, Self.maximumLength)
        }
        count += piece.count
        if !piece.isEmpty { pieces.append(piece) }
        end = start
        return end > oldest
    }

    /// Returns the events in the order of time, and forgets them; a click comes before a launch of the same millisecond.
    mutating func takeEvents() -> [RecordedEvent] {
        var events: [RecordedEvent] = []
        events.reserveCapacity(count)
        while let piece = pieces.popLast() { events += piece }
        // Sorts indices and not the events, because a sorted copy of all events would need their memory again.
        let order = events.indices.sorted {
            (events[$0].at, events[$0].rank, $0) < (events[$1].at, events[$1].rank, $1)
        }
        return order.map { events[$0] }
    }
}

extension RecordedEvent {
    fileprivate var rank: Int { if case .click = self { 0 } else { 1 } }
}
