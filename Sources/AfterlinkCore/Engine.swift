#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Does the library's work: asks the server about the first launch, returns links, stores and sends events.
///
/// It is an actor, so that its files and requests never use the main thread. Each change of the stored state reads the
/// file and writes it under a lock, so that two processes of one app share one state.
actor Engine {
    static let stateFile = "state.json"
    private static let lockTries = 50
    /// The seconds between two attempts to get the lock.
    static let lockPause = 0.02

    let configuration: Configuration
    let folder: StateFolder
    /// The task that asks the server about the first launch until there is a result.
    private var asking: Task<Void, Never>?
    private var isNewLaunch = true
    private var hasStarted = false
    /// Whether a call returned ``FirstLaunch/pending``, so that ``Links`` returns the match when it comes.
    private var isLate = false
    private var openedLinks: [Link] = []
    /// Tokens that the disk could not store.
    private var heldTokens: [(token: ClickToken, isPasted: Bool)] = []
    private var waiters: [Wait: [Int: CheckedContinuation<Void, Never>]] = [:]
    /// The number of changes so far that may wake a waiting task.
    ///
    /// A task compares the numbers before its test and before its wait, so that it does not miss a change in between.
    private var changes = 0
    private var waiterCount = 0
    /// The requests under way.
    private var requests: [Int: Task<ClientResponse, any Error>] = [:]
    private var requestCount = 0
    /// Whether the person has opted out in this process: then only requests to erase are sent.
    private(set) var isStopped = false
    /// The person's choices that are not on disk yet; each change of the stored state first applies them.
    private var unstoredChoices: [@Sendable (inout LaunchState) -> Void] = []
    private var isErasing = false
    private var retrying: Task<Void, Never>?
    private var diskFailures = 0

    // The state of Engine+Events.
    var unsavedEvents: [Event] = []
    var sending: Task<Void, Never>?
    var sendFailures = 0
    var isSending = false

    init(_ configuration: Configuration) {
        self.configuration = configuration
        folder = StateFolder(url: configuration.folder, willTakeStep: configuration.willTakeStep)
    }

    func log(_ line: LogLine) { configuration.options.log?("Afterlink: \(line)") }

    // MARK: The first launch

    func firstLaunch(within limit: TimeLimit) async -> FirstLaunch {
        hasStarted = true
        startAsking()
        if asking != nil { await wait(for: .launch, limit) }
        let answer = asking == nil ? (try? await handOver { $0.take() }) ?? .pending : .pending
        if answer == .pending {
            isLate = true
            wake(.link)
        }
        return answer
    }

    private func startAsking() {
        guard asking == nil else { return }
        asking = Task { [weak self] in
            await self?.ask()
            await self?.stopAsking()
        }
    }

    private func stopAsking() {
        asking = nil
        wake(.launch)
        wake(.link)
        sendEarlierEvents()
    }

    private func ask() async {
        var failures = 0
        while !Task.isCancelled, failures < Retry.maximumAttempts {
            do {
                try await saveHeldTokens()
                let now = configuration.clock.now
                let step = try await update { [isNewLaunch] state in
                    (state.nextStep(at: now, isNewLaunch: isNewLaunch), state)
                }
                switch step.0 {
                case .finished:
                    // Ask for the erasure in a separate task, because no call waits for the response.
                    if let due = step.1.erasures, !isErasing {
                        Task { [weak self] in _ = await self?.erase(due) }
                    }
                    return
                case .wait(let seconds): try await configuration.clock.sleep(seconds: seconds)
                case .ask(let installID, let token):
                    isNewLaunch = false
                    log(.asking(attempt: step.1.attempts, launch: step.1.launches, hasToken: token != nil))
                    switch await launchAnswer(installID, token) {
                    case .answer(let answer):
                        log(.answered(answer.kind))
                        try await update { $0.store(answer) }
                    case .refused(let status): return log(.refused(status: status))
                    case .retry(let reason, let retryAfter):
                        failures += 1
                        try await pause(after: failures, reason, retryAfter)
                    }
                }
            } catch let failure as DiskFailure {
                failures += 1
                log(.disk(step: failure.step, code: failure.code))
                try? await configuration.clock.sleep(seconds: Retry.seconds(after: failures, retryAfter: nil))
            } catch { return }
        }
    }

    private func launchAnswer(_ installID: String, _ token: ClickToken?) async -> Wire.Outcome<LaunchAnswer> {
        let signals = await configuration.signals()
        let body = Wire.Launch(
            platform: signals.platform,
            installID: installID,
            signals: signals,
            token: token?.text
        )
        guard let data = try? JSONEncoder().encode(body) else {
            return .retry(reason: "the signals are not JSON", after: nil)
        }
        return await send(Wire.resolve, data, reading: Wire.launchAnswer)
    }

    /// Waits before the next request.
    ///
    /// A pause that the server requested also applies to the next launch.
    private func pause(after failures: Int, _ reason: String, _ retryAfter: String?) async throws {
        let seconds = Retry.seconds(after: failures, retryAfter: retryAfter)
        log(.failed(reason: reason, seconds: seconds))
        if retryAfter != nil {
            let time = configuration.clock.now.addingTimeInterval(seconds)
            try await update { $0.notBefore = time }
        }
        try await configuration.clock.sleep(seconds: seconds)
        if retryAfter != nil { try await update { $0.notBefore = nil } }
    }

    func send<Answer>(
        _ call: String,
        _ body: Data,
        reading read: (ClientResponse) -> Wire.Outcome<Answer>
    ) async -> Wire.Outcome<Answer> {
        guard !Task.isCancelled, !isStopped || call == Wire.erase else {
            return .retry(reason: "it was cancelled", after: nil)
        }
        let (request, transport) = (Wire.request(call, body: body, configuration), configuration.transport)
        let task = Task { try await transport.send(request) }
        requestCount += 1
        let id = requestCount
        requests[id] = task
        defer { requests[id] = nil }
        do {
            return try await withTaskCancellationHandler {
                read(try await task.value)
            } onCancel: {
                task.cancel()
            }
        } catch { return .retry(reason: "no connection, or no complete response", after: nil) }
    }

    /// Cancels all requests, waits for their end, and deletes the events and tokens in memory.
    ///
    /// ``update(isLastStep:_:)`` deletes the stored events and tokens when it stores the choice.
    private func stop() async {
        isStopped = true
        asking?.cancel()
        for request in requests.values { request.cancel() }
        for request in requests.values { _ = await request.result }
        // Wait for the task, which may be about to send a request.
        await asking?.value
        heldTokens = []
        dropEvents()
    }

    // MARK: Links

    func opened(_ url: URL) async {
        let token = ClickToken(in: url)
        openedLinks.append(Link(url: ClickToken.removing(from: url), origin: .opened))
        wake(.link)
        if let token { await add(token, isPasted: false) }
    }

    func pasted(_ text: String) async -> Bool {
        guard let token = ClickToken(pasted: text, hosts: configuration.options.linkHosts) else {
            log(.noToken)
            return false
        }
        await add(token, isPasted: true)
        return true
    }

    private func add(_ token: ClickToken, isPasted: Bool) async {
        heldTokens.append((token, isPasted))
        // If the app has not called `firstLaunch` in this process, the next call sends the token.
        let wasSettled = asking == nil && hasStarted
        guard let isUseful = try? await saveHeldTokens(), isUseful, wasSettled else { return }
        isLate = true
        startAsking()
    }

    @discardableResult private func saveHeldTokens() async throws -> Bool {
        guard !heldTokens.isEmpty else { return false }
        let now = configuration.clock.now
        var savedCount = 0
        let isUseful = try await update { state in
            // While this call waited for the lock, another call may have stored tokens.
            savedCount = heldTokens.count
            return heldTokens.reduce(false) { state.add($1.token, isPasted: $1.isPasted, at: now) || $0 }
        }
        heldTokens.removeFirst(savedCount)
        return isUseful
    }

    func nextLink() async -> Link? {
        while !Task.isCancelled {
            let seen = changes
            if !openedLinks.isEmpty { return openedLinks.removeFirst() }
            // A call that waits for the first launch has precedence.
            if isLate, asking == nil, waiters[.launch]?.isEmpty ?? true {
                do {
                    if let link = try await handOver({ $0.takeLink() }) {
                        log(.late(.link))
                        return link
                    }
                } catch { retryLater(error) }
            }
            if changes == seen { await wait(for: .link, nil) }
        }
        return nil
    }

    func shouldOfferPaste(_ isLinkProbable: Bool) async -> Bool {
        guard isLinkProbable else { return false }
        return (try? await update { $0.offerPaste() }) ?? false
    }

    // MARK: Waiting tasks

    private enum Wait: Sendable {
        case launch
        case link
    }

    /// Suspends until a change, the limit or the cancellation of the task.
    private func wait(for kind: Wait, _ limit: TimeLimit?) async {
        waiterCount += 1
        let id = waiterCount
        let timer = limit.map { limit in
            Task { [weak self, clock = configuration.clock] in
                try? await clock.sleep(seconds: limit.seconds)
                await self?.resume(kind, id)
            }
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiters[kind, default: [:]][id] = $0 }
        } onCancel: {
            // Runs after the continuation is stored, because this actor is busy until then.
            Task { await self.resume(kind, id) }
        }
        timer?.cancel()
    }

    private func resume(_ kind: Wait, _ id: Int) { waiters[kind]?.removeValue(forKey: id)?.resume() }

    private func wake(_ kind: Wait) {
        changes += 1
        for waiter in (waiters.removeValue(forKey: kind) ?? [:]).values { waiter.resume() }
    }

    // MARK: The stored state

    var match: Link? {
        get async {
            guard case .match(let link) = try? await update({ $0.answer }) else { return nil }
            return link
        }
    }

    var installID: String? { get async { (try? await update { $0.isOptedOut ? nil : $0.installID }) ?? nil } }

    func setOptedOut(_ isOptedOut: Bool) async {
        unstoredChoices.append { $0.setOptedOut(isOptedOut) }
        isStopped = isOptedOut
        if isOptedOut { await stop() }
        do { try await update { _ in } } catch { retryLater(error) }
    }

    func forget() async -> Bool {
        unstoredChoices.append { _ = $0.forget() }
        // A request that arrived after the erasure would be stored for good.
        await stop()
        do {
            return await erase(try await update { $0.erasures ?? [] })
        } catch {
            retryLater(error)
            return false
        }
    }

    /// Asks the server to erase identifiers, and returns whether it has confirmed all of them.
    private func erase(_ installIDs: [String]) async -> Bool {
        isErasing = true
        defer { isErasing = false }
        for id in installIDs {
            guard let body = try? JSONEncoder().encode(["install_id": id]) else { return false }
            switch await send(Wire.erase, body, reading: Wire.confirmation) {
            case .answer: try? await update { $0.confirmErasure(of: id) }
            case .refused(let status):
                log(.refused(status: status))
                return false
            case .retry(let reason, _):
                log(.failed(reason: reason, seconds: 0))
                return false
            }
        }
        return true
    }

    /// Stores the person's choices after a pause, and then wakes the tasks that wait for a link.
    private func retryLater(_ error: any Error) {
        logDisk(error)
        guard retrying == nil else { return }
        diskFailures += 1
        let seconds = Retry.seconds(after: diskFailures, retryAfter: nil)
        retrying = Task { [weak self, clock = configuration.clock] in
            try? await clock.sleep(seconds: seconds)
            await self?.retry()
        }
    }

    private func retry() async {
        retrying = nil
        do { try await update { _ in } } catch { retryLater(error) }
        wake(.link)
    }

    func logDisk(_ error: any Error) {
        if let failure = error as? DiskFailure { log(.disk(step: failure.step, code: failure.code)) }
    }

    /// Changes the stored state, and creates it for a new installation.
    ///
    /// The change is on disk when this returns; with `isLastStep`, the caller must still sync the folder. If the change
    /// throws, the file is not written.
    @discardableResult
    func update<Result: Sendable>(
        isLastStep: Bool = false,
        _ change: (inout LaunchState) throws -> Result
    ) async throws -> Result {
        try await locked {
            let stored = try folder.content(of: Self.stateFile)
            var state = stored.flatMap { try? JSONDecoder().decode(LaunchState.self, from: $0) } ?? newState()
            for choose in unstoredChoices {
                choose(&state)
                // This happens under the lock, so that no process adds an event between the deletion and the choice.
                if state.isOptedOut { try folder.remove(EventQueue.fileName) }
            }
            let result = try change(&state)
            let data = try JSONEncoder.sorted.encode(state)
            if data != stored {
                try folder.replace(Self.stateFile, with: data, isLastStep: isLastStep)
                diskFailures = 0
            }
            unstoredChoices = []
            return result
        }
    }

    /// Records that the app has the result, in the last step before returning it.
    ///
    /// If the process is killed before this step ends, the next launch returns the result. The folder is synced only
    /// after the return, because a kill during the sync would lose the result.
    private func handOver<Result: Sendable>(_ take: (inout LaunchState) -> Result) async throws -> Result {
        defer { Task { [folder] in try? folder.sync() } }
        return try await update(isLastStep: true, take)
    }

    /// Calls a closure while no other process of the app changes a file.
    func locked<Result>(_ body: () throws -> Result) async throws -> Result {
        try folder.create()
        for _ in 0..<Self.lockTries {
            if let lock = try folder.lock(StateFolder.stateLock) {
                return try withExtendedLifetime(lock, body)
            }
            try await configuration.clock.sleep(seconds: Self.lockPause)
        }
        throw DiskFailure.busy
    }

    private func newState() -> LaunchState {
        var state = LaunchState()
        if configuration.options.isUpdate { state.phase = .settled }
        return state
    }
}

extension LaunchAnswer {
    fileprivate var kind: String {
        switch self {
        case .match: "with a link"
        case .campaign: "with a campaign"
        case .none: "that no click led here"
        }
    }
}

extension JSONEncoder {
    /// Writes the same bytes for the same value.
    fileprivate static var sorted: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}
