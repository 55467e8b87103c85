/// An Internet address as the 16 bytes of an IPv6 address; an IPv4 address is stored v4-mapped.
///
/// A dual-stack socket and a header therefore give the same address for one client (RFC 4291 §2.5.5.2).
public struct NetworkAddress: Hashable, Sendable {
    public let high: UInt64
    public let low: UInt64

    private static let mappedPrefix: UInt64 = 0xffff << 32

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Creates an IPv4 address from its 32 bits, the first byte highest.
    public init(ipv4 bits: UInt32) { self.init(high: 0, low: Self.mappedPrefix | UInt64(bits)) }

    /// The 32 bits of an IPv4 address; nil for a true IPv6 address.
    public var ipv4: UInt32? { high == 0 && low >> 32 == 0xffff ? UInt32(truncatingIfNeeded: low) : nil }

    /// 127.0.0.0/8 and `::1`.
    public var isLoopback: Bool {
        guard let ipv4 else { return high == 0 && low == 1 }
        return ipv4 >> 24 == 127
    }

    /// Private (RFC 1918), unique local (RFC 4193) and link-local (RFC 3927, RFC 4291) addresses.
    public var isPrivate: Bool {
        guard let ipv4 else { return high >> 57 == 0x7e || high >> 54 == 0x3fa }
        return ipv4 >> 24 == 10 || ipv4 >> 20 == 0xac1 || ipv4 >> 16 == 0xc0a8 || ipv4 >> 16 == 0xa9fe
    }

    /// 100.64.0.0/10 (RFC 6598), which carriers share between many customers.
    public var isShared: Bool { ipv4.map { $0 >> 22 == 0x191 } ?? false }

    /// 0.0.0.0/8 and `::`, which no device has; senders write them instead of an unknown address.
    public var isUnspecified: Bool {
        guard let ipv4 else { return high == 0 && low == 0 }
        return ipv4 >> 24 == 0
    }

    /// Returns the address with all but the first bits cleared.
    ///
    /// Retains `ipv4Bits` of the 32 bits of an IPv4 address, or `ipv6Bits` of the 128 of an IPv6 address.
    public func prefix(ipv4Bits: Int, ipv6Bits: Int) -> NetworkAddress {
        masked(to: ipv4 == nil ? ipv6Bits : 96 + ipv4Bits)
    }

    /// Returns the address with all but the first `bits` of its 128 bits cleared; clamps `bits` to 0…128.
    func masked(to bits: Int) -> NetworkAddress {
        // Swift's smart shift by 64 or more returns zero, the right mask for no bits.
        let highMask = UInt64.max << UInt64(64 - min(max(bits, 0), 64))
        let lowMask = UInt64.max << UInt64(64 - min(max(bits - 64, 0), 64))
        return NetworkAddress(high: high & highMask, low: low & lowMask)
    }

    /// Whether the address is on the public Internet, so that this server may connect to it for a client.
    ///
    /// False for loopback, link-local, private, shared, multicast and reserved addresses. Also false for the
    /// addresses at which clouds serve metadata, and for IPv6 addresses that contain an IPv4 address (6to4,
    /// Teredo, NAT64). A v4-mapped address counts as its IPv4 address. Source: RFC 6890 and IANA's registries
    /// of special-purpose addresses.
    public var isPublic: Bool {
        if ipv4 != nil { return !Self.specialRanges.contains(self) }
        // The public space is 2000::/3, except for the ranges reserved within it.
        return high >> 61 == 1 && !Self.specialRanges.contains(self)
    }

    private static let specialRanges = AddressRanges(
        [
            "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
            "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
            "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
            // Azure's metadata service, which has an address of the public range.
            "168.63.129.16/32",
            // Teredo, ORCHID and similar ranges; documentation; 6to4.
            "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
        ].compactMap { AddressRange($0) }
    )
}

extension NetworkAddress {
    /// The dotted quad of an IPv4 address, or the RFC 5952 text of an IPv6 address: lower case, no leading
    /// zeros, and `::` for the first longest run of two or more zero groups.
    public var text: String {
        guard let ipv4 else { return Self.text(ofGroups: groups) }
        return [24, 16, 8, 0].map { String(ipv4 >> $0 & 255) }.joined(separator: ".")
    }

    /// Reads a dotted quad or an IPv6 address; nil for any other text.
    ///
    /// IPv4 has four decimal numbers without leading zeros, because some parsers read a number with a leading
    /// zero as octal. IPv6 follows RFC 4291 §2.2 with `::` and an embedded IPv4 address, without zone,
    /// brackets or prefix length.
    public init?(_ text: String) { self.init(utf8: text.utf8.span) }

