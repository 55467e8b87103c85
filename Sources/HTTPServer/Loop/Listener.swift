internal import CLinux
internal import Glibc
public import Threads

/// A listening socket; every loop has its own on the same port (`SO_REUSEPORT`).
struct Listener: ~Copyable, Sendable {
    enum Accepted: ~Copyable {
        case connection(Descriptor, PeerAddress)
        case nothing
        /// The connection was gone before it was accepted; there may be others.
        case vanished
        /// Descriptors or memory ran out.
        case exhausted
    }

    private let descriptor: Descriptor

    var number: Int32 {
        descriptor.number
    }

    /// The port that it listens on.
    var port: UInt16 {
        linux_local_address(descriptor.number).port
    }

    /// Binds an address, which other listeners of this process may bind too.
    init(_ address: PeerAddress, backlog: Int32) throws(StartError) {
        let descriptor = try Self.bound(address, isShared: true)
        guard listen(descriptor.number, backlog) == 0 else { throw .listening(address) }
        // Connections inherit it from their listener.
        _ = linux_set_option(descriptor.number, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        self.descriptor = descriptor
    }

    /// Throws if another socket listens on an address, shared or not: a second server on the same port would silently
    /// take half of the first one's connections.
    static func checkIsFree(_ address: PeerAddress) throws(StartError) {
        guard address.port != 0 else { return }
        _ = try bound(address, isShared: false)
    }

    func accept() -> Accepted {
        let accepted = linux_accept(descriptor.number)
        if let connection = Descriptor(accepted.descriptor) {
            let peer = accepted.peer
            return .connection(connection, PeerAddress(high: peer.high, low: peer.low, port: peer.port))
        }
        switch accepted.error {
        case EAGAIN, EWOULDBLOCK: return .nothing
        case EMFILE, ENFILE, ENOBUFS, ENOMEM: return .exhausted
        default: return .vanished
        }
    }

    /// How many bytes of responses the kernel buffers; it doubles the number for its bookkeeping.
    private static let sendBufferByteCount: Int32 = 128 * 1024

    private static func bound(_ address: PeerAddress, isShared: Bool) throws(StartError) -> Descriptor {
        let isIPv4 = address.ipv4 != nil
        let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        guard let descriptor = Descriptor(socket(isIPv4 ? AF_INET : AF_INET6, type, 0)) else {
            throw .listening(address)
        }
        _ = linux_set_option(descriptor.number, SOL_SOCKET, SO_REUSEADDR, 1)
        if isShared { _ = linux_set_option(descriptor.number, SOL_SOCKET, SO_REUSEPORT, 1) }
        // Connections inherit it: without it the kernel would buffer megabytes of responses that their peers do not
        // read.
        _ = linux_set_option(descriptor.number, SOL_SOCKET, SO_SNDBUF, sendBufferByteCount)
        let target = linux_address(high: address.high, low: address.low, port: address.port)
        guard linux_bind(descriptor.number, isIPv4 ? 1 : 0, target) == 0 else { throw .listening(address) }
        return descriptor
    }
}

extension StartError {
    static func listening(_ address: PeerAddress) -> StartError {
        let code = errno
        return StartError(
            cause: .listening,
            systemError: code,
            message: "Cannot listen on \(ListenAddress(address)): \(systemErrorText(code))",
            underlying: nil
        )
    }

    /// The system refused a thread.
    public init(_ error: ThreadStartError) {
        self = .resources("a thread", error.systemError)
    }

    static func resources(_ what: String, _ code: Int32 = errno) -> StartError {
        StartError(
            cause: .resources,
            systemError: code,
            message: "The system refused \(what): \(systemErrorText(code))",
            underlying: nil
        )
    }

    private static func systemErrorText(_ code: Int32) -> String {
        // strerror returns a text of the C library, which is copied before the next call.
        guard let text = unsafe strerror(code) else { return "error \(code)" }
        return unsafe String(cString: text)
    }
}
