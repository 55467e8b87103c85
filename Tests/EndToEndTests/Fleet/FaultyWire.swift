#if PostgreSQL
import Glibc
import Support
import Synchronization
import Threads

/// A TCP proxy between a server and PostgreSQL that loses and delays bytes and cuts connections, on command.
final class FaultyWire: Sendable {
    enum Fault: Equatable {
        /// Passes all bytes.
        case none
        /// Passes bytes this many milliseconds later, in both directions.
        case delay(milliseconds: Int)
        /// Accepts connections, and passes nothing in these directions before the fault ends.
        case swallow(Directions)
        /// Resets all connections, and every new one.
        case cut
        /// Resets a connection once, at the next COMMIT of a transaction that claims clicks.
        case cutAtCommit(CommitCut)
    }

    struct Directions: OptionSet {
        let rawValue: Int
        static let toDatabase = Directions(rawValue: 1)
        static let toServer = Directions(rawValue: 2)
    }

    enum CommitCut: CaseIterable {
        /// The database does not get the COMMIT.
        case before
        /// The database gets the COMMIT, and perhaps has not committed yet.
        case during
        /// The database has committed, and the server does not get the reply.
        case after
    }

    /// The port that the server connects to.
    let port: UInt16
    private let state: WireState

    /// - Parameter databasePort: the port of PostgreSQL on 127.0.0.1.
    /// - Throws: if the system refuses a socket or a thread.
    init(to databasePort: UInt16) throws {
        let listener = newSocket()
        guard let port = Loopback.listen(listener) else {
            throw ChildProcess.Failure(description: "no free port")
        }
        self.port = port
        let state = WireState()
        self.state = state
        let loop = WireLoop(listener, to: databasePort, state)
        try SystemThread.start {
            while !state.isOver { loop.turn() }
            loop.close()
        }
    }

    deinit { end() }

    func end() { state.end() }

    func set(_ fault: Fault) { state.fault = fault }

    var fault: Fault { state.fault }

    /// How many connections were cut at a COMMIT.
    var commitCutCount: Int { state.commitCutCount }
}

/// The fault of a wire, which wakes the wire's thread when it changes.
private final class WireState: Sendable {
    private let values = Mutex((fault: FaultyWire.Fault.none, commitCutCount: 0, isOver: false))
    let signal = WakeSignal()

    var fault: FaultyWire.Fault {
        get { values.withLock(\.fault) }
        set {
            values.withLock { $0.fault = newValue }
            signal.send()
        }
    }

    var commitCutCount: Int { values.withLock(\.commitCutCount) }
    var isOver: Bool { values.withLock(\.isOver) }

    func end() {
        values.withLock { $0.isOver = true }
        signal.send()
    }

    /// Counts connections that were cut at a COMMIT, and ends the fault that cut them.
    func didCut(_ count: Int) {
        values.withLock {
            $0.commitCutCount += count
            $0.fault = .none
        }
    }
}

private func newSocket() -> Int32 {
    socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
}

/// The sockets of a wire.
///
/// It is `Sendable` because only the wire's thread uses it after its creation.
private final class WireLoop: @unchecked Sendable {
    private let listener: Int32
    private let databasePort: UInt16
    private let state: WireState
    private var pairs: [WirePair] = []
    private var buffer = [UInt8](repeating: 0, count: 65_536)

    init(_ listener: Int32, to databasePort: UInt16, _ state: WireState) {
        (self.listener, self.databasePort, self.state) = (listener, databasePort, state)
    }

    /// Waits for bytes, a connection, the time of delayed bytes or another fault, and passes bytes on as the fault permits.
    func turn() {
        let sources = pairs.flatMap { [$0.toDatabase, $0.toServer] }.filter { !$0.hasEnded }
        let descriptors = [state.signal.descriptor, listener] + sources.map(\.source)
        var entries = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        // poll reads and fills the array's entries.
        _ = unsafe poll(&entries, nfds_t(entries.count), millisecondsToWait)
        if entries[0].revents != 0 { state.signal.clear() }
        // Read it after the wait, because another thread may have changed it meanwhile.
        let fault = state.fault
        if entries[1].revents != 0 { accept(fault) }
        if fault == .cut {
            for pair in pairs { pair.reset() }
            pairs = []
            return
        }
        let now = ContinuousClock.now
        for (source, entry) in zip(sources, entries.dropFirst(2)) where entry.revents != 0 {
            source.receive(now, &buffer)
        }
        let count = send(fault, now)
        if count > 0 { state.didCut(count) }
    }

