/// A set of address ranges, searched by bisection.
public struct AddressRanges: Sendable {
    /// The first and the last address of each run of addresses, ascending; runs do not touch.
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

    /// Reads a file with one range a line, alone or in the first of several columns separated by commas, as
    /// Apple publishes the addresses of its relay.
    ///
    /// Ignores empty lines and lines that start with `#`.
    ///
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - file: its name, for error messages.
    /// - Throws: an error for the first line that starts with no range, and for a file without any.
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
                    "Write one such as 172.224.224.0/27 or 2a02:26f7::/64, or begin the line with # to make it a comment"
                )
            }
            ranges.append(range)
        }
        guard !ranges.isEmpty else {
            throw DataFileError(file, 0, 0, "holds no range", "Write at least one, or do not give the file")
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
    /// The last address of the range.
    var last: NetworkAddress { base.filled(from: fixedBits) }
}

extension NetworkAddress {
    fileprivate func precedes(_ other: NetworkAddress) -> Bool { (high, low) < (other.high, other.low) }

    /// The next address; nil after the last.
    fileprivate var next: NetworkAddress? {
        if low < .max { return NetworkAddress(high: high, low: low + 1) }
        return high < .max ? NetworkAddress(high: high + 1, low: 0) : nil
    }

    /// Returns the address with all bits set except for the first `bits` of all 128.
    fileprivate func filled(from bits: Int) -> NetworkAddress {
        let kept = NetworkAddress(high: .max, low: .max).masked(to: bits)
        return NetworkAddress(high: high | ~kept.high, low: low | ~kept.low)
    }
}

/// All addresses that start with the same bits, as in `10.0.0.0/8` or `2001:db8::/32` (CIDR, RFC 4632).
public struct AddressRange: Hashable, Sendable {
    /// The first address.
    public let base: NetworkAddress
    /// The number of the 128 bits that are fixed; an IPv4 range fixes 96 and its own.
    let fixedBits: Int

    /// Reads an address, alone or with `/` and the number of fixed bits; nil for any other text.
    ///
    /// Clears the bits after the fixed ones: `192.168.1.7/24`, as network tools print it, is read as
    /// `192.168.1.0/24`.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, let address = NetworkAddress(String(parts[0])) else { return nil }
        // The bits of an address with colons count as those of IPv6, even for a v4-mapped address.
        let isDottedQuad = !parts[0].utf8.contains(UInt8(ascii: ":"))
        let width: UInt32 = isDottedQuad ? 32 : 128
        var bits = width
        if parts.count == 2 {
            guard let number = NetworkAddress.decimal(Array(parts[1].utf8)[...], upTo: width) else {
                return nil
            }
            bits = number
        }
        fixedBits = Int(bits) + (isDottedQuad ? 96 : 0)
        base = address.masked(to: fixedBits)
    }

    public func contains(_ address: NetworkAddress) -> Bool { address.masked(to: fixedBits) == base }
}
