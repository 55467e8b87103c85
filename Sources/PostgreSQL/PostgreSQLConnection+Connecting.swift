#if PostgreSQL
internal import Threads

/// Connects to a server that accepts writes.
///
/// The connection tries one host after the other, and each address of a host. If all of them fail, it pauses
/// and starts again. libpq could try several addresses itself. But its non-blocking functions have no time
/// limit for each address, and do not report which kind of error each address had.
extension PostgreSQLConnection {
    /// How long the connection waits before it asks for a host's addresses again.
    private static let lookUpInterval = Duration.milliseconds(10)

    func connectAgain() {
        (refusal, answeredFailure) = (nil, nil)
        remainingHosts = settings.address.hosts
        remainingAddresses = []
        tryNext()
    }

    /// Gives up the current attempt or connection.
    func lose(_ error: PostgreSQLError) {
        guard phase != .closed else { return }
        lastFailure = error
        let wasReady = phase == .ready
        if !wasReady, error.isRefusal { refusal = refusal ?? error }
        if [.connecting(.reading), .verifying].contains(phase) { answeredFailure = answeredFailure ?? error }
        drop(error)
        if wasReady { pause() } else { tryNext() }
    }

    private func tryNext() {
        guard let host = remainingHosts.first else { return pause() }
        if host.isSocket {
            remainingHosts.removeFirst()
            connect(to: host, nil)
        } else if let address = remainingAddresses.popLast() {
            if remainingAddresses.isEmpty { remainingHosts.removeFirst() }
            connect(to: host, address)
        } else {
            attemptEnd = now().advanced(by: settings.connectTimeout)
            resolve(host)
        }
    }

    private func resolve(_ host: PostgreSQLAddress.Host) {
        switch host.numericAddresses.map(PostgreSQLSettings.HostLookup.addresses)
            ?? settings.lookUp(host.name)
        {
        case .addresses(let addresses) where !addresses.isEmpty:
            remainingAddresses = addresses.reversed()
            tryNext()
        case .underWay where now() < attemptEnd: enter(.resolving, for: Self.lookUpInterval)
        case .addresses, .underWay:
            lastFailure = PostgreSQLError(.notConnected, "The host name \(host.name) has no address.")
            remainingHosts.removeFirst()
            tryNext()
        }
    }

    private func connect(to host: PostgreSQLAddress.Host, _ address: String?) {
        let words: [(name: String, value: String)]
        do throws(PostgreSQLError) {
            words = try settings.words(host, numericAddress: address)
        } catch {
            return lose(error)
        }
        guard let library = LibPQ(words) else {
            return lose(PostgreSQLError(.notConnected, "There is no memory for a connection."))
        }
        self.library = library
        enter(.connecting(.writing), for: settings.connectTimeout)
        guard !library.hasFailed else { return lose(library.failure) }
        watch(library, for: .writing)
    }

    /// Watches the socket, whose number may have changed.
    private func watch(_ library: LibPQ, for readiness: LoopPort.Readiness) {
        phase = .connecting(readiness)
        let descriptor = library.descriptor
        watchedDescriptor = descriptor
        port.watch(descriptor) { [weak self] readiness in self?.socketIsReady(readiness) }
        if readiness == .writing { port.setWatchesWriting(descriptor, true) }
    }

    private func socketIsReady(_ readiness: LoopPort.Readiness) {
        switch phase {
        case .connecting(let wanted): if readiness == wanted { poll() }
        case .verifying, .ready: exchange()
        case .resolving, .waiting, .closed: break
        }
    }

    private func poll() {
        guard let library else { return }
        // libpq may close the socket and open another one.
        unwatch()
        switch library.poll() {
        case .reading: watch(library, for: .reading)
        case .writing: watch(library, for: .writing)
        case .failed: lose(library.failure)
        case .open:
            watch(library, for: .reading)
            guard library.enterPipelineMode() else { return lose(library.failure) }
            // The time limit of the attempt also covers the verification, so `phaseEnd` stays.
            phase = .verifying
            verify(mayChangeSettings: true)
        }
    }

