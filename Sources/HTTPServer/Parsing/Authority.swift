/// The grammar of `uri-host [ ":" port ]` (RFC 9110 §7.2, RFC 3986 §3.2.2), as Host fields and
/// absolute-form targets have it.
///
/// Narrower than the RFCs in two points: a comma, which their `reg-name` allows, reads like a list of
/// hosts, and userinfo is not for requests.
enum Authority {
    static func isValid(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
        guard !range.isEmpty else { return false }
        let end: Int?
        if bytes[range.lowerBound] == UInt8(ascii: "[") {
            end = endOfLiteral(bytes, range)
        } else {
            end = endOfName(bytes, range)
        }
        guard let end else { return false }
        return end == range.upperBound || isPort(bytes, end..<range.upperBound)
    }

    /// The index behind a `reg-name` or IPv4 address that is not empty.
    private static func endOfName(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Int? {
        var index = range.lowerBound
        while index < range.upperBound {
            let byte = bytes[index]
            if byte == UInt8(ascii: "%") {
                guard index + 2 < range.upperBound, ByteClass.hexValue(bytes[index + 1]) != nil,
                    ByteClass.hexValue(bytes[index + 2]) != nil
                else { return nil }
                index += 3
            } else if ByteClass.isHostName(byte), byte != UInt8(ascii: ",") {
                index += 1
            } else {
                break
            }
        }
        return index > range.lowerBound ? index : nil
    }

    /// `":" *DIGIT`, and no more than 65535.
    private static func isPort(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
        guard bytes[range.lowerBound] == ByteClass.colon else { return false }
        var port = 0
        for index in range.dropFirst() {
            guard ByteClass.isDigit(bytes[index]) else { return false }
            port = port * 10 + Int(bytes[index] - 0x30)
            guard port <= 65_535 else { return false }
        }
        return true
    }

    /// The index behind the `]` of an IPv6 address.
    private static func endOfLiteral(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Int? {
        var end = range.lowerBound + 1
        while end < range.upperBound, bytes[end] != UInt8(ascii: "]") { end += 1 }
        guard end < range.upperBound, isIPv6(bytes, range.lowerBound + 1..<end) else { return nil }
        return end + 1
    }

    /// Eight groups of 1 to 4 digits; once `::` for one group or more; the last two may be an IPv4 address.
    private static func isIPv6(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
        var groups = 0
        var isShortened = false
        var index = range.lowerBound
        while index < range.upperBound {
            if bytes[index] == ByteClass.colon {
                let isDouble = index + 1 < range.upperBound && bytes[index + 1] == ByteClass.colon
                if isDouble {
                    guard !isShortened else { return false }
                    isShortened = true
                    index += 2
                    if index < range.upperBound, bytes[index] == ByteClass.colon { return false }
                    continue
                }
                guard groups > 0, index + 1 < range.upperBound else { return false }
                index += 1
            }
            let start = index
            while index < range.upperBound, ByteClass.hexValue(bytes[index]) != nil { index += 1 }
            if index < range.upperBound, bytes[index] == UInt8(ascii: ".") {
                guard isIPv4(bytes, start..<range.upperBound) else { return false }
                groups += 2
                break
            }
            guard (1...4).contains(index - start) else { return false }
            groups += 1
            if index < range.upperBound, bytes[index] != ByteClass.colon { return false }
        }
        return isShortened ? groups < 8 : groups == 8
    }

    private static func isIPv4(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
        var parts = 0
        var index = range.lowerBound
        while index < range.upperBound {
            var value = 0
            let start = index
            while index < range.upperBound, ByteClass.isDigit(bytes[index]), index - start < 3 {
                value = value * 10 + Int(bytes[index] - 0x30)
                index += 1
            }
            guard index > start, value < 256 else { return false }
            parts += 1
            if index == range.upperBound { break }
            guard bytes[index] == UInt8(ascii: "."), index + 1 < range.upperBound else { return false }
            index += 1
        }
        return parts == 4
    }
}
