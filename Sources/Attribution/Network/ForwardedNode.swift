/// A node as proxies write it: an address, with or without a port (RFC 7239 §6).
enum ForwardedNode {
    /// Nil for `unknown`, pseudonyms (`_hidden`) and whatever else is no address.
    static func address(of node: ArraySlice<UInt8>) -> NetworkAddress? {
        guard let first = node.first else { return nil }
        if first == UInt8(ascii: "[") {
            guard let end = node.firstIndex(of: UInt8(ascii: "]")), isPort(node[(end + 1)...]) else {
                return nil
            }
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

    /// Nothing, or `:` with a number or a pseudonym.
    private static func isPort(_ text: ArraySlice<UInt8>) -> Bool {
        guard let colon = text.first else { return true }
        let port = text.dropFirst()
        guard colon == UInt8(ascii: ":"), let first = port.first else { return false }
        if first == UInt8(ascii: "_") { return port.count > 1 && port.dropFirst().allSatisfy(isObscured) }
        return port.count <= 5 && port.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    private static func isObscured(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
            || byte == UInt8(ascii: "-")
    }
}
