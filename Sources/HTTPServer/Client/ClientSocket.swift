internal import CLinux
internal import Glibc
internal import Synchronization
internal import Threads

/// Finds the addresses of a host's name with the system's files, resolvers and search domains.
public enum HostLookup {
    /// Returns the addresses in the order in which to try them; empty if the name is unknown or the look-up fails.
    ///
    /// Blocks until the system has an answer, which may take half a minute.
    public static func addresses(of host: String, port: UInt16) -> [PeerAddress] {
        // This is a local value without pointers.
        var hints = unsafe addrinfo()
        unsafe hints.ai_family = AF_UNSPEC
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var first: UnsafeMutablePointer<addrinfo>?
        // The texts and the hints are valid during the call, which allocates the list that is freed below.
        guard unsafe getaddrinfo(host, String(port), &hints, &first) == 0 else { return [] }
        defer { unsafe freeaddrinfo(first) }
        var addresses: [PeerAddress] = []
        var next = unsafe first
        // Each entry of the list points to the next one; the last entry points to none.
        while let entry = unsafe next?.pointee {
            if let address = unsafe address(entry.ai_addr, port) { addresses.append(address) }
            unsafe next = entry.ai_next
        }
        return addresses
    }

    private static func address(_ pointer: UnsafeMutablePointer<sockaddr>?, _ port: UInt16) -> PeerAddress? {
        guard let pointer = unsafe pointer else { return nil }
        switch unsafe Int32(pointer.pointee.sa_family) {
        case AF_INET:
            // An address of this family is a sockaddr_in.
            let word = unsafe pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                unsafe $0.pointee.sin_addr.s_addr
            }
            return PeerAddress(ipv4: UInt32(bigEndian: word), port: port)
        case AF_INET6:
            // An address of this family is a sockaddr_in6, which contains the address's 16 bytes.
            let words = unsafe pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                unsafe unsafeBitCast($0.pointee.sin6_addr, to: (UInt64, UInt64).self)
            }
            return PeerAddress(high: UInt64(bigEndian: words.0), low: UInt64(bigEndian: words.1), port: port)
        default: return nil
        }
    }
}

/// Looks up a name on a separate thread, so that the caller can stop waiting at a deadline.
///
/// The system's look-up cannot be cancelled. After the deadline, it continues until the system's resolvers have
/// answered, and counts towards `maximumConcurrentCount` until then.
enum BoundedLookup {
    private static let maximumConcurrentCount = 32
    private static let concurrentCount = Atomic<Int>(0)

    static func addresses(
        of host: String,
        _ port: UInt16,
        until deadline: MonotonicTime,
        by lookup: @escaping HTTPSClient.Lookup
    ) throws(HTTPSFailure) -> [PeerAddress] {
        guard concurrentCount.add(1, ordering: .relaxed).oldValue < maximumConcurrentCount else {
            concurrentCount.subtract(1, ordering: .relaxed)
            throw .resources
        }
        let result = ConditionLock<[PeerAddress]?>(nil)
        do throws(ThreadStartError) {
            try SystemThread.start {
                let addresses = lookup(host, port)
                result.withLock { $0 = addresses }
                concurrentCount.subtract(1, ordering: .relaxed)
                result.signal()
            }
        } catch {
            concurrentCount.subtract(1, ordering: .relaxed)
            throw .resources
        }
        let addresses = result.wait(until: deadline.nanoseconds) { $0 }
        guard let addresses else { throw .timedOut(stage: .name) }
        return addresses
    }
}

/// A connection to a server; each step waits at most until a given time.
struct ClientSocket: ~Copyable {
    private let socket: Socket

    /// Connects to the first address that accepts; each address gets an equal share of the remaining time.
    init(toOneOf addresses: [PeerAddress], until deadline: MonotonicTime) throws(HTTPSFailure) {
        var failure = HTTPSFailure.notReached
        for (index, address) in addresses.enumerated() {
            let left = deadline.nanoseconds(since: .now())
            let share = Int64(clamping: left / UInt64(addresses.count - index))
            let limit = MonotonicTime.now().advanced(byNanoseconds: share)
            do throws(HTTPSFailure) {
                socket = Socket(try Self.connected(to: address, until: limit))
                return
            } catch { failure = error }
        }
        throw failure
    }

    private static func connected(
        to address: PeerAddress,
        until limit: MonotonicTime
    ) throws(HTTPSFailure) -> Descriptor {
        let isIPv4 = address.ipv4 != nil
        let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        guard let descriptor = Descriptor(Glibc.socket(isIPv4 ? AF_INET : AF_INET6, type, 0)) else {
            throw .resources
        }
        let target = linux_address(high: address.high, low: address.low, port: address.port)
        if linux_connect(descriptor.number, isIPv4 ? 1 : 0, target) == 0 { return descriptor }
        guard errno == EINPROGRESS || errno == EINTR else { throw .notReached }
        repeat {
            let left = limit.nanoseconds(since: .now())
            guard left > 0 else { throw .timedOut(stage: .connection) }
            // If a signal interrupts the call, repeat it.
            if linux_wait_writable(descriptor.number, left) > 0 { break }
        } while true
        guard linux_connection_error(descriptor.number) == 0 else { throw .notReached }
        return descriptor
    }

    func send(_ bytes: [UInt8], until limit: MonotonicTime, _ step: HTTPSFailure.Stage) throws(HTTPSFailure) {
        var sent = 0
        while sent < bytes.count {
            switch socket.send(bytes, from: sent) {
            case .bytes(let count): sent += count
            // The connection has failed, but bytes that the server sent before may still be readable.
            case .failed: return
            case .full:
                let left = limit.nanoseconds(since: .now())
                guard left > 0 else { throw .timedOut(stage: step) }
                _ = linux_wait_writable(socket.number, left)
            }
        }
    }

    /// Returns the next bytes; an empty array at the end of the connection or after its failure.
    func receive(until deadline: MonotonicTime, _ stage: HTTPSFailure.Stage) throws(HTTPSFailure) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: TLSClient.receiveLength)
        while true {
            // The deadline is for the whole call, so check it even if bytes have arrived.
            let left = deadline.nanoseconds(since: .now())
            guard left > 0 else { throw .timedOut(stage: stage) }
            switch socket.receive(into: &buffer) {
            case .bytes(let count): return Array(buffer[..<count])
            case .end, .failed: return []
            case .nothing: _ = linux_wait_readable(socket.number, left)
            }
        }
    }
}
