extension NetworkAddress {
    /// Whether it belongs to the public Internet: what this server may be sent to by somebody else's word.
    ///
    /// Loopback, link-local, private, shared, multicast and reserved addresses do not, nor do those that clouds answer
    /// their metadata at, nor those of IPv6 that stand for one of IPv4. Source: IANA's registries of special-purpose
    /// addresses; RFC 6890.
    public var isPublic: Bool {
        if ipv4 != nil { return !Self.specialRanges.contains(self) }
        // All that is handed out for the public (2000::/3), less what is set aside within.
        return high >> 61 == 1 && !Self.specialRanges.contains(self)
    }

    private static let specialRanges = AddressRanges(
        [
            "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
            "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
            "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
            // Azure answers its machines there, in the midst of public addresses.
            "168.63.129.16/32",
            // Teredo, ORCHID and their like; documentation; 6to4.
            "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
        ].compactMap { AddressRange($0) }
    )
}
