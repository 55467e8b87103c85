internal import Attribution

/// The search field of every page.
enum DashboardSearch {
    /// Returns the address of the page for the text that a person typed.
    ///
    /// A fingerprint leads to its launches, the id, address or slug of a link to the link, and an id of any other kind
    /// to its explanation.
    static func address(of text: String, _ exchange: Exchange) async throws(APIError) -> DashboardAddress {
        let text = text.filter { !$0.isWhitespace }
        if Fingerprint(hex: text) != nil {
            return DashboardAddress("/launches").with("fingerprint", text).with("period", "all")
        }
        if let link = try await link(text, exchange) { return DashboardAddress("/links/\(link.text)") }
        guard CheckReference(text, keys: []) != nil, !text.contains("/"), text.utf8.allSatisfy(isPlain) else {
            throw .invalidField("find", DashboardText.notAnID)
        }
        return DashboardAddress("/launches/\(text)")
    }

    /// Returns the link with an id, a slug, or an address such as `https://go.shop.example/summer25?source=x`.
    private static func link(_ text: String, _ exchange: Exchange) async throws(APIError) -> LinkID? {
        if let id = LinkID(text) { return id }
        var (slug, apps) = (text[...], exchange.directory.apps)
        if let scheme = text.firstRange(of: "://") {
            let rest = text[scheme.upperBound...]
            let host = rest.prefix { $0 != "/" }
            apps = exchange.directory.apps(onHost: LinkHost(String(host)))
            slug = rest.dropFirst(host.count + 1).prefix { $0 != "?" && $0 != "#" }
        }
        let (path, owners) = (QueryItem.text(ofPathPart: String(slug)), apps)
        let found = try await exchange.store(await FoundLink.stored(path, of: owners, exchange))
        return (try? found?.link.get())?.id
    }

    /// Returns whether a path may contain a byte without an encoding (RFC 3986 §2.3).
    private static func isPlain(_ byte: UInt8) -> Bool {
        byte.isASCIIWordByte || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "~")
    }
}
