internal import Attribution
internal import Dispatch
internal import Server
internal import Storage
internal import Threads

/// Reloads server keys and address keys when they change, reports them to other servers, and destroys keys that are no
/// longer needed.
///
/// It is used only on the thread of ``KeyMaintenanceThread``.
struct KeyMaintenance {
    private var keys: LoadedKeys
    private var keyring: Keyring
    private let store: OpenStore
    private let log: Log
    private let settings: ServiceSettings
    /// The clock of clicks, which tests may set.
    private let clock: WallClock
    /// What the source returned when the keys were read.
    ///
    /// It is empty before the first run, because the keys may have changed since the start. It is also empty after
    /// this type has changed keys. If it is empty, the next run reads the keys.
    private var stamp: [[Int]] = []
    /// The last failure that was logged.
    private var lastLoggedFailure: String?
    private var neededAt: (moment: Timestamp, day: Int64)?

    /// The interval, in milliseconds, between two reads of the keys that the database still needs.
    private static let needsMilliseconds: Int64 = 60_000

    /// - Parameters:
    ///   - keys: the keys that were loaded at the start.
    ///   - keyring: the keyring of the service.
    ///   - settings: the settings of the service.
    ///   - clock: the clock of clicks.
    ///   - store: the service's store.
    ///   - log: the service's log.
    init(
        _ keys: LoadedKeys,
        _ keyring: Keyring,
        _ settings: ServiceSettings,
        clock: WallClock,
        store: OpenStore,
        log: Log
    ) {
        (self.keys, self.keyring, self.settings, self.clock) = (keys, keyring, settings, clock)
        (self.store, self.log) = (store, log)
    }

    private var source: any KeySource { keys.source }

    /// Does the work that is due; logs a failure unless the last logged one had the same text.
    mutating func runOnce() {
        do {
            try reloadChangedKeys()
            try destroyUnneededKeys()
        } catch is StoreError {
            // The next run retries; the store reports its failures itself.
        } catch {
            let failure = CommandFailure(describing: error)
            // Log a lasting failure once: this runs twice a second.
            guard lastLoggedFailure != failure.explanation else { return }
            lastLoggedFailure = failure.explanation
            log.event(.error, "the keys stay as they are: \(failure.explanation) \(failure.advice)")
        }
    }

    /// Reads the stored keys if they have changed, publishes keys that differ from the published ones, and
    /// reports them.
    private mutating func reloadChangedKeys() throws {
        let now = WallClock.system.now()
        let observed = try source.observe()
        if observed.stamp != stamp {
            var list = try source.serverKeys()
            list.holders?.current = keys.server.current.checkValue
            guard list.entries.contains(where: { $0.check == keys.server.current.checkValue }) else {
                throw CommandFailure.because(
                    "\(source.serverPlace) lacks the server key that clicks are stored under."
                ).advising("Put the key back, as a further line below a new key.")
            }
            if let refusal = source.refusal(of: list, after: keys.list) {
                // This is logged once, and the service continues with the keys of its start.
                stamp = observed.stamp
                throw refusal
            }
            var addresses = try source.addressKeys(at: clock.now())
            addresses.coversEarlierDays =
                keys.addresses.coversEarlierDays && addresses.firstDay == keys.addresses.firstDay
            keys.addresses = addresses
            keys.list = list
            stamp = observed.stamp
        }
        try publishChangedKeys(at: now)
        // Publish keys before reporting them: after the report, other servers may store clicks under them.
        let held = HeldKeys(keyring.server, keyring.addresses, at: now)
        if source.isShared, held != observed.reported { try source.report(held) }
    }

    private mutating func publishChangedKeys(at now: Timestamp) throws {
        guard let server = keys.list.keys(at: now), hasChanged(server) else { return }
        guard try isConfirmed(server, at: now) else { return }
        let isRotated = server.current.checkValue != keys.server.current.checkValue
        keys.server = server
        publish()
        guard isRotated else { return }
        log.event(
            .info,
            "the server key was rotated: clicks are stored under the new key, and found under both"
        )
    }

    private func hasChanged(_ server: ServerKeys) -> Bool {
        server.all.map(\.checkValue) != keyring.server.all.map(\.checkValue)
            || keys.addresses.seeds != keyring.addresses.seeds
    }

    /// Registers a new key in the database before anything is stored under it.
    ///
    /// - Returns: false if the disk does not respond, which the store reports; the next run retries.
    private func isConfirmed(_ server: ServerKeys, at now: Timestamp) throws -> Bool {
        guard let standing = try? store.keys.confirm(server.all.map(\.checkValue), at: now) else {
            return false
        }
        guard standing != .foreign else {
            throw CommandFailure.because(
                "The server keys in \(source.serverPlace) are not those of the database."
            ).advising("Restore the database's keys from the backup.")
        }
        return true
    }

    /// Destroys keys that are not needed, and advances the address keys with the clock.
    private mutating func destroyUnneededKeys() throws {
        let now = clock.now()
        // A clock that jumped ahead would make all keys seem unneeded.
        guard store.isClockSettled() else { return prepareAddressKeys(at: now) }
        let day = AddressKeys.day(of: now)
        // With a test clock, every run reads the needs: the clock may stand still while retention deletes records.
        if let neededAt, neededAt.day == day, !settings.usesTestClock {
            let age = now.milliseconds(since: neededAt.moment)
            guard age >= Self.needsMilliseconds || age < 0 else { return }
        }
        // The next run retries; the store reports its failures itself.
        guard let needs = try? store.keys.needs() else { return }
        neededAt = (now, day)
        try destroyAddressKeys(needs, at: now)
        try destroyServerKeys(needs, at: now)
        lastLoggedFailure = nil
    }

