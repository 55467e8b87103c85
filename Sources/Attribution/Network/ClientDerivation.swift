/// The steps by which ``TrustedProxies/client(peer:forwardedFor:forwarded:)`` finds the client's address, for display.
public struct ClientDerivation: Equatable, Sendable {
    /// One entry of a header, which names the client or a proxy; entries are read from the right.
    public enum Hop: Equatable, Sendable {
        /// A trusted proxy, whose statement about the hop on its left is believed.
        case trusted(NetworkAddress)
        /// The client: the first believed hop that is no trusted proxy.
        case client(NetworkAddress)
        /// A text such as `unknown` that is no address; reading ends at the hop on its right.
        case notAnAddress
        /// A hop that is not read, because any client may have written it.
        case unread(NetworkAddress?)
    }

    /// Whether the other end of the connection is a trusted proxy; otherwise no header is read.
    public let peerIsTrusted: Bool
    /// The hops of `X-Forwarded-For`, the nearest first.
    public let forwardedFor: [Hop]
    /// The hops of `Forwarded`, the nearest first.
    public let forwarded: [Hop]
    /// Whether a trusted peer sent both headers and they lead to different clients; ``client`` is then the peer.
    public let headersDisagree: Bool
    public let client: NetworkAddress
}

extension TrustedProxies {
    /// Returns what ``client(peer:forwardedFor:forwarded:)`` returns, and why.
    public func derivation(
        peer: NetworkAddress,
        forwardedFor: [String],
        forwarded: [String]
    ) -> ClientDerivation {
        let peerIsTrusted = trusts(peer)
        let byForwardedFor = client(peer: peer, forwardedFor: forwardedFor)
        let byForwarded = client(peer: peer, forwarded: forwarded)
        return ClientDerivation(
            peerIsTrusted: peerIsTrusted,
            forwardedFor: hops(XForwardedFor.hops(in: forwardedFor), isRead: peerIsTrusted),
            forwarded: hops(ForwardedField.hops(in: forwarded), isRead: peerIsTrusted),
            headersDisagree: peerIsTrusted && !forwardedFor.isEmpty && !forwarded.isEmpty
                && byForwardedFor != byForwarded,
            client: client(peer: peer, forwardedFor: forwardedFor, forwarded: forwarded)
        )
    }

    private func hops(_ hops: [NetworkAddress?], isRead: Bool) -> [ClientDerivation.Hop] {
        var isRead = isRead
        return hops.map { hop in
            guard isRead else { return .unread(hop) }
            guard let hop else {
                isRead = false
                return .notAnAddress
            }
            isRead = trusts(hop)
            return isRead ? .trusted(hop) : .client(hop)
        }
    }
}

/// The networks whose statements about the client's address are believed.
///
/// Any client can send `X-Forwarded-For`; only the part from a configured proxy is reliable (ASVS 5, 4.1.3).
public struct TrustedProxies: Sendable {
    public let ranges: [AddressRange]

    public init(_ ranges: [AddressRange]) { self.ranges = ranges }

    /// Returns the client's address: the rightmost hop that is not a trusted proxy, or the leftmost one if
    /// all are trusted.
    ///
    /// The peer itself is the rightmost hop, and every proxy appends the address of its peer. The hops are read from
    /// right to left: each one was written by the hop on its right, and counts only if that hop is trusted. A hop that
    /// is no address (`unknown`, a pseudonym, garbage) ends the reading; the last valid hop counts.
    ///
    /// If both headers are present, they must agree: a proxy writes one of them and may pass on a client's
    /// version of the other, and the server cannot know which one. If they differ, only the peer is certain.
    ///
    /// `peer` is the other end of the connection; `forwardedFor` and `forwarded` are the values of
    /// `X-Forwarded-For` and of `Forwarded` (RFC 7239) in the order of their field lines.
    public func client(
        peer: NetworkAddress,
        forwardedFor: [String] = [],
        forwarded: [String] = []
    ) -> NetworkAddress {
        guard trusts(peer) else { return peer }
        let byForwardedFor = walk(from: peer, through: XForwardedFor.hops(in: forwardedFor))
        let byForwarded = walk(from: peer, through: ForwardedField.hops(in: forwarded))
        if forwarded.isEmpty { return byForwardedFor }
        if forwardedFor.isEmpty { return byForwarded }
        return byForwarded == byForwardedFor ? byForwarded : peer
    }

    /// Returns the protocol that the nearest proxy states in `Forwarded` (RFC 7239 §5.4), such as `https`; nil if it
    /// states none.
    public static func nearestProtocol(forwarded: [String]) -> String? {
        ForwardedField.nearestProtocol(in: forwarded)
    }

    /// Returns whether the statements of this peer are believed.
    public func trusts(_ address: NetworkAddress) -> Bool { ranges.contains { $0.contains(address) } }

    /// Returns the client; `hops` are ordered nearest first, with nil for a hop that is no address.
    private func walk(from peer: NetworkAddress, through hops: [NetworkAddress?]) -> NetworkAddress {
        var current = peer
        for hop in hops {
            guard trusts(current), let hop else { break }
            current = hop
        }
        return current
    }
}

/// The header `Forwarded: for=192.0.2.60;proto=https, for="[2001:db8::1]:4711"` (RFC 7239).
enum ForwardedField {
    /// Returns the `for` of every element, nearest hop first; nil for an element that breaks the grammar, has
    /// no `for`, or has a `for` that is no address.
    ///
    /// Elements are separated from the right, so that a client's unclosed quotation mark cannot hide the
    /// elements that proxies appended.
    static func hops(in values: [String]) -> [NetworkAddress?] {
        values.reversed().flatMap { elements(of: Array($0.utf8)) }.map { element in
            guard let node = parameters(of: element)?["for"] else { return nil }
            return ForwardedNode.address(of: node[...])
        }
    }

