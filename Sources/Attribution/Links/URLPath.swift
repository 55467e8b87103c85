/// Reading the path of a link as a server might.
enum URLPath {
    /// Whether a segment of the path means "here" or "above", escaped once or twice or not at all.
    ///
    /// Backslashes and escaped slashes count as slashes, as they do for some servers.
    static func climbs(_ path: ArraySlice<UInt8>) -> Bool {
        let decoded = PercentEncoding.decoded(PercentEncoding.decoded(path))
        return decoded.split(whereSeparator: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") })
            .contains { $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) }
    }
}
