/// The header `Forwarded: for=192.0.2.60;proto=https, for="[2001:db8::1]:4711"` (RFC 7239).
enum ForwardedField {
    /// The `for` of every element, nearest hop first; nil where an element has none, or one that is no
    /// address, or breaks the grammar.
    ///
    /// Elements are cut off from the right, so that an open quotation mark, which a caller put in front,
    /// cannot swallow what a proxy appended.
    static func hops(in values: [String]) -> [NetworkAddress?] {
        values.reversed().flatMap { elements(of: Array($0.utf8)) }.map { element in
            guard let node = node(of: element) else { return nil }
            return ForwardedNode.address(of: node[...])
        }
    }

    /// The elements of one field line, the last one first.
    private static func elements(of line: [UInt8]) -> [ArraySlice<UInt8>] {
        var elements: [ArraySlice<UInt8>] = []
        var end = line.endIndex
        var isQuoted = false
        for index in line.indices.reversed() {
            if line[index] == UInt8(ascii: "\""), !isEscaped(index, in: line, isQuoted: isQuoted) {
                isQuoted.toggle()
            } else if line[index] == UInt8(ascii: ","), !isQuoted {
                elements.append(line[(index + 1)..<end].trimmed)
                end = index
            }
        }
        elements.append(line[..<end].trimmed)
        // RFC 9110 §5.6.1 lets a list have empty elements; they are no hops.
        return elements.filter { !$0.isEmpty }
    }

    /// Whether the quotation mark belongs to the text inside a quoted string.
    private static func isEscaped(_ index: Int, in line: [UInt8], isQuoted: Bool) -> Bool {
        let backslashes = line[..<index].reversed().prefix { $0 == UInt8(ascii: "\\") }.count
        return isQuoted && backslashes % 2 == 1
    }

    /// The value of `for`, with its quotation marks and escapes removed.
    private static func node(of element: ArraySlice<UInt8>) -> [UInt8]? {
        var rest = element
        var names: Set<String> = []
        var node: [UInt8]?
        while true {
            rest = rest.trimmed
            let name = rest.prefix(while: isTokenByte)
            rest = rest.dropFirst(name.count)
            guard !name.isEmpty, rest.popFirst() == UInt8(ascii: "=") else { return nil }
            guard let value = value(at: &rest) else { return nil }
            let spelling = String(decoding: name.map(\.asciiLowercased), as: UTF8.self)
            // RFC 7239 §4: each parameter at most once.
            guard names.insert(spelling).inserted else { return nil }
            if spelling == "for" { node = value }
            rest = rest.trimmed
            guard let separator = rest.popFirst() else { return node }
            guard separator == UInt8(ascii: ";") else { return nil }
        }
    }

    /// A token or a quoted string (RFC 9110 §5.6).
    private static func value(at rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        guard rest.first == UInt8(ascii: "\"") else {
            // Many proxies leave out the quotation marks that the colons of IPv6 and ports need.
            let token = rest.prefix { isTokenByte($0) || ":[]".utf8.contains($0) }
            rest = rest.dropFirst(token.count)
            return token.isEmpty ? nil : Array(token)
        }
        rest = rest.dropFirst()
        var value: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return value
            case UInt8(ascii: "\\"):
                guard let escaped = rest.popFirst() else { return nil }
                value.append(escaped)
            default: value.append(byte)
            }
        }
        return nil
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
}
