/// The parts of a request target (RFC 9112 §3.2) as ranges of the head's bytes.
struct RequestTarget: Equatable {
    /// The path, which is empty if the target has none, as in `http://host?query`.
    var path: Range<Int>
    var query: Range<Int>?

    /// The authority of an absolute-form target or of CONNECT, which replaces the Host field; `nil` for other targets.
    var authority: Range<Int>?

    /// Whether the target is `*`, or an absolute form with the same meaning (RFC 9112 §3.2.4).
    var isAsterisk = false

    /// Parses the target of a method (RFC 9112 §3.2).
    ///
    /// - Precondition: the range is not empty and contains only `ByteClass.isTarget` bytes.
    static func read(_ bytes: Span<UInt8>, _ range: Range<Int>, method: MethodName) throws(Refusal) -> Self {
        switch bytes[range.lowerBound] {
        case UInt8(ascii: "/"): return pathAndQuery(bytes, range)
        case UInt8(ascii: "*") where range.count == 1:
            guard method.allowsAsterisk else { throw .targetForm }
            return RequestTarget(path: range, isAsterisk: true)
        default:
            guard method == .connect else { return try absolute(bytes, range, method: method) }
            guard Authority.isValid(bytes, range) else { throw .targetForm }
            return RequestTarget(path: range, authority: range)
        }
    }

    private static func pathAndQuery(_ bytes: Span<UInt8>, _ range: Range<Int>) -> RequestTarget {
        var index = range.lowerBound
        while index < range.upperBound, bytes[index] != UInt8(ascii: "?") { index += 1 }
        return RequestTarget(
            path: range.lowerBound..<index,
            query: index < range.upperBound ? index + 1..<range.upperBound : nil
        )
    }

    private static func absolute(
        _ bytes: Span<UInt8>,
        _ range: Range<Int>,
        method: MethodName
    ) throws(Refusal) -> RequestTarget {
        guard let start = endOfScheme(bytes, range) else { throw .targetForm }
        var end = start
        while end < range.upperBound, bytes[end] != UInt8(ascii: "/"), bytes[end] != UInt8(ascii: "?") {
            end += 1
        }
        guard Authority.isValid(bytes, start..<end) else { throw .hostSyntax }
        var target = pathAndQuery(bytes, end..<range.upperBound)
        target.authority = start..<end
        target.isAsterisk = end == range.upperBound && method == .known(.options)
        return target
    }

    /// Returns the index after `http://` or `https://`, in letters of either case; `nil` for any other start.
    private static func endOfScheme(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Int? {
        for scheme in ["http://", "https://"] as [StaticString] where range.count > scheme.utf8CodeUnitCount {
            let end = range.lowerBound + scheme.utf8CodeUnitCount
            if ByteClass.equals(bytes, range.lowerBound..<end, lowercase: scheme) { return end }
        }
        return nil
    }
}

/// The name of a method; the server distinguishes only some names.
enum MethodName: Equatable {
    case known(Method)
    case connect
    case other

    var allowsAsterisk: Bool {
        // An unknown method with an asterisk gets 501 for its method, not 400 for its target. The preface of HTTP/2,
        // `PRI * HTTP/2.0`, is refused before that, for its version.
        self == .known(.options) || self == .other
    }

    /// Parses a token; it compares at most eight bytes as one number.
    init(_ bytes: Span<UInt8>, _ range: Range<Int>) {
        guard range.count <= 8 else {
            self = .other
            return
        }
        var word: UInt64 = 0
        for index in range { word = word << 8 | UInt64(bytes[index]) }
        self =
            switch word {
            case 0x47_45_54: .known(.get)
            case 0x48_45_41_44: .known(.head)
            case 0x50_4F_53_54: .known(.post)
            case 0x50_55_54: .known(.put)
            case 0x44_45_4C_45_54_45: .known(.delete)
            case 0x50_41_54_43_48: .known(.patch)
            case 0x4F_50_54_49_4F_4E_53: .known(.options)
            case 0x54_52_41_43_45: .known(.trace)
            case 0x51_55_45_52_59: .known(.query)
            case 0x43_4F_4E_4E_45_43_54: .connect
            default: .other
            }
    }
}

/// The grammar of `uri-host [ ":" port ]` (RFC 9110 §7.2, RFC 3986 §3.2.2) in Host fields and absolute-form targets.
///
/// It is stricter than the RFCs. It allows no comma, because a name with a comma could be read as a list of hosts. It
/// allows no port above 65535, no `IPvFuture` address and, in an absolute-form target, no userinfo.
enum Authority {
    static func isValid(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
        guard !range.isEmpty else { return false }
        let isLiteral = bytes[range.lowerBound] == UInt8(ascii: "[")
        guard let end = isLiteral ? endOfLiteral(bytes, range) : endOfName(bytes, range) else { return false }
        return end == range.upperBound || isPort(bytes, end..<range.upperBound)
    }

    /// Returns the index after a `reg-name` or an IPv4 address; nil if it is empty or has a malformed percent-encoding.
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

    /// Returns whether the bytes are `":" *DIGIT` with a number of at most 65535.
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

    /// Returns the index after the `]` of an IPv6 address; nil if it is malformed.
    private static func endOfLiteral(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Int? {
        var end = range.lowerBound + 1
        while end < range.upperBound, bytes[end] != UInt8(ascii: "]") { end += 1 }
        guard end < range.upperBound, isIPv6(bytes, range.lowerBound + 1..<end) else { return nil }
        return end + 1
    }

    /// Returns whether the bytes are eight groups of 1 to 4 hexadecimal digits.
    ///
    /// One `::` may replace one or more groups, and an IPv4 address may replace the last two.
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
