internal import CLinux
internal import Glibc

/// An address and port to listen on: `127.0.0.1:8080`, `[::1]:8080`, `0.0.0.0:0`.
public struct ListenAddress: Sendable, Hashable, CustomStringConvertible {
    /// The address, IPv4 in its mapped form; port 0 asks the system for a free one.
    public let address: PeerAddress

    public init(_ address: PeerAddress) {
        self.address = address
    }

    /// Parses `a.b.c.d:port` or `[v6]:port`; `nil` for anything else, names included.
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

/// Where a connection comes from: the 16 bytes of an IPv6 address, and a port.
///
/// An IPv4 address is stored in its mapped form, `::ffff:a.b.c.d` (RFC 4291 §2.5.5.2), so that there is only one kind
/// of address.
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

    /// The four bytes of an IPv4 address, if this is one in its mapped form.
    public var ipv4: UInt32? {
        high == 0 && low >> 32 == 0xFFFF ? UInt32(truncatingIfNeeded: low) : nil
    }
}
