internal import Attribution
internal import Threads

/// The one thread that writes to a database with a ``BlockingEngine``: performs the actions of the ``CommitCycle``.
final class WriterThread<Engine: BlockingEngine> {
    private let engine: Engine
    private let queue: WriteQueue
    private let updates: UpdateCollector
    private let ledger: AnswerLedger
    private let health: HealthRecorder
    private let failures: FailureLog
    private var cycle: CommitCycle
    /// The writes of the open transaction, in their order.
    private var batch: [QueuedWrite] = []
    /// The start of the last commit, in nanoseconds of the monotonic clock.
    private var commitStart: UInt64 = 0

    /// - Parameters:
    ///   - engine: the database's engine, which this thread owns.
    ///   - state: the state that the store's threads share.
    init(_ engine: Engine, _ state: StoreState) {
        self.engine = engine
        queue = state.queue
        updates = state.updates
        ledger = state.ledger
        health = state.health
        failures = state.failures
        cycle = CommitCycle(
            limit: state.configuration.batchLimit,
            gatheringNanoseconds: Engine.Rules.gatheringNanoseconds
        )
    }

    /// Writes until the queue is stopped and empty.
    func run() {
        while queue.waitForWork() {
            var action = cycle.start(at: MonotonicTime.now().nanoseconds)
            while true {
                if case .rest = action { break }
                action = cycle.next(perform(action), at: MonotonicTime.now().nanoseconds)
            }
            batch.removeAll(keepingCapacity: true)
        }
        engine.close()
    }

    private func perform(_ action: CommitCycle.Action) -> CommitCycle.Event {
        do throws(EngineFailure) {
            switch action {
            case .begin: try engine.begin()
            case .take(let count): return .taken(take(atMost: count))
            case .prepare(let range): try engine.prepare(batch[range].lazy.map { $0.write })
            case .perform(let index): return try perform(batch[index])
            case .savepoint: try engine.savepoint()
            case .release: try engine.release()
            case .undo: try engine.undo()
            case .commit:
                commitStart = MonotonicTime.now().nanoseconds
                try engine.commit()
            case .rollback: engine.rollback()
            case .reopen: return .reopened(try engine.reopen())
            case .tidy: try engine.tidy()
            case .answer: answer()
            case .refuse(let index, let error):
                forgetClaim(of: batch[index])
                batch[index].refuse(error)
                // This replaces the outcome of an earlier attempt. Otherwise the write would be answered with that
                // outcome when the rest of the batch is on disk. And a repeated batch would do the write although its
                // caller got an error.
                batch[index].written = .refused(error)
                report(error, refusing: 1)
            case .refuseBatch(let error):
                for write in batch {
                    forgetClaim(of: write)
                    write.refuse(error)
                }
                finish()
                report(error, refusing: batch.count)
            case .refuseUnseen(let error):
                // If an internal write were refused, it would be done twice.
                for write in batch where write.deadline == .max { _ = write.answer() }
                for write in batch where write.deadline < .max {
                    forgetClaim(of: write)
                    write.refuse(error)
                }
                finish()
                report(error, refusing: batch.count { $0.deadline < .max })
            case .refuseWaiting(let error):
                queue.finish()
                report(error, refusing: queue.refuseAll(error))
            case .postpone(let error):
                queue.finish()
                queue.note(obstacle: error)
                report(error, refusing: 0)
            case .report(let error), .doubt(let error):
                failures.note(error, of: .writing, at: MonotonicTime.now().nanoseconds)
            case .pause(let nanoseconds): queue.pause(nanoseconds)
            case .rest: break
            }
            return .done
        } catch { return .failed(error) }
    }

    /// Adds requested updates and waiting writes to the batch, in this order.
    private func take(atMost count: Int) -> Int {
        let before = batch.count
        let (writes, wantsUpdates) = queue.take(atMost: count)
        if wantsUpdates {
            let content = updates.drain()
            if !content.isEmpty {
                let write = QueuedWrite(.updates(content)) { [updates, ledger] written in
                    if !written.isRefused { ledger.forget(content.failedDeliveries) }
                    updates.finish(content, written)
                }
                batch.append(write)
            }
        }
        batch.append(contentsOf: writes)
        return batch.count - before
    }

    private func perform(_ write: QueuedWrite) throws(EngineFailure) -> CommitCycle.Event {
        let changes = engine.changeCount
        // The write's caller got an error during the batch's first attempt, and may have repeated the request
        // at another server.
        if write.written != nil, write.isEnded {
            forgetClaim(of: write)
            write.written = .refused(.late)
            return .refused(hasChanged: false)
        }
        write.written = nil
        let written = try engine.perform(write.write)
        write.written = written
        return written.isRefused ? .refused(hasChanged: engine.changeCount != changes) : .done
    }

    private func answer() {
        let end = MonotonicTime.now().nanoseconds
        health.didCommit(batch.count, seconds: Double(end - commitStart) / 1_000_000_000, at: end)
        failures.noteSuccess(of: .writing, at: end)
        for write in batch {
            guard case .claim(let claim) = write.answer(), let click = claim.undelivered else { continue }
            // The check got `timedOut`, so the answer goes to the next check.
            updates.addFailedDelivery(of: click)
            queue.requestUpdates()
        }
        finish()
    }

    /// Removes from the ledger a claim that is not stored, because another server may make the claim and answer it.
    private func forgetClaim(of write: QueuedWrite) {
        guard case .claim(let written) = write.written, case .claimed(let claim) = written.outcome else {
            return
        }
        ledger.forget([claim.click.id])
    }

    /// Ends the batch; the caller records undelivered outcomes first.
    private func finish() {
        queue.finish()
        for write in batch { write.end() }
    }

    private func report(_ error: StoreError, refusing count: Int) {
        let now = MonotonicTime.now().nanoseconds
        health.didRefuse(count, error, at: now)
        failures.note(error, of: .writing, at: now)
    }
}
