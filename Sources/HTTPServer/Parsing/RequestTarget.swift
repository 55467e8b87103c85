/// A request target taken apart (RFC 9112 §3.2): where its parts stand in the head's bytes.
struct RequestTarget: Equatable {
    /// The path; empty where the target has none, as in `http://host?query`.
    var path: Range<Int>
    var query: Range<Int>?

    /// The authority of an absolute-form target; it stands for the Host field then.
    var authority: Range<Int>?

    /// Whether it is `*`, or an absolute form that means the same (RFC 9112 §3.2.4).
    var isAsterisk = false

    /// Reads the target of a method (RFC 9112 §3.2).
    ///
    /// - Precondition: the range is not empty and holds nothing but `ByteClass.isTarget` bytes.
    static func read(
        _ bytes: Span<UInt8>,
        _ range: Range<Int>,
        method: MethodName
    ) throws(Refusal) -> RequestTarget {
        switch bytes[range.lowerBound] {
        case UInt8(ascii: "/"):
            return pathAndQuery(bytes, range)
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

    /// The index behind `http://` or `https://`, in letters of either case.
    private static func endOfScheme(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Int? {
        for scheme in ["http://", "https://"] as [StaticString] where range.count > scheme.utf8CodeUnitCount {
            let end = range.lowerBound + scheme.utf8CodeUnitCount
            if ByteClass.equals(bytes, range.lowerBound..<end, lowercase: scheme) { return end }
        }
        return nil
    }
}

/// A method's name as far as the server tells them apart.
enum MethodName: Equatable {
    case known(Method)
    case connect
    case other

    var allowsAsterisk: Bool {
        // The preface of HTTP/2 has one, too; it is refused for its version or its method.
        self == .known(.options) || self == .other
    }

    /// Reads a token of at most eight bytes by comparing them as one number.
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