    /// The time until bytes are due, or until a full socket may have room again; without limit if there are neither.
    private var millisecondsToWait: Int32 {
        let directions = pairs.flatMap { [$0.toDatabase, $0.toServer] }
        if directions.contains(where: \.isBlocked) { return 2 }
        guard case .delay(let milliseconds) = state.fault else { return -1 }
        guard let oldest = directions.compactMap(\.oldest).min() else { return -1 }
        let wait = oldest + .milliseconds(milliseconds) - ContinuousClock.now
        return max(0, Int32((wait / .milliseconds(1)).rounded(.up)))
    }

    /// Passes on the bytes that the fault permits, and returns how many connections were cut at a COMMIT.
    private func send(_ fault: FaultyWire.Fault, _ now: ContinuousClock.Instant) -> Int {
        var cuts = 0
        var commitCut: FaultyWire.CommitCut?
        if case .cutAtCommit(let cut) = fault { commitCut = cut }
        for pair in pairs {
            let isCut = pair.send(fault, now, commitCut)
            if isCut {
                pair.reset()
                cuts += 1
                commitCut = nil
            }
        }
        pairs.removeAll { pair in
            guard pair.isReset || pair.toDatabase.isDone && pair.toServer.isDone else { return false }
            pair.close()
            return true
        }
        return cuts
    }

    private func accept(_ fault: FaultyWire.Fault) {
        let server = Glibc.accept(listener, nil, nil)
        guard server >= 0 else { return }
        let database = newSocket()
        guard fault != .cut, Loopback.connect(database, toPort: databasePort) else {
            Glibc.close(server)
            Glibc.close(database)
            return
        }
        pairs.append(WirePair(server: server, database: database))
    }

    func close() {
        for pair in pairs { pair.close() }
        Glibc.close(listener)
    }
}

/// The two sockets of a connection.
private final class WirePair {
    let toDatabase: WireDirection
    let toServer: WireDirection
    private var commits = CommitFinder()
    /// The received part of a reply to COMMIT that must not be passed on; nil if there is no such reply.
    private var withheld: [UInt8]?
    private(set) var isReset = false

    init(server: Int32, database: Int32) {
        for descriptor in [server, database] {
            _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
            var one: Int32 = 1
            // setsockopt reads the local value.
            unsafe setsockopt(
                descriptor,
                Int32(IPPROTO_TCP),
                TCP_NODELAY,
                &one,
                socklen_t(MemoryLayout<Int32>.size)
            )
        }
        toDatabase = WireDirection(from: server, to: database)
        toServer = WireDirection(from: database, to: server)
    }

    /// Passes on the bytes that the fault permits, and returns whether the connection is to be cut.
    func send(_ fault: FaultyWire.Fault, _ now: ContinuousClock.Instant, _ cut: FaultyWire.CommitCut?) -> Bool
    {
        var due = now
        var held: FaultyWire.Directions = []
        switch fault {
        case .delay(let milliseconds): due = now - .milliseconds(milliseconds)
        case .swallow(let directions): held = directions
        case .none, .cut, .cutAtCommit: break
        }
        if !held.contains(.toDatabase) {
            let chunks = toDatabase.take(until: due)
            for chunk in chunks {
                let hasCommit = commits.scan(chunk)
                guard hasCommit, let cut else {
                    toDatabase.pass(chunk)
                    continue
                }
                if cut == .before { return true }
                toDatabase.pass(chunk)
                toDatabase.flush()
                if cut == .during { return true }
                withheld = []
            }
            toDatabase.flush()
        }
        if !held.contains(.toServer) {
            for chunk in toServer.take(until: due) {
                guard withheld != nil else {
                    toServer.pass(chunk)
                    continue
                }
                withheld?.append(contentsOf: chunk)
                // The command tag in the reply to COMMIT.
                if withheld?.contains(Array("COMMIT\0".utf8)) == true { return true }
            }
            toServer.flush()
        }
        // The connection ended by itself before the reply to its COMMIT.
        if withheld != nil, toServer.hasEnded { return true }
        return false
    }

    /// Closes both sockets with a reset.
    func reset() {
        isReset = true
        for descriptor in [toDatabase.source, toServer.source] {
            var option = linger(l_onoff: 1, l_linger: 0)
            // setsockopt reads the local value.
            unsafe setsockopt(
                descriptor,
                SOL_SOCKET,
                SO_LINGER,
                &option,
                socklen_t(MemoryLayout<linger>.size)
            )
        }
        close()
    }

    private var isClosed = false

