internal import Attribution
internal import Dispatch
internal import Server
internal import Threads

/// Reloads changed keys, and destroys those that are not needed.
///
/// Used only on its thread.
struct KeyMaintenance {
    /// The parts of the service that maintenance needs.
    struct Dependencies: Sendable {
        let store: OpenStore
        let log: Log
        /// The clock of clicks: that of the tests if these set it.
        let clock: WallClock
        /// Whether tests set the clock: then a time far ahead is no error.
        let usesTestClock: Bool
        /// See ``ServiceSettings/replayGrace``.
        let replayGrace: Int64
    }

    private var keys: LoadedKeys
    private var keyring: Keyring
    private let dependencies: Dependencies
    /// The stamps of both files when they were read.
    private var fileStamps: [[Int]]
    /// The last failure that was logged.
    private var lastLoggedFailure: String?
    private var neededAt: (moment: Timestamp, day: Int64)?

    /// How often to ask which keys are still needed.
    private static let needsMilliseconds: Int64 = 60_000

    init(_ keys: LoadedKeys, _ keyring: Keyring, _ dependencies: Dependencies) {
        self.keys = keys
        self.keyring = keyring
        self.dependencies = dependencies
        // Empty, so that the first run reads the files: they may have changed since the start.
        fileStamps = []
    }

    /// Does what is due, and logs a failure once.
    mutating func runOnce() {
        do {
            try reloadChangedKeys()
            try destroyUnneededKeys()
        } catch {
            let failure = CommandFailure(describing: error)
            // Once, and not twice a second.
            guard lastLoggedFailure != failure.explanation else { return }
            lastLoggedFailure = failure.explanation
            dependencies.log.event(
                .error,
                "the keys stay as they are: \(failure.explanation) \(failure.advice)"
            )
        }
    }

    /// Reloads the keys if the files have changed, or if it is time to use a new key.
    private mutating func reloadChangedKeys() throws {
        let now = WallClock.system.now()
        let present = [keys.serverFile.stamp, keys.addressFile.stamp]
        if present != fileStamps {
            let list = try keys.serverFile.open(databaseIsNew: false)
            guard list.entries.contains(where: { $0.check == keys.server.current.checkValue }) else {
                throw CommandFailure(
                    "\(keys.serverFile.path) does not hold the server key any more under which clicks are stored.",
                    advice: "Put it back, as a further line below a new one."
                )
            }
            var addresses = try keys.addressFile.open(at: dependencies.clock.now())
            addresses.coversEarlierDays =
                keys.addresses.coversEarlierDays && addresses.firstDay == keys.addresses.firstDay
            keys.addresses = addresses
            keys.list = list
            fileStamps = present
        }
        guard let server = keys.list.keys(at: now), hasChanged(server) else { return }
        guard try isConfirmed(server, at: now) else { return }
        let isRotated = server.current.checkValue != keys.server.current.checkValue
        keys.server = server
        publish()
        guard isRotated else { return }
        dependencies.log.event(
            .info,
            "the server key was rotated: clicks are stored under the new one, and found under the former one too"
        )
    }

    private func hasChanged(_ server: ServerKeys) -> Bool {
        server.all.map(\.checkValue) != keyring.server.all.map(\.checkValue)
            || keys.addresses.seeds != keyring.addresses.seeds
    }

    /// Registers a new key in the database before anything is stored under it; false if that must wait for the disk, which
    /// the store reports.
    private func isConfirmed(_ server: ServerKeys, at now: Timestamp) throws -> Bool {
        let standing: ServerKeyRecognition
        do throws(StoreError) {
            standing = try dependencies.store.confirm(server.all.map(\.checkValue), now)
        } catch {
            return false
        }
        guard standing != .foreign else {
            throw CommandFailure(
                "The server keys in \(keys.serverFile.path) are not those of the database.",
                advice: "Put its own back from the backup."
            )
        }
        return true
    }

    /// Destroys keys that are not needed, and advances the address keys with the clock.
    private mutating func destroyUnneededKeys() throws {
        let now = dependencies.clock.now()
        // By a clock that has leapt ahead, all keys would be unneeded.
        guard dependencies.store.isClockSettled() else { return prepareAddressKeys(at: now) }
        let day = AddressKeys.day(of: now)
        // The clock of tests may stand still while retention continues.
        if let neededAt, neededAt.day == day, !dependencies.usesTestClock {
            let age = now.milliseconds(since: neededAt.moment)
            guard age >= Self.needsMilliseconds || age < 0 else { return }
        }
        let needs: RequiredKeys
        do throws(StoreError) {
            needs = try dependencies.store.keyNeeds()
        } catch {
            // The next run retries; the store reports its failures itself.
            return
        }
        neededAt = (now, day)
        try destroyAddressKeys(needs, at: now)
        try destroyServerKeys(needs, at: now)
        lastLoggedFailure = nil
    }

    private mutating func prepareAddressKeys(at now: Timestamp) {
        guard !keys.addresses.isReady(for: now) else { return }
        keys.addresses = keys.addresses.prepared(until: now)
        fileStamps = []
        publish()
    }