    /// Reads an address from the bytes of a request, without a string: it is called for every request behind a proxy.
    public init?(utf8 bytes: Span<UInt8>) {
        if let bits = Self.ipv4(bytes) {
            self.init(ipv4: bits)
            return
        }
        guard let groups = Self.groups(of: bytes.indices.map { bytes[$0] }) else { return nil }
        let words = groups.reduce((high: UInt64(0), low: UInt64(0))) { words, group in
            (words.high << 16 | words.low >> 48, words.low << 16 | UInt64(group))
        }
        self.init(high: words.high, low: words.low)
    }

    private var groups: [UInt16] {
        [high, low].flatMap { word in [48, 32, 16, 0].map { UInt16(truncatingIfNeeded: word >> UInt64($0)) } }
    }

    private static func text(ofGroups groups: [UInt16]) -> String {
        var longest = 0..<0
        var start = 0
        while start < groups.count {
            let end = groups[start...].firstIndex { $0 != 0 } ?? groups.count
            if end - start > max(longest.count, 1) { longest = start..<end }
            start = max(end, start + 1)
        }
        func written(_ groups: ArraySlice<UInt16>) -> String {
            groups.map { String($0, radix: 16) }.joined(separator: ":")
        }
        guard !longest.isEmpty else { return written(groups[...]) }
        return written(groups[..<longest.lowerBound]) + "::" + written(groups[longest.upperBound...])
    }

    /// Reads the 32 bits of a dotted quad; nil for any other text.
    private static func ipv4(_ bytes: Span<UInt8>) -> UInt32? {
        var (bits, part, digitCount, dotCount): (UInt32, UInt32, Int, Int) = (0, 0, 0, 0)
        for index in bytes.indices {
            let byte = bytes[index]
            if byte == UInt8(ascii: ".") {
                guard digitCount > 0, dotCount < 3 else { return nil }
                bits = bits << 8 | part
                (part, digitCount, dotCount) = (0, 0, dotCount + 1)
            } else {
                let isLeadingZero = digitCount == 1 && part == 0
                guard byte.isASCIIDigit, !isLeadingZero else { return nil }
                part = part * 10 + UInt32(byte - UInt8(ascii: "0"))
                digitCount += 1
                guard part <= 255 else { return nil }
            }
        }
        return digitCount > 0 && dotCount == 3 ? bits << 8 | part : nil
    }

    /// Reads a number of at most five digits without sign or leading zero; nil above `limit` and for any other text.
    static func decimal(_ digits: ArraySlice<UInt8>, upTo limit: UInt32) -> UInt32? {
        guard (1...5).contains(digits.count), digits.count == 1 || digits.first != UInt8(ascii: "0")
        else { return nil }
        var value: UInt32 = 0
        for digit in digits {
            guard digit.isASCIIDigit else { return nil }
            value = value * 10 + UInt32(digit - UInt8(ascii: "0"))
        }
        return value <= limit ? value : nil
    }

    /// Reads the eight groups of an IPv6 address.
    private static func groups(of bytes: [UInt8]) -> [UInt16]? {
        let colon = UInt8(ascii: ":")
        let gap = bytes.indices.dropLast().first { bytes[$0] == colon && bytes[$0 + 1] == colon }
        guard let gap else {
            guard let groups = run(bytes[...], endsAddress: true), groups.count == 8 else { return nil }
            return groups
        }
        // A second `::` leaves an empty group in `back`, which ``run(_:endsAddress:)`` rejects.
        guard let front = run(bytes[..<gap], endsAddress: false),
            let back = run(bytes[(gap + 2)...], endsAddress: true),
            front.count + back.count < 8
        else { return nil }
        return front + Array(repeating: 0, count: 8 - front.count - back.count) + back
    }

    /// Reads groups between colons; an IPv4 address may replace the last two groups of the whole address.
    private static func run(_ bytes: ArraySlice<UInt8>, endsAddress: Bool) -> [UInt16]? {
        guard !bytes.isEmpty else { return [] }
        let parts = bytes.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        var groups: [UInt16] = []
        for (position, part) in parts.enumerated() {
            if endsAddress, position == parts.count - 1, let bits = ipv4(part.span) {
                groups.append(UInt16(bits >> 16))
                groups.append(UInt16(truncatingIfNeeded: bits))
                continue
            }
            guard (1...4).contains(part.count) else { return nil }
            var group: UInt16 = 0
            for digit in part {
                guard let value = Hexadecimal.value(of: digit) else { return nil }
                group = group << 4 | UInt16(value)
            }
            groups.append(group)
        }
        return groups
    }
}

