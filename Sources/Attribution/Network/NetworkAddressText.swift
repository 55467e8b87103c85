/// The text forms of an address.
extension NetworkAddress {
    /// Dotted quad for IPv4, RFC 5952 for IPv6: lower case, no leading zeros, the longest run of two or more
    /// zero groups, the first of equals, written `::`.
    public var text: String {
        guard let ipv4 else { return Self.text(ofGroups: groups) }
        return [24, 16, 8, 0].map { String(ipv4 >> $0 & 255) }.joined(separator: ".")
    }

    /// Reads a dotted quad or an IPv6 address; nil for anything else.
    ///
    /// IPv4 has four decimal numbers without leading zeros, which some readers take for octal. IPv6 is
    /// RFC 4291 §2.2 with `::` and an embedded IPv4 address, without zone, brackets or prefix length.
    public init?(_ text: String) {
        self.init(utf8: text.utf8.span)
    }

    /// As ``init(_:)``, from the bytes of a request: behind a proxy every one brings an address.
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
        [high, low].flatMap { word in
            [48, 32, 16, 0].map { UInt16(truncatingIfNeeded: word >> UInt64($0)) }
        }
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

    /// The 32 bits of a dotted quad.
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
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte), !isLeadingZero else {
                    return nil
                }
                part = part * 10 + UInt32(byte - UInt8(ascii: "0"))
                digitCount += 1
                guard part <= 255 else { return nil }
            }
        }
        return digitCount > 0 && dotCount == 3 ? bits << 8 | part : nil
    }

    /// A number without sign or leading zero.
    static func decimal(_ digits: ArraySlice<UInt8>, upTo limit: UInt32) -> UInt32? {
        guard (1...5).contains(digits.count), digits.count == 1 || digits.first != UInt8(ascii: "0") else {
            return nil
        }
        var value: UInt32 = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            value = value * 10 + UInt32(digit - UInt8(ascii: "0"))
        }
        return value <= limit ? value : nil
    }

    /// The eight groups of an IPv6 address.
    private static func groups(of bytes: [UInt8]) -> [UInt16]? {
        let colon = UInt8(ascii: ":")
        let gap = bytes.indices.dropLast().first { bytes[$0] == colon && bytes[$0 + 1] == colon }
        guard let gap else {
            guard let groups = run(bytes[...], endsAddress: true), groups.count == 8 else { return nil }
            return groups
        }
        // A second `::` leaves an empty group in `back`, which is refused there.
        guard let front = run(bytes[..<gap], endsAddress: false),
            let back = run(bytes[(gap + 2)...], endsAddress: true),
            front.count + back.count < 8
        else { return nil }
        return front + Array(repeating: 0, count: 8 - front.count - back.count) + back
    }

    /// Groups between colons; an IPv4 address may stand for the last two of the whole address.
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
