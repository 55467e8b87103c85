package import Attribution

/// Where requests come from, as the proxy before the server says: a hundred thousand networks of a hundred addresses,
/// whose texts are all of one length.
package enum SampleAddress {
    private static let count = 10_000_000
    /// Neighbouring numbers lie in different networks.
    private static let step = 40_503

    /// The address of a number; different ones up to ten million.
    package static func number(_ number: Int) -> NetworkAddress {
        NetworkAddress(String(decoding: bytes(number), as: UTF8.self)) ?? NetworkAddress(ipv4: 0)
    }

    /// Its text, as in `150.100.104.105`.
    package static func bytes(_ number: Int) -> [UInt8] {
        var bytes = Array("150.100.100.100".utf8)
        var rest = number % count * step % count
        for place in [14, 13, 10, 9, 6, 5, 2] {
            bytes[place] += UInt8(rest % 10)
            rest /= 10
        }
        return bytes
    }

    /// The same as a function of Lua.
    static let lua = """
        local function address(number)
            local s = string.format("%07d", number % \(count) * \(step) % \(count))
            return "15" .. s:sub(1, 1) .. ".1" .. s:sub(2, 3) .. ".1" .. s:sub(4, 5) .. ".1" .. s:sub(6, 7)
        end

        """
}