/// A set of address ranges, searched by bisection.
public struct AddressRanges: Sendable {
    /// The first and the last address of each run of addresses, ascending; touching ranges form one run.
    private var runs: [(first: NetworkAddress, last: NetworkAddress)] = []

    public init(_ ranges: [AddressRange] = []) {
        let ordered = ranges.sorted { $0.base.precedes($1.base) }
        runs.reserveCapacity(ordered.count)
        for range in ordered {
            if let end = runs.last?.last, !end.precedes(range.base) || end.next == range.base {
                if end.precedes(range.last) { runs[runs.count - 1].last = range.last }
            } else {
                runs.append((range.base, range.last))
            }
        }
    }

    /// Reads a file with one range on each line; text after a comma is ignored, so that Apple's list of its
    /// relay's addresses can be used as published.
    ///
    /// Ignores empty lines and lines that start with `#`.
    ///
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - file: its name, for error messages.
    /// - Throws: an error for the first line that does not start with a range, and for a file without ranges.
    public init(reading bytes: [UInt8], file: String) throws(DataFileError) {
        var ranges: [AddressRange] = []
        var number = 0
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            let text = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            guard let first = text.trimmed.first, first != UInt8(ascii: "#") else { continue }
            let column = text.prefix { $0 != UInt8(ascii: ",") }.trimmed
            guard let range = AddressRange(String(decoding: column, as: UTF8.self)) else {
                throw DataFileError(
                    file,
                    number,
                    1,
                    "is no address range",
                    "Write one such as 172.224.224.0/27 or 2a02:26f7::/64, or start the line with # to make it a comment"
                )
            }
            ranges.append(range)
        }
        guard !ranges.isEmpty else {
            throw DataFileError(file, 0, 0, "contains no range", "Write at least one, or omit the file")
        }
        self.init(ranges)
    }

    public var isEmpty: Bool { runs.isEmpty }

    public func contains(_ address: NetworkAddress) -> Bool {
        // Find the first run that does not end before the address.
        var (low, high) = (0, runs.count)
        while low < high {
            let middle = (low + high) / 2
            if runs[middle].last.precedes(address) { low = middle + 1 } else { high = middle }
        }
        return low < runs.count && !address.precedes(runs[low].first)
    }
}

extension AddressRange {
    var last: NetworkAddress { base.filled(from: fixedBits) }
}

extension NetworkAddress {
    fileprivate func precedes(_ other: NetworkAddress) -> Bool { (high, low) < (other.high, other.low) }

    /// The next address; nil after the last.
    fileprivate var next: NetworkAddress? {
        if low < .max { return NetworkAddress(high: high, low: low + 1) }
        return high < .max ? NetworkAddress(high: high + 1, low: 0) : nil
    }

    /// Returns the address with all but the first `bits` of its 128 bits set.
    fileprivate func filled(from bits: Int) -> NetworkAddress {
        let kept = NetworkAddress(high: .max, low: .max).masked(to: bits)
        return NetworkAddress(high: high | ~kept.high, low: low | ~kept.low)
    }
}

/// All addresses that start with the same bits, as in `10.0.0.0/8` or `2001:db8::/32` (CIDR, RFC 4632).
public struct AddressRange: Hashable, Sendable {
    /// The first address.
    public let base: NetworkAddress
    /// The number of fixed bits out of 128; for an IPv4 range, 96 more than the number after `/` in its text.
    let fixedBits: Int

    /// Reads an address, alone or with `/` and the number of fixed bits; nil for any other text.
    ///
    /// Clears the bits after the fixed ones: `192.168.1.7/24`, as tools print it, is read as `192.168.1.0/24`.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, let address = NetworkAddress(String(parts[0])) else { return nil }
        // With colons, the number after `/` is out of 128, even for a v4-mapped address.
        let isDottedQuad = !parts[0].utf8.contains(UInt8(ascii: ":"))
        let width: UInt32 = isDottedQuad ? 32 : 128
        var bits = width
        if parts.count == 2 {
            guard let number = NetworkAddress.decimal(Array(parts[1].utf8)[...], upTo: width)
            else { return nil }
            bits = number
        }
        fixedBits = Int(bits) + (isDottedQuad ? 96 : 0)
        base = address.masked(to: fixedBits)
    }

    public func contains(_ address: NetworkAddress) -> Bool { address.masked(to: fixedBits) == base }
}