    /// Returns the `proto` of the last element, in lower case; nil if there is none.
    static func nearestProtocol(in values: [String]) -> String? {
        guard let element = values.last.flatMap({ elements(of: Array($0.utf8)).first }) else { return nil }
        return parameters(of: element)?["proto"].map {
            String(decoding: $0.map(\.asciiLowercased), as: UTF8.self)
        }
    }

    /// Returns the elements of one field line, the last one first.
    private static func elements(of line: [UInt8]) -> [ArraySlice<UInt8>] {
        var elements: [ArraySlice<UInt8>] = []
        var end = line.endIndex
        var isQuoted = false
        for index in line.indices.reversed() {
            if line[index] == UInt8(ascii: "\""), !isEscaped(index, in: line, isQuoted: isQuoted) {
                isQuoted.toggle()
            } else if line[index] == UInt8(ascii: ","), !isQuoted {
                elements.append(line[(index + 1)..<end].trimmed)
                end = index
            }
        }
        elements.append(line[..<end].trimmed)
        // Ignore empty elements, which RFC 9110 §5.6.1 allows in a list.
        return elements.filter { !$0.isEmpty }
    }

    /// Returns whether the quotation mark is part of the text inside a quoted string.
    private static func isEscaped(_ index: Int, in line: [UInt8], isQuoted: Bool) -> Bool {
        let backslashes = line[..<index].reversed().prefix { $0 == UInt8(ascii: "\\") }.count
        return isQuoted && backslashes % 2 == 1
    }

    /// Returns the parameters of an element by their names in lower case; nil for an element that breaks the grammar.
    ///
    /// The values have no quotation marks and no escapes.
    private static func parameters(of element: ArraySlice<UInt8>) -> [String: [UInt8]]? {
        var rest = element
        var parameters: [String: [UInt8]] = [:]
        while true {
            rest = rest.trimmed
            let name = rest.prefix(while: isTokenByte)
            rest = rest.dropFirst(name.count)
            guard !name.isEmpty, rest.popFirst() == UInt8(ascii: "=") else { return nil }
            guard let value = value(at: &rest) else { return nil }
            let spelling = String(decoding: name.map(\.asciiLowercased), as: UTF8.self)
            // RFC 7239 §4 allows each parameter at most once.
            guard parameters.updateValue(value, forKey: spelling) == nil else { return nil }
            rest = rest.trimmed
            guard let separator = rest.popFirst() else { return parameters }
            guard separator == UInt8(ascii: ";") else { return nil }
        }
    }

    /// Reads a token or a quoted string (RFC 9110 §5.6).
    private static func value(at rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        guard rest.first == UInt8(ascii: "\"") else {
            // Many proxies omit the quotation marks that the colons of IPv6 and ports need.
            let token = rest.prefix { isTokenByte($0) || ":[]".utf8.contains($0) }
            rest = rest.dropFirst(token.count)
            return token.isEmpty ? nil : Array(token)
        }
        rest = rest.dropFirst()
        var value: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return value
            case UInt8(ascii: "\\"):
                guard let escaped = rest.popFirst() else { return nil }
                value.append(escaped)
            default: value.append(byte)
            }
        }
        return nil
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
}

/// A node in a header: an address, with or without a port (RFC 7239 §6).
enum ForwardedNode {
    /// Returns the address; nil for `unknown`, pseudonyms (`_hidden`) and any other text.
    static func address(of node: ArraySlice<UInt8>) -> NetworkAddress? {
        guard let first = node.first else { return nil }
        if first == UInt8(ascii: "[") {
            guard let end = node.firstIndex(of: UInt8(ascii: "]")), isPort(node[(end + 1)...])
            else { return nil }
            return ipv6(node[(node.startIndex + 1)..<end])
        }
        let colons = node.indices.filter { node[$0] == UInt8(ascii: ":") }
        switch colons.count {
        case 0: return NetworkAddress(String(decoding: node, as: UTF8.self))
        case 1:
            guard isPort(node[colons[0]...]) else { return nil }
            return NetworkAddress(String(decoding: node[..<colons[0]], as: UTF8.self))
        default: return ipv6(node)
        }
    }

    private static func ipv6(_ text: ArraySlice<UInt8>) -> NetworkAddress? {
        guard text.contains(UInt8(ascii: ":")) else { return nil }
        return NetworkAddress(String(decoding: text, as: UTF8.self))
    }

    /// Returns whether a text is empty, or `:` with a number or a pseudonym.
    private static func isPort(_ text: ArraySlice<UInt8>) -> Bool {
        guard let colon = text.first else { return true }
        let port = text.dropFirst()
        guard colon == UInt8(ascii: ":"), let first = port.first else { return false }
        if first == UInt8(ascii: "_") { return port.count > 1 && port.dropFirst().allSatisfy(isObscured) }
        return port.count <= 5 && port.allSatisfy(\.isASCIIDigit)
    }

    private static func isObscured(_ byte: UInt8) -> Bool {
        byte.isASCIIWordByte || byte == UInt8(ascii: ".")
    }
}

/// The header `X-Forwarded-For: client, proxy, proxy`, which no standard defines.
enum XForwardedFor {
    /// Returns the hops, the nearest first; nil for a hop that is no address.
    static func hops(in values: [String]) -> [NetworkAddress?] {
        values.flatMap { $0.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) }
            .reversed()
            .map { ForwardedNode.address(of: Array($0)[...].trimmed) }
    }
}