    private mutating func destroyAddressKeys(_ needs: RequiredKeys, at now: Timestamp) throws {
        // Responses may be replayed within the grace, and posts of the last seconds repeated.
        let used = AddressKeys.day(of: now.advanced(byMilliseconds: -dependencies.replayGrace - 60_000))
        let first = min(needs.firstAddressDay ?? used, used)
        let today = AddressKeys.day(of: now)
        let wasAhead = keys.addresses.firstDay > today + 1 && !dependencies.usesTestClock
        if wasAhead, let link = AddressKeyFile.newLink(from: today) {
            // The clock was set forward and back: keys that start in the future would stay the same until then.
            keys.addresses = try keys.addressFile.change(at: now, erasesFormer: true) { present in
                present.firstDay > today + 1 ? AddressKeys([link], readyUntil: now) ?? present : present
            }
        } else if first > keys.addresses.firstDay {
            keys.addresses = try keys.addressFile.change(at: now, erasesFormer: true) { present in
                present.advanced(to: first, readyUntil: now)
            }
            let date = AddressKeyFile.date(of: keys.addresses.firstDay)
            dependencies.log.event(
                .info,
                "the keys were destroyed under which addresses from before \(date) were hashed"
            )
        } else {
            return prepareAddressKeys(at: now)
        }
        fileStamps = []
        publish()
    }

    private mutating func destroyServerKeys(_ needs: RequiredKeys, at now: Timestamp) throws {
        for check in unneededKeys(keys.list, needs, at: now) {
            do throws(StoreError) {
                try dependencies.store.forget(check.index)
            } catch {
                return
            }
            try keys.serverFile.change(erasesFormer: true) { list in
                let rest = list.entries.filter { $0.check != check }
                return rest.isEmpty || rest.count == list.entries.count ? nil : ServerKeyList(rest)
            }
            fileStamps = []
            dependencies.log.event(
                .info,
                "a former server key was destroyed: nothing is stored under it any more"
            )
        }
    }

    /// Returns the previous keys that a rotation replaced and that nothing is stored under.
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

/// Maintains the keys on a thread of its own: reloads changed files, switches to a new server key, advances to the next
/// day's address key, and destroys keys that nothing is stored under.
///
/// Several processes of a database may do this at once: files change under a lock and in one step, address keys follow
/// from each other, and the database says which are still needed.
final class KeyMaintenanceThread: Sendable {
    private let stopping = DispatchSemaphore(value: 0)
    private let hasEnded = DispatchSemaphore(value: 0)

    /// Every process polls ten times before any of them uses a new key.
    private static let lookMilliseconds = 500

    /// - Parameters:
    ///   - keys: as the service was started with.
    ///   - keyring: of the service.
    ///   - work: what it needs besides.
    /// - Throws: when the system refuses the thread.
    init(_ keys: LoadedKeys, _ keyring: Keyring, _ work: KeyMaintenance.Dependencies) throws {
        try SystemThread.start { [stopping, hasEnded] in
            SystemThread.nameCurrent("keys")
            var work = KeyMaintenance(keys, keyring, work)
            while stopping.wait(timeout: .now() + .milliseconds(Self.lookMilliseconds)) == .timedOut {
                work.runOnce()
            }
            hasEnded.signal()
        }
    }

    /// Stops the thread, before the store; does not wait long for a disk that does not respond.
    func stop() {
        stopping.signal()
        _ = hasEnded.wait(timeout: .now() + .milliseconds(Self.lookMilliseconds))
    }
}

/// The keys of a serving process, from their files and recognised by the database.
struct LoadedKeys {
    let serverFile: ServerKeyFile
    let addressFile: AddressKeyFile
    var list: ServerKeyList
    var server: ServerKeys
    var addresses: AddressKeys
    /// The number of previous server keys that the database knows and the file lacks.
    let missing: Int

    /// Opens the files, creates those of a new database, and verifies that the keys are the database's own.
    ///
    /// With foreign keys every check would end in "no match", so that is detected at the start.
    init(_ configuration: Configuration, _ store: OpenStore, databaseIsNew: Bool) throws {
        serverFile = ServerKeyFile(path: configuration.serverKeyPath)
        addressFile = AddressKeyFile(path: configuration.addressKeyPath)
        // Delete drafts of changes that were killed; in a read-only folder there are none.
        for path in [serverFile.path, addressFile.path] { try? SecretFile(path: path).withLock {} }
        let now = WallClock.system.now()
        list = try serverFile.open(databaseIsNew: databaseIsNew)
        guard let server = list.keys(at: now) else { throw Self.foreign(configuration) }
        self.server = server
        let standing = try store.confirm(server.all.map(\.checkValue), now)
        guard case .own(let missing) = standing else { throw Self.foreign(configuration) }
        self.missing = missing
        addresses = try addressFile.open(at: now)
        addresses.coversEarlierDays = configuration.usesTestClock
    }

    var keyring: Keyring { Keyring(server: server, addresses: addresses) }

    /// Warnings to log at the start.
    var warnings: [String] {
        guard missing > 0 else { return [] }
        let keys = missing == 1 ? "a former server key is" : "\(missing) former server keys are"
        return [
            "\(keys) missing in \(serverFile.path): clicks that were stored before the rotation are not found; put it back"
                + " from the backup, as a further line of the file"
        ]
    }

    private static func foreign(_ configuration: Configuration) -> CommandFailure {
        CommandFailure(
            "The server key \(configuration.serverKeyPath) is not the one that \(configuration.databasePath) was made"
                + " with: no click in it could be found.",
            advice: "Put the database's own key back from the backup, or name it with --server-key-file."
        )
    }
}