    private mutating func prepareAddressKeys(at now: Timestamp) {
        guard !keys.addresses.isReady(for: now) else { return }
        keys.addresses = keys.addresses.prepared(until: now)
        stamp = []
        publish()
    }

    private mutating func destroyAddressKeys(_ needs: RequiredKeys, at now: Timestamp) throws {
        // A caller may fetch a response again within the replay grace, and repeat a post within ten seconds.
        // The minute covers the posts.
        let used = AddressKeys.day(of: now.advanced(byMilliseconds: -settings.replayGrace - 60_000))
        let first = min(needs.firstAddressDay ?? used, used)
        let today = AddressKeys.day(of: now)
        let wasAhead = keys.addresses.firstDay > today + 1 && !settings.usesTestClock
        if wasAhead, let seed = AddressKeyFile.newSeed(from: today) {
            // The clock was set forward and back, so these keys start in the future and would not change until then.
            keys.addresses = try changeAddressKeys(at: now) { current in
                current.firstDay > today + 1 ? AddressKeys([seed], readyUntil: now) ?? current : current
            }
        } else if first > keys.addresses.firstDay {
            keys.addresses = try changeAddressKeys(at: now) { current in
                current.advanced(to: first, readyUntil: now)
            }
            let date = AddressKeyFile.date(of: keys.addresses.firstDay)
            log.event(.info, "the address keys of the days before \(date) were destroyed")
        } else {
            return prepareAddressKeys(at: now)
        }
        stamp = []
        publish()
    }

    /// Changes the stored address keys; keeps the keys of this process usable if that fails.
    private mutating func changeAddressKeys(at now: Timestamp, _ body: (AddressKeys) -> AddressKeys) throws
        -> AddressKeys
    {
        do {
            return try source.changeAddressKeys(at: now, erasesFormer: true, body)
        } catch {
            prepareAddressKeys(at: now)
            throw error
        }
    }

    private mutating func destroyServerKeys(_ needs: RequiredKeys, at now: Timestamp) throws {
        guard source.destroysServerKeys else { return }
        for check in unneededKeys(keys.list, needs, at: now) {
            do throws(StoreError) { try store.keys.forget(check.index) } catch { return }
            try source.changeServerKeys(erasesFormer: true) { list in
                let rest = list.entries.filter { $0.check != check }
                return rest.isEmpty || rest.count == list.entries.count ? nil : ServerKeyList(rest)
            }
            stamp = []
            log.event(.info, "a former server key was destroyed: nothing is stored under it any more")
        }
    }

    /// Returns the check values of the previous keys that no stored row needs.
    private func unneededKeys(_ list: ServerKeyList, _ needs: RequiredKeys, at now: Timestamp) -> [KeyedHash]
    {
        let entries = list.entries
        let former = list.currentIndex(at: WallClock.system.now()) + 1
        return entries.indices.dropFirst(former).compactMap { index in
            guard let check = entries[index].check,
                let replacedAt = needs.replaced[check.index] ?? entries[index - 1].madeAt,
                !needs.needsKey(replacedAt: replacedAt, at: now)
            else { return nil }
            return check
        }
    }

    private mutating func publish() {
        let ring = keys.keyring
        keyring.replace(by: ring)
        keyring = ring
    }
}

/// Runs ``KeyMaintenance`` twice a second on a thread of its own.
///
/// Several processes with the same database may do this at the same time. Stored keys change in one step, each address
/// key is derived from the previous one, and the database records which keys are needed.
final class KeyMaintenanceThread: Sendable {
    private let stopping = DispatchSemaphore(value: 0)
    private let hasEnded = DispatchSemaphore(value: 0)

    /// The interval, a tenth of the 5 s from a key's creation to its first use (``ServerKeyFile``).
    private static let intervalMilliseconds = 500

    /// - Parameters:
    ///   - keys: the keys that were loaded at the start.
    ///   - keyring: the keyring of the service.
    ///   - service: the service.
    ///   - store: its store.
    ///   - log: its log.
    /// - Throws: if the system refuses the thread.
    init(_ keys: LoadedKeys, _ keyring: Keyring, of service: Service, store: OpenStore, log: Log) throws {
        try SystemThread.start { [stopping, hasEnded] in
            SystemThread.nameCurrent("keys")
            let settings = service.settings
            let clock = settings.usesTestClock ? service.backgroundClock : .system
            var work = KeyMaintenance(keys, keyring, settings, clock: clock, store: store, log: log)
            while stopping.wait(timeout: .now() + .milliseconds(Self.intervalMilliseconds)) == .timedOut {
                work.runOnce()
            }
            hasEnded.signal()
        }
    }

    /// Stops the thread before the store stops; waits one interval at most, because the disk may not respond.
    func stop() {
        stopping.signal()
        _ = hasEnded.wait(timeout: .now() + .milliseconds(Self.intervalMilliseconds))
    }
}
