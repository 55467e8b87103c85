internal import Attribution
internal import SQLite
internal import Storage
internal import Threads

/// Work beside requests, on a thread of its own: copying the log into the database, retention, and the watch on match
/// rates.
final class MaintenanceThread {
    private static let interval: UInt64 = 1_000_000_000

    private let shared: SharedState
    private let opening: DatabaseOpening
    private var retention: Retention
    private var lookout: DriftScheduler
    private var connection: SQLiteConnection?

    init(shared: SharedState, opening: DatabaseOpening) {
        self.shared = shared
        self.opening = opening
        retention = Retention(shared: shared)
        lookout = DriftScheduler(shared: shared)
    }

    func run() {
        defer {
            connection = nil
            shared.endBackgroundThread()
        }
        while serveCheckpoints(until: MonotonicTime.now().nanoseconds + Self.interval) {
            checkpoint()
            if shared.filters.withLock({ $0.needsFilter }) { shared.requestFilter() }
            noting(.retention) { () throws(StoreError) in
                try retention.runSlices(for: Self.interval) { serveCheckpoints(until: $0) }
            }
            noting(.drift) { () throws(StoreError) in
                try lookout.runTurn { () throws(StoreError) in try openConnection() }
            }
        }
    }

    /// Copies the log whenever it is asked to, until a moment; false when the store stops.
    private func serveCheckpoints(until moment: UInt64) -> Bool {
        while true {
            let wake = shared.background.wait(until: moment) { state -> Wake? in
                if state.isStopping { return .stop }
                guard state.wantsCheckpoint else { return nil }
                state.wantsCheckpoint = false
                return .checkpoint
            }
            switch wake {
            case .stop: return false
            case .checkpoint: checkpoint()
            case nil: return true
            }
        }
    }

    private enum Wake: Sendable {
        case stop
        case checkpoint
    }

    /// Copies what it can, without waiting for anybody.
    private func checkpoint() {
        noting(.checkpoint) { () throws(StoreError) in
            let connection = try openConnection()
            do throws(SQLiteError) {
                let checkpoint = try connection.checkpoint(.passive)
                if !checkpoint.isBlocked {
                    shared.logCopying.withLock { $0.noteCopied(logPages: checkpoint.copiedPages) }
                }
            } catch {
                if error.endsConnection { self.connection = nil }
                throw StoreError(error)
            }
        }
    }

    private func openConnection() throws(StoreError) -> SQLiteConnection {
        if let connection { return connection }
        let opened = try opening.reopen()
        connection = opened
        return opened
    }

    private func noting(_ work: FailureLog.Work, _ body: () throws(StoreError) -> Void) {
        do throws(StoreError) {
            try body()
            shared.failures.noteSuccess(of: work, at: MonotonicTime.now().nanoseconds)
        } catch {
            guard error.code != .stopping else { return }
            shared.failures.note(error, of: work, at: MonotonicTime.now().nanoseconds)
        }
    }
}
