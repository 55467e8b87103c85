internal import CLinux
internal import Glibc

/// An address and port to listen on, such as `127.0.0.1:8080`, `[::1]:8080` or `0.0.0.0:0`.
public struct ListenAddress: Sendable, Hashable, CustomStringConvertible {
    /// The address, IPv4 in its mapped form; with port 0, the system picks a free port.
    public let address: PeerAddress

    public init(_ address: PeerAddress) { self.address = address }

    /// Parses `a.b.c.d:port` or `[v6]:port`; `nil` for any other text, such as a host's name.
    public init?(_ text: String) {
        guard let colon = text.utf8.lastIndex(of: ByteClass.colon),
            let port = Self.port(text.utf8[text.utf8.index(after: colon)...])
        else { return nil }
        let host = text[..<colon]
        if host.hasPrefix("[") {
            guard host.hasSuffix("]"), let words = Self.ipv6(String(host.dropFirst().dropLast())) else {
                return nil
            }
            self.init(PeerAddress(high: words.high, low: words.low, port: port))
        } else {
            guard let word = Self.ipv4(String(host)) else { return nil }
            self.init(PeerAddress(ipv4: word, port: port))
        }
    }

    public var description: String {
        if let word = address.ipv4 {
            let bytes = (0..<4).map { String(word >> (24 - 8 * UInt32($0)) & 0xFF) }
            return bytes.joined(separator: ".") + ":\(address.port)"
        }
        return "[\(Self.ipv6Text(high: address.high, low: address.low))]:\(address.port)"
    }

    private static func port(_ digits: Substring.UTF8View) -> UInt16? {
        guard !digits.isEmpty, digits.allSatisfy(ByteClass.isDigit) else { return nil }
        return UInt16(String(Substring(digits)))
    }

    private static func ipv4(_ text: String) -> UInt32? {
        var address = in_addr()
        // inet_pton reads a string that lives for the call and fills the local value.
        guard unsafe inet_pton(AF_INET, text, &address) == 1 else { return nil }
        return UInt32(bigEndian: address.s_addr)
    }

    private static func ipv6(_ text: String) -> (high: UInt64, low: UInt64)? {
        var words: (UInt64, UInt64) = (0, 0)
        // The two words are the 16 bytes of an in6_addr, which inet_pton fills.
        guard unsafe inet_pton(AF_INET6, text, &words) == 1 else { return nil }
        return (UInt64(bigEndian: words.0), UInt64(bigEndian: words.1))
    }

    private static func ipv6Text(high: UInt64, low: UInt64) -> String {
        var words = (high.bigEndian, low.bigEndian)
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        // inet_ntop reads the 16 bytes of the words and writes at most the array's length.
        guard unsafe inet_ntop(AF_INET6, &words, &text, socklen_t(text.count)) != nil else { return "::" }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// The address and port of one end of a connection.
///
/// The address has the 16 bytes of an IPv6 address. An IPv4 address has its mapped form, `::ffff:a.b.c.d` (RFC 4291
/// §2.5.5.2), so that there is only one kind of address.
public struct PeerAddress: Sendable, Hashable {
    /// The address's first eight bytes, most significant first.
    public let high: UInt64

    /// The address's last eight bytes, most significant first.
    public let low: UInt64

    public let port: UInt16

    public init(high: UInt64, low: UInt64, port: UInt16) {
        self.high = high
        self.low = low
        self.port = port
    }

    /// Creates an IPv4 address in its mapped form: `0x7F00_0001` is 127.0.0.1.
    public init(ipv4 address: UInt32, port: UInt16) {
        self.init(high: 0, low: 0xFFFF_0000_0000 | UInt64(address), port: port)
    }

    /// The four bytes of an IPv4 address in its mapped form; `nil` for any other address.
    public var ipv4: UInt32? { high == 0 && low >> 32 == 0xFFFF ? UInt32(truncatingIfNeeded: low) : nil }
}

extension PeerAddress {
    /// Whether the address belongs to this machine: the system binds sockets only to such addresses.
    ///
    /// It is also true if the system cannot create a socket.
    public var isOfThisMachine: Bool {
        let isIPv4 = ipv4 != nil
        let type = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard let descriptor = Descriptor(socket(isIPv4 ? AF_INET : AF_INET6, type, 0)) else { return true }
        let address = linux_address(high: high, low: low, port: 0)
        return linux_bind(descriptor.number, isIPv4 ? 1 : 0, address) == 0
    }
}

/// A listening socket; each loop has one, all on the same port (`SO_REUSEPORT`).
struct Listener: ~Copyable, Sendable {
    enum Accepted: ~Copyable {
        case connection(Descriptor, PeerAddress)
        case nothing
        /// Usually the peer dropped the connection before the loop accepted it; other connections may wait.
        case vanished
        /// Descriptors or memory ran out.
        case exhausted
    }

    private let descriptor: Descriptor

    var number: Int32 { descriptor.number }

    /// The port that the socket listens on.
    var port: UInt16 { linux_local_address(descriptor.number).port }

    /// Listens on an address, on which other listeners of this process may listen too.
    init(_ address: PeerAddress, backlog: Int32) throws(StartError) {
        let descriptor = try Self.bound(address, isShared: true)
        guard listen(descriptor.number, backlog) == 0 else { throw .listening(address) }
        // Connections inherit the option from their listener.
        _ = linux_set_option(descriptor.number, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        self.descriptor = descriptor
    }

    /// Throws if the system refuses the address, for example because another socket listens on it, shared or not.
    ///
    /// Without this check, a second server on the same port would silently get half of the connections. For port 0 the
    /// function does nothing.
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

    /// The number of bytes of responses that the kernel buffers for a connection; the kernel reserves twice as many.
    private static let sendBufferByteCount: Int32 = 128 * 1024

    private static func bound(_ address: PeerAddress, isShared: Bool) throws(StartError) -> Descriptor {
        let isIPv4 = address.ipv4 != nil
        let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        guard let descriptor = Descriptor(socket(isIPv4 ? AF_INET : AF_INET6, type, 0)) else {
            throw .listening(address)
        }
        _ = linux_set_option(descriptor.number, SOL_SOCKET, SO_REUSEADDR, 1)
        if isShared { _ = linux_set_option(descriptor.number, SOL_SOCKET, SO_REUSEPORT, 1) }
        // Connections inherit the size. Without it, the kernel would buffer megabytes for a peer that does not read.
        _ = linux_set_option(descriptor.number, SOL_SOCKET, SO_SNDBUF, sendBufferByteCount)
        let target = linux_address(high: address.high, low: address.low, port: address.port)
        guard linux_bind(descriptor.number, isIPv4 ? 1 : 0, target) == 0 else { throw .listening(address) }
        return descriptor
    }
}
