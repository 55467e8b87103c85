#if PostgreSQL
internal import CLinux
internal import Glibc
internal import PostgreSQL
internal import Threads

/// Looks up the addresses of host names on threads of its own, because getaddrinfo(3) blocks.
final class HostNames: Sendable {
    private struct Known {
        var addresses: [String]?
        var isUnderWay = false
    }

    private let known = ConditionLock<[String: Known]>([:])

    /// Returns the addresses that a finished look-up has found, or else starts a look-up if none is under
    /// way; does not wait.
    ///
    /// Each finished look-up is used once, so that a connection that is made again finds a changed address.
    func lookUp(_ name: String) -> PostgreSQLSettings.HostLookup {
        let answer = known.withLock { known -> (addresses: [String]?, mustStart: Bool) in
            var entry = known[name] ?? Known()
            defer { known[name] = entry }
            if let addresses = entry.addresses {
                entry.addresses = nil
                return (addresses, false)
            }
            let mustStart = !entry.isUnderWay
            entry.isUnderWay = true
            return (nil, mustStart)
        }
        if let addresses = answer.addresses { return .addresses(addresses) }
        guard answer.mustStart else { return .underWay }
        do throws(ThreadStartError) {
            try SystemThread.start { [self] in finish(name, Self.addresses(of: name)) }
        } catch { finish(name, []) }
        return .underWay
    }

    private func finish(_ name: String, _ addresses: [String]) {
        known.withLock { $0[name] = Known(addresses: addresses) }
    }

    /// Returns the numeric addresses of a name, in the system's order; blocks.
    private static func addresses(of name: String) -> [String] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var first: UnsafeMutablePointer<addrinfo>?
        // The call reads the local texts and hints, and fills `first`.
        guard unsafe getaddrinfo(name, nil, &hints, &first) == 0 else { return [] }
        // The list belongs to this function.
        defer { unsafe freeaddrinfo(first) }
        var addresses: [String] = []
        var next = unsafe first
        while let entry = unsafe next {
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            // The entry and its address are valid until the list is freed, and the text has room for every address.
            let failure = unsafe getnameinfo(
                entry.pointee.ai_addr,
                entry.pointee.ai_addrlen,
                &text,
                socklen_t(text.count),
                nil,
                0,
                NI_NUMERICHOST
            )
            if failure == 0 {
                addresses.append(
                    String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
                )
            }
            unsafe next = entry.pointee.ai_next
        }
        return addresses
    }
}

#endif
