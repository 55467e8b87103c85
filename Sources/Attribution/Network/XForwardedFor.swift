/// `X-Forwarded-For: client, proxy, proxy`, as proxies agree on it without a standard.
enum XForwardedFor {
    /// Nearest hop first.
    static func hops(in values: [String]) -> [NetworkAddress?] {
        values.flatMap { $0.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) }
            .reversed()
            .map { ForwardedNode.address(of: Array($0)[...].trimmed) }
    }
}