    func close() {
        guard !isClosed else { return }
        isClosed = true
        Glibc.close(toDatabase.source)
        Glibc.close(toServer.source)
    }
}

/// The bytes of one direction of a connection.
private final class WireDirection {
    let source: Int32
    private let target: Int32
    /// The bytes that were received, with their time.
    private var waiting: [(at: ContinuousClock.Instant, bytes: [UInt8])] = []
    private var unsent: [UInt8] = []
    /// Whether the source has closed its end.
    private(set) var hasEnded = false
    private var hasPassedEnd = false

    init(from source: Int32, to target: Int32) { (self.source, self.target) = (source, target) }

    var isDone: Bool { hasPassedEnd }
    /// Whether the target's socket was too full for all bytes that were due.
    var isBlocked: Bool { !unsent.isEmpty }
    /// When the first byte came that was not passed on; nil if there is none.
    var oldest: ContinuousClock.Instant? { waiting.first?.at }

    func receive(_ now: ContinuousClock.Instant, _ buffer: inout [UInt8]) {
        while true {
            // The call writes at most the array's size.
            let count = unsafe recv(source, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            guard count > 0 else {
                if count == 0 || errno != EAGAIN && errno != EINTR { hasEnded = true }
                return
            }
            waiting.append((now, Array(buffer.prefix(count))))
        }
    }

    /// Removes and returns the chunks that were received until a time.
    func take(until time: ContinuousClock.Instant) -> [[UInt8]] {
        let count = waiting.prefix { $0.at <= time }.count
        defer { waiting.removeFirst(count) }
        return waiting.prefix(count).map(\.bytes)
    }

    func pass(_ bytes: [UInt8]) { unsent += bytes }

    func flush() {
        while !unsent.isEmpty {
            // The call reads the array.
            let count = unsafe Glibc.send(target, unsent, unsent.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
            guard count > 0 else {
                if errno != EAGAIN && errno != EINTR {
                    unsent = []
                    hasEnded = true
                }
                break
            }
            unsent.removeFirst(count)
        }
        guard hasEnded, waiting.isEmpty, unsent.isEmpty, !hasPassedEnd else { return }
        hasPassedEnd = true
        shutdown(target, Int32(SHUT_WR))
    }
}

/// Finds, in what a client sends, each COMMIT of a transaction that claims clicks.
///
/// Source: PostgreSQL's manual, "Message Formats".
private struct CommitFinder {
    private var buffer: [UInt8] = []
    private var hasStarted = false
    /// What the prepared statements do, by their names.
    private var statements: [[UInt8]: Statement] = [:]
    private var hasClaim = false

    private enum Statement {
        case claim
        case commit
        case other
    }

    /// Reads the next bytes, and returns whether they complete a message that executes such a COMMIT.
    mutating func scan(_ bytes: [UInt8]) -> Bool {
        buffer += bytes
        var position = 0
        var isFound = false
        while true {
            let head = hasStarted ? 1 : 0
            guard buffer.count >= position + head + 4 else { break }
            let length = buffer[(position + head)..<(position + head + 4)].reduce(0) { $0 << 8 | Int($1) }
            let end = position + head + length
            guard length >= 4, buffer.count >= end else { break }
            if hasStarted { isFound = read(buffer[position], (position + 5)..<end) || isFound }
            hasStarted = true
            position = end
        }
        buffer.removeFirst(position)
        return isFound
    }

    private mutating func read(_ kind: UInt8, _ range: Range<Int>) -> Bool {
        guard kind == UInt8(ascii: "P") || kind == UInt8(ascii: "B") else { return false }
        // Parse: the statement's name and text. Bind: the portal's name and the statement's.
        let texts = buffer[range].split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
        guard texts.count >= 2 else { return false }
        let (first, second) = (Array(texts[0]), Array(texts[1]))
        guard kind == UInt8(ascii: "B") else {
            statements[first] = Self.statement(String(decoding: second, as: UTF8.self))
            return false
        }
        switch statements[second] {
        case .claim: hasClaim = true
        case .commit:
            defer { hasClaim = false }
            return hasClaim
        case .other, nil: break
        }
        return false
    }

    private static func statement(_ text: String) -> Statement {
        if text == "COMMIT" { return .commit }
        return text.contains("claimed_at = r.claimed_at") ? .claim : .other
    }
}

extension [UInt8] {
    fileprivate func contains(_ run: [UInt8]) -> Bool {
        guard count >= run.count else { return false }
        return (0...count - run.count).contains { start in
            self[start] == run[0] && self[start..<start + run.count].elementsEqual(run)
        }
    }
}
#endif