    private func enter(_ newPhase: Phase, for duration: Duration) {
        phase = newPhase
        let end = now().advanced(by: duration)
        phaseEnd = end
        wake(at: end)
    }

    /// Ends a phase whose time limit has passed.
    func endPhase() {
        phaseEnd = nil
        switch phase {
        case .resolving: if let host = remainingHosts.first { resolve(host) }
        case .waiting: connectAgain()
        case .connecting, .verifying:
            lose(PostgreSQLError(.notConnected, "The server did not answer for \(settings.connectTimeout)."))
        case .ready, .closed: break
        }
    }

    /// Waits before the next attempt, for a random time between half and all of a delay.
    ///
    /// The delay doubles with each failure, up to a limit.
    private func pause() {
        let delay = settings.firstRetryDelay * Double(1 << min(failureCount, 16))
        failureCount += 1
        enter(.waiting, for: min(delay, settings.longestRetryDelay) * (0.5 + 0.5 * randomShare()))
        guard let refusal else {
            lastFailure = answeredFailure ?? lastFailure
            state = .lost(lastFailure)
            return
        }
        lastFailure = refusal
        state = .lost(refusal)
        let refused = readyWaiters.filter(\.endsAtRefusal)
        readyWaiters.removeAll(where: \.endsAtRefusal)
        for waiter in refused { waiter.resume(refusal) }
    }
}

// MARK: - The session

extension PostgreSQLConnection {
    /// Selects whether the server is read-only, its timeline (0 for a standby), the values of the named settings, and the
    /// number of its process.
    private static let inspection: PreparedStatement = """
        SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on', \
        CASE WHEN pg_is_in_recovery() THEN 0 \
        ELSE ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int8 END, \
        ARRAY(SELECT setting FROM unnest($1) WITH ORDINALITY AS wanted (name, place) \
        LEFT JOIN pg_settings USING (name) ORDER BY place), pg_backend_pid()::int8
        """
    private static let change: PreparedStatement =
        "SELECT set_config(name, value, false) FROM unnest($1, $2) AS wanted (name, value)"

    /// Checks that the server is the primary, and that the session has the wanted settings.
    ///
    /// It reads the settings back, because PgBouncer does not pass all of them to the server. If one differs and
    /// `mayChangeSettings` is true, it sets all of them, and checks once more.
    private func verify(mayChangeSettings: Bool) {
        var batch = StatementBatch()
        let (names, values) = (settings.session.map(\.name), settings.session.map(\.value))
        if !mayChangeSettings { batch.append(Self.change, names, values) }
        batch.append(Self.inspection, names)
        // The batch needs no deadline, because the phase has a time limit.
        send(batch, by: MonotonicTime(nanoseconds: .max)) { [weak self] outcome in
            guard let self, phase == .verifying else { return }
            do throws(PostgreSQLError) {
                guard let row = try outcome.rows().last else { return }
                guard try !row.value(0, 0, as: Bool.self) else {
                    throw PostgreSQLError(.readOnly, "The server is a standby, or accepts no writes.")
                }
                let timeline: Int64 = try row.value(0, 1)
                guard settings.timelines.accept(timeline) else { throw Self.superseded }
                let found: [String?] = try row.value(0, 2)
                isPooled = try library.map { Int64($0.serverProcess) } != row.value(0, 3, as: Int64.self)
                if found == values { return becomeReady(timeline) }
                guard mayChangeSettings else { throw refusal(found) }
                verify(mayChangeSettings: false)
            } catch { lose(error) }
        }
        turnDidEnd()
    }

    private func refusal(_ found: [String?]) -> PostgreSQLError {
        let differing = zip(settings.session, found).filter { $0.value != $1 }.map(\.0.name)
        return PostgreSQLError(
            .settings,
            "The server does not accept the setting \(differing.joined(separator: ", ")) for this connection."
        )
    }

    private func becomeReady(_ timeline: Int64) {
        self.timeline = timeline
        (phase, phaseEnd, failureCount) = (.ready, nil, 0)
        (refusal, answeredFailure) = (nil, nil)
        state = .ready
        resumeReadyWaiters(nil)
    }
}

#endif
