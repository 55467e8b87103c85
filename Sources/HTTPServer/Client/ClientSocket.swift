internal import CLinux
internal import Glibc
internal import Threads

/// A connection to a server, on which each step waits until a given time at most.
struct ClientSocket: ~Copyable {
    private let socket: Socket

    /// Connects to the first address that accepts; each gets its share of the remaining time.
    init(toOneOf addresses: [PeerAddress], until deadline: MonotonicTime) throws(HTTPSFailure) {
        var failure = HTTPSFailure.notReached
        for (index, address) in addresses.enumerated() {
            let left = deadline.nanoseconds(since: .now())
            let share = Int64(clamping: left / UInt64(addresses.count - index))
            let limit = MonotonicTime.now().advanced(byNanoseconds: share)
            do throws(HTTPSFailure) {
                socket = Socket(try Self.connected(to: address, until: limit))
                return
            } catch {
                failure = error
            }
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
            // A signal interrupted the call: try again.
            if linux_wait_writable(descriptor.number, left) > 0 { break }
        } while true
        guard linux_connection_error(descriptor.number) == 0 else { throw .notReached }
        return descriptor
    }

    func send(
        _ bytes: [UInt8],
        until deadline: MonotonicTime,
        _ stage: HTTPSFailure.Stage
    ) throws(HTTPSFailure) {
        var sent = 0
        while sent < bytes.count {
            switch socket.send(bytes, from: sent) {
            case .bytes(let count): sent += count
            // Bytes that the server sent before it closed can still be read.
            case .failed: return
            case .full:
                let left = deadline.nanoseconds(since: .now())
                guard left > 0 else { throw .timedOut(stage: stage) }
                _ = linux_wait_writable(socket.number, left)
            }
        }
    }

    /// Returns the next bytes; none at the end.
    func receive(
        until deadline: MonotonicTime,
        _ stage: HTTPSFailure.Stage
    ) throws(HTTPSFailure) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: TLSClient.receiveLength)
        while true {
            // Checked even while bytes keep arriving: the limit is for the whole response.
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
