/// The host, the framing of the body and the options of the connection, as the field lines state them (RFC 9112 §3.2,
/// §6, §9).
struct Framing: Equatable {
    enum Body: Equatable {
        case none
        case length(Int)
        case chunked
    }

    private enum Coding {
        case chunked
        case other
    }

    /// The range of the Host field's value.
    private(set) var host: Range<UInt32>?
    private var hasContentType = false
    private var contentLength: Int?
    private var lastCoding: Coding?
    private var hasUnknownCoding = false
    private(set) var closes = false
    private(set) var keepsAlive = false
    private(set) var expectsContinue = false

    /// Adds a field line; it compares the length of the name first, which excludes most names.
    ///
    /// - Returns: whether handlers get the line. They do not get `Content_Length` and `Transfer_Encoding`, because
    ///   programs that turn names into variables confuse them with `Content-Length` and `Transfer-Encoding`.
    mutating func add(_ line: RequestHead.Line, in bytes: Span<UInt8>) throws(Refusal) -> Bool {
        let name = Int(line.name.lowerBound)..<Int(line.name.upperBound)
        let value = Int(line.value.lowerBound)..<Int(line.value.upperBound)
        switch name.count {
        case 4 where ByteClass.equals(bytes, name, lowercase: "host"):
            guard host == nil else { throw .hostRepeated }
            guard Authority.isValid(bytes, value) else { throw .hostSyntax }
            host = line.value
        case 6 where ByteClass.equals(bytes, name, lowercase: "expect"):
            guard ByteClass.equals(bytes, value, lowercase: "100-continue") else { throw .expectationUnknown }
            expectsContinue = true
        case 10 where ByteClass.equals(bytes, name, lowercase: "connection"): addConnection(bytes, value)
        case 12 where ByteClass.equals(bytes, name, lowercase: "content-type"):
            guard !hasContentType else { throw .contentTypeRepeated }
            hasContentType = true
        case 14 where ByteClass.equals(bytes, name, lowercase: "content-length"):
            try addContentLength(bytes, value)
        case 17 where ByteClass.equals(bytes, name, lowercase: "transfer-encoding"):
            try addTransferEncoding(bytes, value)
        case 14 where ByteClass.equals(bytes, name, lowercase: "content_length"),
            17 where ByteClass.equals(bytes, name, lowercase: "transfer_encoding"):
            return false
        default: break
        }
        return true
    }

    /// Validates all field lines together, after the last one.
    ///
    /// - Returns: the framing of the body.
    func conclude(_ version: Version) throws(Refusal) -> Body {
        guard host != nil || version == .http10 else { throw .hostMissing }
        if lastCoding != nil {
            // RFC 9112 §6.1: HTTP/1.0 has no transfer codings, so a message of HTTP/1.0 with one has a faulty framing.
            guard version == .http11 else { throw .transferEncodingInHTTP10 }
            guard !hasUnknownCoding else { throw .transferEncodingUnknown }
            return .chunked
        }
        guard let contentLength, contentLength > 0 else { return .none }
        return .length(contentLength)
    }

    private mutating func addConnection(_ bytes: Span<UInt8>, _ value: Range<Int>) {
        var rest = value
        while let element = FieldList.next(bytes, &rest) {
            if ByteClass.equals(bytes, element, lowercase: "close") { closes = true }
            if ByteClass.equals(bytes, element, lowercase: "keep-alive") { keepsAlive = true }
        }
    }

    private mutating func addContentLength(_ bytes: Span<UInt8>, _ value: Range<Int>) throws(Refusal) {
        guard contentLength == nil else { throw .contentLengthRepeated }
        guard lastCoding == nil else { throw .contentLengthWithTransferEncoding }
        guard (1...19).contains(value.count) else { throw .contentLengthSyntax }
        var length = 0
        for index in value {
            guard ByteClass.isDigit(bytes[index]) else { throw .contentLengthSyntax }
            let (product, overflow) = length.multipliedReportingOverflow(by: 10)
            let (sum, carried) = product.addingReportingOverflow(Int(bytes[index] - 0x30))
            guard !overflow, !carried else { throw .contentLengthSyntax }
            length = sum
        }
        contentLength = length
    }

    /// Adds the codings of a line; the codings of all lines form one list, in the order received (RFC 9110 §5.3).
    private mutating func addTransferEncoding(_ bytes: Span<UInt8>, _ value: Range<Int>) throws(Refusal) {
        guard contentLength == nil else { throw .contentLengthWithTransferEncoding }
        guard !value.isEmpty else { throw .transferEncodingSyntax }
        var rest = value
        while let element = FieldList.next(bytes, &rest) {
            // RFC 9110 §5.6.1 allows empty elements, but attackers use them for request smuggling.
            guard !element.isEmpty else { throw .transferEncodingSyntax }
            for index in element where !ByteClass.isToken(bytes[index]) { throw .transferEncodingSyntax }
            guard lastCoding != .chunked else { throw .transferEncodingOrder }
            if ByteClass.equals(bytes, element, lowercase: "chunked") {
                lastCoding = .chunked
            } else {
                lastCoding = .other
                hasUnknownCoding = true
            }
        }
    }
}

/// The elements of a comma-separated list (RFC 9110 §5.6.1).
enum FieldList {
    /// Removes the next element from the front of `rest`, and returns it without the blanks around it.
    ///
    /// - Returns: an element, which may be empty; `nil` after the last one. After a comma at the end, there is one empty
    ///   element.
    static func next(_ bytes: Span<UInt8>, _ rest: inout Range<Int>) -> Range<Int>? {
        guard rest.lowerBound <= rest.upperBound, rest != Self.nothing else { return nil }
        var comma = rest.lowerBound
        while comma < rest.upperBound, bytes[comma] != UInt8(ascii: ",") { comma += 1 }
        var start = rest.lowerBound
        var end = comma
        while start < end, ByteClass.isBlank(bytes[start]) { start += 1 }
        while end > start, ByteClass.isBlank(bytes[end - 1]) { end -= 1 }
        rest = comma < rest.upperBound ? comma + 1..<rest.upperBound : Self.nothing
        return start..<end
    }

    /// The value of `rest` after the last element; no range within a message equals it.
    private static let nothing = Int.max..<Int.max
}
