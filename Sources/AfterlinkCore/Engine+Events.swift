#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension Engine {
    private static let sendLock = "events.lock"
    private static let delay = 1.0
    private static let maximumUnsaved = 100

    func track(_ event: Event) async {
        guard !isStopped else { return }
        var event = event
        if event.occurredAt == nil { event.occurredAt = configuration.clock.now }
        if event.id.isEmpty { event.id = RandomID.make() }
        unsavedEvents.append(event)
        if unsavedEvents.count > Self.maximumUnsaved { unsavedEvents.removeFirst() }
        await saveEvents()
        sendLater(after: Self.delay)
    }

    /// Writes the events to disk; if the disk refuses some of them, those stay in memory.
    private func saveEvents() async {
        guard !unsavedEvents.isEmpty else { return }
        do {
            // The identifier of a new installation is stored before its first event.
            try await update { _ in }
            try await update { state in
                // While this call waited for the lock, the person may have opted out, and in again under another
                // identifier.
                if state.isOptedOut { unsavedEvents = [] }
                while let event = unsavedEvents.first {
                    try append(event, state.installID)
                    unsavedEvents.removeFirst()
                }
            }
        } catch { logDisk(error) }
    }

    private func append(_ event: Event, _ installID: String) throws {
        let now = configuration.clock.now
        let event = StoredEvent(event, installID: installID, at: now)
        if event.line == nil { log(.eventRefused) }
        var queue = EventQueue(try folder.content(of: EventQueue.fileName))
        if let line = queue.add(event, at: now) {
            if !line.isEmpty { try folder.append(line, to: EventQueue.fileName) }
        } else {
            try folder.replace(EventQueue.fileName, with: queue.file)
        }
    }

    /// Sends the events that earlier sessions left.
    func sendEarlierEvents() {
        let file = try? folder.content(of: EventQueue.fileName)
        if file?.isEmpty == false, !isStopped { sendLater(after: Self.delay) }
    }

    private func sendLater(after seconds: Double) {
        guard sending == nil else { return }
        sending = Task { [weak self, clock = configuration.clock] in
            try? await clock.sleep(seconds: seconds)
            await self?.sendNow()
        }
    }

    private func sendNow() async {
        sending = nil
        if await !flush(), sendFailures > 0, !isStopped {
            sendLater(after: 10 * Retry.seconds(after: sendFailures, retryAfter: nil))
        }
    }

    /// Sends the stored events, batch by batch, and returns whether no event is left; false after an opt-out too.
    func flush() async -> Bool {
        await saveEvents()
        // One process sends at a time, so that the events arrive in order.
        try? folder.create()
        while isSending, !Task.isCancelled { try? await configuration.clock.sleep(seconds: 0.05) }
        // If another process is sending, it may have read the file before this process wrote its last event. So events
        // may be left.
        guard !isSending, let lock = try? folder.lock(Self.sendLock) else { return failed() }
        isSending = true
        defer { withExtendedLifetime(lock) { isSending = false } }
        do {
            guard try await sendBatches() else { return false }
        } catch {
            logDisk(error)
            return failed()
        }
        // The disk may have refused some of the events.
        return unsavedEvents.isEmpty ? true : failed()
    }

    private func sendBatches() async throws -> Bool {
        var count = EventQueue.batchCount
        while true {
            guard try await !update(\.isOptedOut) else {
                // Nothing is left to send, so no retry is due.
                sendFailures = 0
                return false
            }
            // Read the events after this test. An opt-out between the two deletes the events, so nothing is sent.
            var queue = EventQueue(try folder.content(of: EventQueue.fileName))
            _ = queue.trim(at: configuration.clock.now)
            guard !queue.lines.isEmpty else {
                // While the disk refuses events, the pauses must grow.
                if unsavedEvents.isEmpty { sendFailures = 0 }
                return true
            }
            let batch = queue.lines.prefix(count)
            switch await send(Wire.events, Wire.batch(batch.map(\.data)), reading: Wire.eventResults) {
            case .answer(let results):
                // A response without an outcome for each event does not belong to this batch.
                guard results.count == batch.count else { return failed() }
                for result in results where result.outcome == .rejected {
                    log(.eventRejected(field: result.field))
                }
                try await removeEvents(Set(batch.map(\.event.id)))
                sendFailures = 0
                log(.eventsSent(batch.count))
            case .refused(let status) where status == 400 || status == 413:
                // One event makes the server refuse the batch: halve the batch to find it, and drop only that event.
                if batch.count > 1 {
                    count = max(batch.count / 2, 1)
                } else {
                    log(.refused(status: status))
                    try await removeEvents(Set(batch.map(\.event.id)))
                    count = EventQueue.batchCount
                }
            case .refused(let status):
                log(.refused(status: status))
                return failed()
            case .retry(let reason, let retryAfter):
                let seconds = Retry.seconds(after: sendFailures + 1, retryAfter: retryAfter)
                log(.failed(reason: reason, seconds: seconds))
                if retryAfter != nil { sendLater(after: seconds) }
                return failed()
            }
        }
    }

    private func failed() -> Bool {
        sendFailures += 1
        return false
    }

    private func removeEvents(_ ids: Set<String>) async throws {
        let now = configuration.clock.now
        try await locked {
            var queue = EventQueue(try folder.content(of: EventQueue.fileName))
            queue.remove(ids)
            _ = queue.trim(at: now)
            if queue.lines.isEmpty {
                try folder.remove(EventQueue.fileName)
            } else {
                try folder.replace(EventQueue.fileName, with: queue.file)
            }
        }
    }

    /// Deletes the events that are not stored, and cancels the next request.
    func dropEvents() {
        sending?.cancel()
        (sending, unsavedEvents) = (nil, [])
    }
}
